/** The share that an attack recovers against ε, between guessing and the most that ε allows as the loss moves. */
import { number, significant } from '../../maths/digits';
import { place, ticks, valueAt, type Range } from '../../maths/scale';
import { picture, set, svg, type Part } from '../parts/dom';
import { under } from '../parts/layout';
import { draggable } from '../parts/pointer';
import { percent, placesOf, rangeOf, type Attack, type Published, type Reading } from './model';

const [W, H, LEFT, RIGHT, TOP, FLOOR] = [640, 232, 64, 138, 14, 200];

/** Where the axis of losses runs. */
export const AXIS = { wide: W, from: LEFT, to: W - RIGHT, below: H - FLOOR };

const x = (at: number): number => LEFT + at * (W - LEFT - RIGHT);
const y = (part: number): number => FLOOR - part * (FLOOR - TOP);

/** The name of a line, right of its end: nothing is drawn there. */
function beside(level: number, ...lines: string[]): SVGTextElement {
  const at = W - RIGHT + 8;
  const rows = lines.map((line, i) => svg('tspan', { x: at, dy: i === 0 ? '0.35em' : '1.1em' }, line));
  return svg('text', { x: at, y: level }, ...rows);
}

function axes(range: Range): SVGGElement {
  const parts = [0, 0.5, 1].flatMap(part => [
    svg('path', { class: 'axis', d: `M${LEFT} ${y(part)}H${W - RIGHT}` }),
    svg(
      'text',
      { x: LEFT - 6, y: y(part) + 4, 'text-anchor': 'end', class: part === 0 ? 'above' : null },
      `${100 * part} %`
    )
  ]);
  const losses = ticks(range)
    .filter(value => /^0?\.?0*1/.test(String(value)))
    .map(tick => under(x(place(range, tick)), FLOOR, `ε ${number(tick)}`));
  return svg('g', {}, ...parts, ...losses);
}

const joined = (points: readonly (readonly [number, number])[]): string =>
  points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${a} ${b}`).join('');

/** Two standard errors either way of each simulated share. */
function spreads(one: Published, places: readonly number[]): string {
  return one.recovered
    .map((part, i) => {
      const error = 2 * one.error[i]!;
      return `M${x(places[i]!)} ${y(Math.max(part - error, 0))}V${y(Math.min(part + error, 1))}`;
    })
    .join('');
}

/** The picture of one attack; a hand in it moves the loss. */
export function lossPlot(
  plan: Attack,
  move: (epsilon: number) => void,
  end: () => void
): Part<[attack: Attack, drawn: Published, reading: Reading, epsilon: number], SVGSVGElement> {
  const range = rangeOf(plan);
  const places = placesOf(plan);
  const guess = svg('path', { class: 'soft-line', 'stroke-dasharray': '5 4' });
  const most = svg('path', { class: 'ink-line', 'stroke-dasharray': '1.5 3' });
  const named = svg('g', { 'aria-hidden': 'true' });
  const curve = svg('path', { class: 'pv-line' });
  const dots = svg('path', { class: 'pv' });
  const cursor = svg('path', { class: 'soft-line' });
  const spread = svg('path', { class: 'pv-line', 'stroke-opacity': 0.5 });
  const here = svg('circle', { class: 'dot', r: 5 });
  const layers = [axes(range), guess, most, spread, curve, dots, cursor, named, here];
  const plot = picture('share recovered against ε', W, H, ...layers);
  draggable(plot.node, {
    move: at => {
      const share = Math.min(Math.max((at - LEFT) / (W - LEFT - RIGHT), 0), 1);
      move(share === 0 ? range.low : share === 1 ? range.high : valueAt(range, share));
    },
    end
  });
  return {
    node: plot.node,
    show: ({ baseline }, drawn, { share }, epsilon) => {
      const [bound, top] = [drawn.bound ?? [], drawn.bound?.at(-1)];
      const points = drawn.recovered.map((part, i) => [x(places[i]!), y(part)] as const);
      const at = x(place(range, epsilon));
      set(guess, { d: `M${LEFT} ${y(baseline)}H${W - RIGHT}` });
      set(most, { d: joined(bound.map((part, i) => [x(i / (bound.length - 1)), y(part)])) });
      named.replaceChildren(
        beside(y(baseline), 'guessing'),
        ...(top === undefined ? [] : [beside(y(top), 'the most', 'ε lets', 'through')])
      );
      set(curve, { d: joined(points) });
      set(spread, { d: spreads(drawn, places) });
      set(dots, {
        d: points.map(([a, b]) => `M${a - 3.5} ${b}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`).join('')
      });
      set(cursor, { d: `M${at} ${TOP}V${FLOOR}` });
      set(here, { cx: at, cy: y(share) });
      plot.describe(`${drawn.label}: ${percent(share)} at ε ${significant(epsilon, 3)}.`);
    }
  };
}
