/** The population as it is drawn: so many rows lie so far to the right; two arms back to back, one up and one down. */
import { number } from '../../maths/digits';
import { html, picture, set, svg } from '../parts/dom';
import { ends } from '../parts/layout';
import type { CoverageFacts } from './facts';
import { barsOf } from './setup';

export function population(): { node: HTMLElement; show: (facts: CoverageFacts) => void } {
  const bars = svg('path', { class: 'used', opacity: 0.6 });
  const below = svg('path', { class: 'used', opacity: 0.3 });
  const floor = svg('path', { class: 'soft-line', d: 'M0 40H200' });
  const plot = picture('the population', 200, 40, bars, below, floor);
  const caption = html('figcaption', { class: 'soft' });
  const edges = ends('', '');
  return {
    node: html('figure', { class: 'stack people' }, caption, plot.node, edges),
    show: ({ shape: found, question }) => {
      plot.node.parentElement!.hidden = found === null;
      if (found !== null) {
        const [one, two] = found.parts;
        const top = Math.max(...found.parts.flatMap(part => part.shares), 1e-9);
        set(bars, { d: barsOf(one?.shares ?? [], 40, 36, top) });
        set(below, { d: two === undefined ? '' : barsOf(two.shares, 40, -36, top) });
        set(plot.node, { viewBox: `0 0 200 ${two === undefined ? 40 : 80}` });
        const arms = two === undefined ? '' : `: ${one!.name} above, ${two.name} below`;
        const [low, high] = [number(found.low), number(found.high)];
        caption.textContent = `the population${arms}`;
        edges.children[0]!.textContent = low;
        edges.children[1]!.textContent = high;
        plot.describe(`${question}, from ${low} to ${high}${arms}`);
      }
    }
  };
}
