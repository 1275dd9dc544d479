/** The drawings of studies at many losses: forty intervals, and coverage along the loss. */
import { number } from '../../maths/digits';
import { place } from '../../maths/scale';
import { picture, say, set, svg } from '../parts/dom';
import { leaving, text, under } from '../parts/layout';
import { drawn, lowest, markers, shares, SMALL, type Curve, type Frame } from './curves';
import { percent, roomFor } from './looks';
import {
  alongLosses,
  drawnOf,
  endsAt,
  heldAt,
  reachAt,
  truthOf,
  type SharedRow,
  type SharedStudies
} from './shared_model';

const { w: W, h: H, left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM } = SMALL;
const MIDDLE = H / 2;

/** Where a study stands, and which study stands at a place. */
const xOf = (study: number, drawn: number): number => LEFT + ((study + 0.5) / drawn) * (W - LEFT - RIGHT);
export const studyOf = (x: number, drawn: number): number =>
  Math.min(Math.max(Math.floor(((x - LEFT) / (W - LEFT - RIGHT)) * drawn), 0), drawn - 1);

/** The largest of 1, 2, 5, 10, … below a number. */
function round(below: number): number {
  const size = 10 ** Math.floor(Math.log10(below));
  return size * (below >= 5 * size ? 5 : below >= 2 * size ? 2 : 1);
}

/** What of a shared is drawn: a method, the loss that is set, and the computed one nearest to it. */
export interface Shown {
  readonly shared: SharedStudies;
  readonly row: SharedRow;
  readonly loss: number;
  readonly at: number;
  /** The loss at which it rested last. */
  readonly rest: number;
  readonly study: number;
}

/** The paths of forty intervals around what each claims to hold. */
function intervalPaths(
  { shared, row, loss, at }: Shown,
  y: (off: number) => number,
  reach: number
): Record<'holds' | 'misses' | 'crosses', string> {
  const found = { holds: '', misses: '', crosses: '' };
  for (const study of drawnOf(shared)) {
    const held = heldAt(shared, row, at, study);
    const truth = truthOf(shared, row, study);
    const offs = endsAt(shared, row, loss, study).map(end => end - truth) as [number, number];
    const [low, high] = offs.map(y) as [number, number];
    if (held === null || !Number.isFinite(low + high)) {
      continue;
    }
    const x = xOf(study - shared.first, shared.places).toFixed(1);
    const heads = leaving(Number(x), [offs[1] > reach, offs[0] < -reach], [y(reach), y(-reach)]);
    found[held ? 'holds' : 'misses'] += `M${x} ${low.toFixed(1)}V${high.toFixed(1)}${heads}`;
    if (!held) {
      const end =
        Math.abs(low - MIDDLE) > Math.abs(high - MIDDLE)
          ? low + Math.sign(low - MIDDLE) * 6
          : high + Math.sign(high - MIDDLE) * 6;
      found.crosses += `M${Number(x) - 3} ${(end - 3).toFixed(1)}l6 6m0 -6l-6 6`;
    }
  }
  return found;
}

/** Forty intervals, one beside the other; a place is a study, chosen by pointer or by arrow keys. */
export function fortyPicture() {
  const ghost = svg('path', { class: 'ghost', stroke: 'var(--soft)', 'stroke-width': 3, opacity: 0.22 });
  const holds = svg('path', { stroke: 'var(--dp-accent)', 'stroke-width': 2.6 });
  const misses = svg('path', { stroke: 'var(--dp-warn)', 'stroke-width': 3.4 });
  const crosses = svg('path', { stroke: 'var(--dp-warn)', 'stroke-width': 1.8, fill: 'none' });
  const truth = svg('path', {
    stroke: 'var(--ink)',
    'stroke-width': 1.2,
    d: `M${LEFT} ${MIDDLE}H${W - RIGHT}`
  });
  const [up, down] = [text(LEFT - 6, 0, '', 'end'), text(LEFT - 6, 0, '', 'end')];
  const grid = svg('path', { class: 'axis' });
  const handle = svg('circle', {
    class: 'handle',
    r: 7,
    cy: H - 14,
    tabindex: 0,
    role: 'slider',
    'aria-label': 'study'
  });
  const plot = picture(
    'forty intervals',
    W,
    H,
    grid,
    ghost,
    up,
    down,
    holds,
    misses,
    crosses,
    truth,
    text(LEFT - 6, MIDDLE + 4, 'truth', 'end'),
    handle
  );
  let drawn = '';
  /** How far the axis reaches: it stays while the loss moves, and only other studies have another one. */
  let fixed = { of: NaN, reach: 1 };
  return {
    node: plot.node,
    handle,
    /** Keep what is drawn as a shade behind what comes. */
    fade: () => set(ghost, { d: drawn }),
    clear: () => set(ghost, { d: '' }),
    show: (now: Shown, words: string): void => {
      if (fixed.of !== now.shared.of) {
        const each = now.shared.rows.map(row => reachAt(now.shared, row, now.rest));
        fixed = { of: now.shared.of, reach: 2 * Math.max(...each) };
      }
      const { reach } = fixed;
      const y = (off: number): number => MIDDLE - Math.min(Math.max(off / reach, -1), 1) * (MIDDLE - 26);
      const paths = intervalPaths(now, y, reach);
      drawn = paths.holds + paths.misses;
      set(holds, { d: paths.holds });
      set(misses, { d: paths.misses });
      set(crosses, { d: paths.crosses });
      const mark = round(reach * 0.9);
      set(grid, { d: `M${LEFT} ${y(mark)}H${W - RIGHT}M${LEFT} ${y(-mark)}H${W - RIGHT}` });
      for (const [label, off] of [
        [up, mark],
        [down, -mark]
      ] as const) {
        set(label, { y: y(off) + 4 });
        say(label, `${off > 0 ? '+' : ''}${number(off)}`);
      }
      set(handle, {
        cx: xOf(now.study - now.shared.first, now.shared.places),
        'aria-valuemin': 1,
        'aria-valuemax': now.shared.studies,
        'aria-valuenow': now.study + 1,
        'aria-valuetext': words
      });
      const failed = paths.crosses.split('M').length - 1;
      plot.describe(`${failed} of ${now.shared.drawn} intervals miss the truth`);
    }
  };
}

/** Lines are named right of their ends. */
const ALONG: Frame = { ...SMALL, right: 76 };

/** Where the axis of losses runs. */
export const AXIS = { wide: W, from: LEFT + 8, to: W - ALONG.right - 8, below: BOTTOM };

/** Coverage along the loss; the slider of the loss stands on its axis. */
export function alongPicture() {
  const [curves, dots] = [svg('g'), svg('g')];
  const cursor = svg('path', { class: 'ink-line' });
  const plot = picture('coverage of the same studies at each loss', W, H, curves, cursor, dots);
  let [range, key, marked] = [{ low: 1, high: 2 }, '', NaN];
  let y = (share: number): number => share;
  let found: Curve[] = [];
  const x = (loss: number): number => AXIS.from + place(range, loss) * (AXIS.to - AXIS.from);
  /** Draw what does not move with the loss. */
  const lay = ({ shared }: Shown, rows: readonly SharedRow[], level: number, symbol: string): void => {
    range = { low: shared.values[0]!, high: shared.values.at(-1)! };
    found = rows.map(row => ({ name: row.name, points: alongLosses(shared, row) }));
    const axis = shares(ALONG, lowest(found, level), level);
    y = axis.y;
    const marks = [0.001, 0.01, 0.1, 1, 10, 100].filter(mark => mark >= range.low && mark <= range.high);
    const names = { x: W - ALONG.right + 2, bottom: H - BOTTOM, ...roomFor(plot.node) };
    curves.replaceChildren(
      ...axis.grid,
      ...drawn(found, x, y, names),
      ...marks.map(mark => under(x(mark), H - BOTTOM, `${symbol} ${number(mark)}`))
    );
  };
  return {
    node: plot.node,
    lossAt: (px: number): number => {
      const share = Math.min(Math.max((px - AXIS.from) / (AXIS.to - AXIS.from), 0), 1);
      return range.low * (range.high / range.low) ** share;
    },
    show: (now: Shown, rows: readonly SharedRow[], level: number, symbol: string): void => {
      const next = JSON.stringify([now.shared.of, now.shared.studies, rows.map(row => row.name), level]);
      const value = now.shared.values[now.at]!;
      const [laid, same] = [next === key, next === key && value === marked];
      [key, marked] = [next, value];
      if (!laid) {
        lay(now, rows, level, symbol);
      }
      set(cursor, { d: `M${x(now.loss)} ${TOP}V${H - BOTTOM}` });
      if (same) {
        return;
      }
      dots.replaceChildren(...markers(found, x, y, points => points.filter(one => one.x === value)));
      const said = found.flatMap(({ name, points }) =>
        points.filter(one => one.x === value).map(one => `${name} ${percent(one.share)}`)
      );
      plot.describe(`at ${symbol} ${number(value)}: ${said.join(', ')}`);
    }
  };
}
