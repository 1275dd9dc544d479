/** A sweep as it is drawn: lines of coverages and widths, their axes, and where the cursor goes. No DOM. */
import { wilson } from '../../maths/coverage';
import { number } from '../../maths/digits';
import { place, ticks } from '../../maths/scale';
import { ARROWS } from '../parts/track';
import type { SweepFacts, SweepRow } from './facts';

type Values<T = number> = readonly (T | null)[];

/** One method along a sweep: its coverage with its band, and its width; null where nothing is known. */
export interface SweepLine {
  readonly name: string;
  readonly coverage: Values;
  readonly width: Values;
  readonly band: Values<readonly [number, number]>;
}

function lineOf({ name, held, studies, width }: SweepRow): SweepLine {
  const band = held.map((count, i) => wilson(count, studies[i] ?? 0));
  return {
    name,
    width,
    band,
    coverage: band.map((one, i) => (one === null ? null : held[i]! / studies[i]!))
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

/** Something of each value that is known. */
export function known<T, U>(values: Values<T>, made: (value: T, i: number) => U): U[] {
  return values.flatMap((value, i) => (value === null ? [] : [made(value, i)]));
}

/** The lowest end of all bands, and no more than the level. */
export function lowest(lines: readonly SweepLine[], level: number): number {
  return Math.min(level, ...lines.flatMap(({ band }) => known(band, ([low]) => low)));
}

/** The axis of widths: where one lies, from 0 to 1, and which are written. */
export function widthsOf(lines: readonly SweepLine[]): {
  readonly at: (width: number) => number;
  readonly marks: readonly number[];
} {
  const all = lines.flatMap(one => known(one.width, width => width)).filter(width => width > 0);
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
