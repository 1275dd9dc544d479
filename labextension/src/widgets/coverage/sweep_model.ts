/** A sweep as it is drawn: lines of coverages and widths, their axes, and where the cursor goes. No DOM. */
import { number } from '../../maths/digits';
import { place, ticks } from '../../maths/scale';
import { ARROWS } from '../parts/track';
import type { Curve } from './curves';
import type { SweepFacts, SweepRow } from './facts';

/** One method along a sweep, by the number of the value: its coverage with its band, and its widths. */
export interface SweepLine extends Curve {
  readonly widths: readonly (readonly [number, number])[];
}

function lineOf({ name, coverage, low, high, width }: SweepRow): SweepLine {
  return {
    name,
    points: coverage.flatMap((share, x) =>
      share === null ? [] : [{ x, share, low: low[x]!, high: high[x]! }]
    ),
    widths: width.flatMap((one, i) => (one === null ? [] : [[i, one] as const]))
  };
}

/** The methods that are shown, in the kernel's order. */
export function linesOf({ rows }: SweepFacts, shown: readonly string[]): SweepLine[] {
  return rows.filter(row => shown.includes(row.name)).map(lineOf);
}

/** Where the values of a sweep lie, from 0 to 1. */
export function along(values: readonly number[]): (i: number) => number {
  const range = { low: values[0]!, high: values.at(-1)! };
  return i => place(range, values[i]!);
}

/** The axis of widths: where one lies, from 0 to 1, and which are written. */
export function widthsOf(lines: readonly SweepLine[]): {
  readonly at: (width: number) => number;
  readonly marks: readonly number[];
} {
  const all = lines.flatMap(one => one.widths.map(([, width]) => width)).filter(width => width > 0);
  const some = all.length > 0;
  const range = { low: (some ? Math.min(...all) : 1) * 0.9, high: Math.max(...all, 1e-9) * 1.1 };
  const marks = some ? ticks(range) : [];
  return {
    at: width => place(range, Math.max(width, range.low)),
    marks: marks.filter((_, i) => marks.length < 7 || i % 3 === 0)
  };
}

/** A width beside its axis, where there is little room: 20 k, 2 M. */
export function brief(width: number): string {
  const [size, letter] = width >= 1e6 ? [1e6, ' M'] : width >= 1e4 ? [1e3, ' k'] : [1, ''];
  return `${number(width / size)}${letter}`;
}

/** The value of a sweep that lies nearest to a place. */
export function nearest(count: number, x: (i: number) => number, from: number): number {
  const places = Array.from({ length: count }, (_, i) => Math.abs(x(i) - from));
  return places.indexOf(Math.min(...places));
}

/** How many values a key moves the cursor. */
export function strideOf(key: string, count: number): number | undefined {
  return ARROWS[key] ?? (key === 'Home' ? -count : key === 'End' ? count : undefined);
}
