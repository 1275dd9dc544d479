/** The released count in two worlds, with one person and without, and a line to drag to an answer. */
import { picture, set, svg } from '../parts/dom';
import { handle, text } from '../parts/layout';
import { draggable } from '../parts/pointer';
import { answerAt, answers, answerWords, ratioWords, REACH, type OddsFacts } from './model';

const [W, H, BASE] = [640, 160, 128];

const place = (value: number): number => W / 2 + (value / REACH) * (W / 2);

const countWords = (k: number): string => (k === 0 ? 'the count' : k > 0 ? `+${k}` : `−${-k}`);

function draw(line: SVGElement, points: SVGElement, found: readonly (readonly [number, number])[]): void {
  const at = found.map(([k, likely]) => `${place(k).toFixed(1)} ${(BASE - likely * (BASE - 14)).toFixed(1)}`);
  set(line, { d: `M${at.join('L')}` });
  set(points, { d: at.map(point => `M${point}h0`).join('') }); // answers are whole numbers
}

export interface Worlds {
  readonly node: SVGSVGElement;
  readonly ratio: (facts: OddsFacts, epsilon: number) => string;
  readonly show: (facts: OddsFacts, epsilon: number) => void;
}

/** Both worlds; `moved` hears that another answer is shown, `end` that the drag has ended. */
export function worldsPicture(moved: () => void, end: () => void): Worlds {
  let output = 2;
  const pick = (to: number): void => {
    output = answerAt(to);
    moved();
  };
  const axis = svg('path', { class: 'axis', d: `M0 ${BASE}H${W}` });
  const labels = svg('g', {}, ...[-10, -5, 0, 5, 10].map(k => text(place(k), H - 12, countWords(k))));
  const without = svg('path', { class: 'soft-line', 'stroke-dasharray': '5 3' });
  const withYou = svg('path', { class: 'pv-line' });
  const marks = { 'stroke-width': 5, fill: 'none' };
  const withoutMarks = svg('path', { ...marks, 'stroke-linecap': 'round', stroke: 'var(--soft)' });
  const withMarks = svg('path', { ...marks, 'stroke-linecap': 'square', stroke: 'var(--dp-accent)' });
  const marker = svg('path', { class: 'ink-line' });
  const thumb = handle('a released answer', (across, up) => pick(output + Math.sign(across + up)), 8);
  const layers = [axis, labels, without, withYou, withoutMarks, withMarks, marker, thumb];
  const plot = picture('the released count in two worlds', W, H, ...layers);
  draggable(plot.node, { move: at => pick(((at - W / 2) / (W / 2)) * REACH), end });
  const ratio = (facts: OddsFacts, epsilon: number): string => ratioWords(facts, epsilon, output);
  return {
    node: plot.node,
    ratio,
    show: (facts, epsilon) => {
      draw(without, withoutMarks, answers(facts, epsilon, 0));
      draw(withYou, withMarks, answers(facts, epsilon, 1));
      const at = place(output);
      set(marker, { d: `M${at} 4V${BASE}` });
      set(thumb, {
        cx: at,
        cy: BASE,
        'aria-valuemin': -REACH,
        'aria-valuemax': REACH,
        'aria-valuenow': output,
        'aria-valuetext': answerWords(output)
      });
      plot.describe(ratio(facts, epsilon));
    }
  };
}
