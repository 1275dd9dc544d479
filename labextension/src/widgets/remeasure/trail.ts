/** The intervals of an answer so far, and the next one. */
import { marks } from '../../maths/scale';
import { picture, set, svg, type Picture } from '../parts/dom';
import { text } from '../parts/layout';
import type { Axis } from '../parts/on_axis';
import type { RemeasureFacts } from './model';

const [ROW, TOP, LEFT, RIGHT] = [26, 20, 96, 10];
/** So much room a number on the axis takes. */
const APART = 80;

export interface TrailPicture {
  readonly plot: Picture;
  /** The value at a place. */
  readonly back: (at: number) => number;
  /** Where the lower end of the next interval moves, from one value to another. */
  readonly axis: (from: number, to: number) => Axis;
  readonly show: (from: number, to: number, words: string) => void;
}

/** The picture, in pixels: the intervals so far, oldest on top and faintest, and below them the next one, dashed. */
export function trailPicture(facts: RemeasureFacts, W: number): TrailPicture {
  const rows = facts.trail.length + 1;
  const low = Math.min(...facts.trail.map(one => one.low));
  const high = Math.max(...facts.trail.map(one => one.high));
  const pad = (high - low) * 0.04 || 0.5;
  const reach = W - LEFT - RIGHT;
  const x = (value: number): number => LEFT + ((value - low + pad) / (high - low + 2 * pad)) * reach;
  const back = (at: number): number => low - pad + ((at - LEFT) / reach) * (high - low + 2 * pad);
  const label = (row: number, text: string): SVGTextElement =>
    svg('text', { x: 0, y: TOP + row * ROW + 17 }, text);
  const drawn = facts.trail.flatMap((one, i) => [
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP + i * ROW + 13}H${W - RIGHT}` }),
    svg('rect', {
      x: x(one.low),
      width: Math.max(x(one.high) - x(one.low), 2),
      y: TOP + i * ROW + 8,
      height: 10,
      class: 'pv',
      opacity: i === rows - 2 ? 1 : 0.3 + (0.4 * (i + 1)) / rows
    }),
    label(i, one.paid)
  ]);
  const [y, H] = [TOP + (rows - 1) * ROW + 13, TOP + rows * ROW];
  const scale = marks([low - pad, high + pad], Math.max(Math.floor(reach / APART), 2)).flatMap(
    ([at, words]) => [svg('path', { class: 'axis', d: `M${x(at)} ${TOP - 4}V${H}` }), text(x(at), 12, words)]
  );
  const next = svg('rect', { y: y - 7, height: 14, class: 'next' });
  const plus = label(rows - 1, '');
  const value = svg('path', { class: 'ink-line', d: `M${x(facts.value)} ${TOP - 4}V${H}` });
  const axis = svg('path', { class: 'axis', d: `M${LEFT} ${y}H${W - RIGHT}` });
  const plot = picture(
    'intervals so far, and the next one',
    W,
    H,
    ...scale,
    ...drawn,
    axis,
    plus,
    next,
    value
  );
  plot.node.classList.add('trail');
  return {
    plot,
    back,
    axis: (from, to) => ({ wide: W, from: x(from), to: x(to), below: H - y, said: W - RIGHT }),
    show: (from: number, to: number, words: string) => {
      set(next, { x: x(from), width: Math.max(x(to) - x(from), 3) });
      plus.textContent = words;
    }
  };
}
