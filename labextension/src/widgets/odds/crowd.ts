/** An icon array: of people like this one, how many before, at most how many after, and the rest. */
import { number } from '../../maths/digits';
import { html, picture, set, svg, type Part } from '../parts/dom';
import { key } from '../parts/layout';
import { dots, type Belief } from './model';

const [W, COLUMNS] = [640, 50];
const GAP = W / COLUMNS;

/** People like this one as dots: before, at most after, and the rest. */
export function crowdPart(people: number): Part<[belief: Belief, people: number]> {
  const stroke = { 'stroke-width': GAP * 0.66, fill: 'none' };
  const rest = svg('path', { ...stroke, 'stroke-linecap': 'round', stroke: 'var(--dp-fill)' });
  const before = svg('path', { ...stroke, 'stroke-linecap': 'round', stroke: 'var(--ink)' });
  const more = svg('path', { ...stroke, 'stroke-linecap': 'square', stroke: 'var(--dp-accent)' });
  const height = Math.ceil(people / COLUMNS) * GAP;
  const icons = picture(`${number(people)} people like this one`, W, height, rest, before, more);
  const words = key(
    ['k', 'before'],
    ['p', 'at most added by the release'],
    ['', 'beyond what any answer can support']
  );
  return {
    node: html('div', {}, icons.node, words),
    show: (belief, all) => {
      set(before, { d: dots(0, belief.before, COLUMNS, GAP) });
      set(more, { d: dots(belief.before, belief.after, COLUMNS, GAP) });
      set(rest, { d: dots(belief.after, all, COLUMNS, GAP) });
      icons.describe(belief.sentence);
    }
  };
}
