/** The values with two bounds over them, the valley of the typical error, and bias beside noise. */
import { halfWidth, number, significant } from '../../maths/digits';
import { marks } from '../../maths/scale';
import { picture, set, svg, unitOf, type Picture, type Part } from '../parts/dom';
import { handle, text } from '../parts/layout';
import { draggable } from '../parts/pointer';
import { binned, type Bound, type Clamped, type ClampSet, type Dale, type Ground } from './model';

const [W, H, FLOOR, BINS] = [640, 160, 132, 60];
const VALLEY = { height: 92, top: 8, floor: 66 };
/** So much room a number below the axis takes, in pixels. */
const APART = 56;

const across =
  ({ range }: Ground) =>
  (value: number): number =>
    ((value - range.low) / (range.high - range.low)) * W;

function columns(ground: Ground): string {
  const counts = binned(ground, BINS);
  const tallest = Math.max(...counts);
  return counts
    .map(
      (count, i) =>
        `M${(i * W) / BINS} ${FLOOR}v${(-count / tallest) * (FLOOR - 12)}h${W / BINS - 1}V${FLOOR}Z`
    )
    .join('');
}

/** What a hand does to the bounds. */
export interface Moves {
  readonly now: ClampSet;
  readonly move: (name: Bound, value: number) => void;
  readonly nudge: (name: Bound, across: number) => void;
  readonly end: () => void;
}

/** A hand takes the nearer bound, where one is near. */
function dragging(plot: Picture, ground: Ground, { now, move, end }: Moves): void {
  const x = across(ground);
  const { low, high } = ground.range;
  let grabbed: Bound = 'low';
  draggable(plot.node, {
    start: at => {
      const [left, right] = [Math.abs(at - x(now.low)), Math.abs(at - x(now.high))];
      grabbed = left <= right ? 'low' : 'high';
      return Math.min(left, right) < 30;
    },
    move: at => move(grabbed, low + (at / W) * (high - low)),
    end
  });
}

/** Round values below the axis, where no bound stands in their way. */
function scale({ range }: Ground, x: (value: number) => number, unit: number, taken: number[]): SVGElement[] {
  return marks([range.low, range.high], Math.floor(W / (2 * APART * unit))).flatMap(([value, words]) => {
    const at = x(value);
    const [edge, free] = [20 * unit, taken.every(one => Math.abs(one - at) > APART * unit)];
    return [
      svg('path', { class: 'axis', d: `M${at} ${FLOOR}v5` }),
      ...(free ? [text(at, H - 4, words, at < edge ? 'start' : at > W - edge ? 'end' : 'middle')] : [])
    ];
  });
}

export function boundsPicture(
  ground: Ground,
  moves: Moves
): Part<[now: ClampSet, found: Clamped], SVGSVGElement> {
  const x = across(ground);
  const bars = svg('path', { class: 'used', opacity: 0.55, d: columns(ground) });
  const out = svg('path', { fill: 'var(--page)', opacity: 0.7 });
  const lines = svg('path', { class: 'pv-line' });
  const labels = svg('g');
  const thumbs = {
    low: handle('lower bound', by => moves.nudge('low', by)),
    high: handle('upper bound', by => moves.nudge('high', by))
  };
  const layers = [bars, out, lines, labels, thumbs.low, thumbs.high];
  const plot = picture('public values and two bounds', W, H, ...layers);
  dragging(plot, ground, moves);
  return {
    node: plot.node,
    show: (now, { rmse, sentence }) => {
      const [a, b] = [x(now.low), x(now.high)];
      const near = b - a < 60;
      set(out, { d: `M0 0H${a}V${FLOOR}H0ZM${b} 0H${W}V${FLOOR}H${b}Z` });
      set(lines, { d: `M${a} 4V${FLOOR}M${b} 4V${FLOOR}` });
      for (const name of ['low', 'high'] as const) {
        set(thumbs[name], {
          cx: x(now[name]),
          cy: FLOOR,
          'aria-valuemin': ground.range.low,
          'aria-valuemax': ground.range.high,
          'aria-valuenow': now[name],
          'aria-valuetext': `at ${number(now[name])}: typical error ${halfWidth(rmse)}`
        });
      }
      labels.replaceChildren(
        svg('path', { class: 'axis', d: `M0 ${FLOOR}H${W}` }),
        ...scale(ground, x, unitOf(plot.node), [a, b]),
        text(a, H - 4, significant(now.low, 3), near ? 'end' : 'middle'),
        text(b, H - 4, significant(now.high, 3), near ? 'start' : 'middle')
      );
      plot.describe(sentence);
    }
  };
}

/** The typical error by upper bound, with its least and where the bound stands. */
export function dalePicture(ground: Ground): Part<[now: ClampSet, dale: Dale], SVGSVGElement> {
  const x = across(ground);
  const curve = svg('path', { class: 'ink-line' });
  const here = svg('circle', { class: 'pv', r: 6 });
  const lowest = svg('path', { class: 'soft-line', 'stroke-dasharray': '3 3' });
  const notes = svg('g');
  const plot = picture('typical error by upper bound', W, VALLEY.height, curve, lowest, here, notes);
  return {
    node: plot.node,
    show: (now, { at, error, best, least, current, top }) => {
      const y = (value: number): number =>
        VALLEY.floor - (Math.min(value, top) / top) * (VALLEY.floor - VALLEY.top);
      const points = at.map((one, i) => `${x(one).toFixed(1)} ${y(error[i]!).toFixed(1)}`);
      set(curve, { d: `M${points.join('L')}` });
      set(here, { cx: x(now.high), cy: y(current) });
      set(lowest, { d: `M${x(best)} ${y(least)}V${VALLEY.floor + 6}` });
      const side = x(best) > W * 0.7 ? 'end' : x(best) < W * 0.3 ? 'start' : 'middle';
      notes.replaceChildren(
        svg('path', { class: 'axis', d: `M0 ${VALLEY.floor}H${W}M0 ${VALLEY.top}H${W}` }),
        text(W, VALLEY.top + 14, `${halfWidth(top)} or more`, 'end'),
        text(side === 'start' ? W : 0, VALLEY.height - 6, '0', side === 'start' ? 'end' : 'start'),
        text(x(best), VALLEY.height - 6, `least at ${significant(best, 3)}: ${halfWidth(least)}`, side)
      );
      plot.describe(
        `with the lower bound at ${significant(now.low, 3)} the typical error is least, ${halfWidth(least)}, ` +
          `for an upper bound of ${significant(best, 3)}`
      );
    }
  };
}

/** Bias and noise as two bars, the longer one across the whole width. */
export function sharePicture(): Part<[found: Clamped], SVGSVGElement> {
  const biased = svg('path', { class: 'used' });
  const noisy = svg('path', { class: 'pv' });
  const plot = picture('bias and noise', W, 26, biased, noisy);
  return {
    node: plot.node,
    show: ({ bias, noise, biasWords }) => {
      const longest = Math.max(Math.abs(bias), noise) || 1;
      set(biased, { d: `M0 1H${(Math.abs(bias) / longest) * W}V11H0Z` });
      set(noisy, { d: `M0 15H${(noise / longest) * W}V25H0Z` });
      plot.describe(`bias ${biasWords}, noise ${halfWidth(noise)}`);
    }
  };
}
