/** Two bounds over public values: how far they move, what they cut off, and the error that they cost. No DOM. */
import type { Curve } from '../../maths/curve';
import { halfWidth, number } from '../../maths/digits';
import type { Range } from '../../maths/scale';

/** Bias and noise of a clamped mean. Twin of `dpnb/widgets/kinds/clamp.py`. */
interface Errors {
  readonly bias: number;
  readonly noise: number;
  readonly rmse: number;
}

/** Sorted values with their running sums, so that each pair of bounds costs two searches. */
interface Sorted {
  readonly values: readonly number[];
  readonly sums: readonly number[];
}

export function sorted(values: readonly number[]): Sorted {
  const ordered = [...values].sort((a, b) => a - b);
  const sums = [0];
  for (const value of ordered) {
    sums.push(sums[sums.length - 1]! + value);
  }
  return { values: ordered, sums };
}

/** How many values are below a bound. */
function below(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** `noise` is the sd of the noise on the mean for bounds one unit apart; it grows with their distance. */
export function errors(data: Sorted, low: number, high: number, noise: number): Errors {
  const n = data.values.length;
  const first = below(data.values, low);
  const last = below(data.values, high);
  const inner = data.sums[last]! - data.sums[first]!;
  const mean = (first * low + inner + (n - last) * high) / n;
  const bias = mean - data.sums[n]! / n;
  const spread = noise * (high - low);
  return { bias, noise: spread, rmse: Math.hypot(bias, spread) };
}

export interface ClampFacts {
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly epsilon: number;
  /** The sd of the noise on the mean at ε = 1, for bounds one unit apart: as the price states it. */
  readonly noise: number;
  /** A protected column has its declared bounds and the price of its mean, and no values. */
  readonly declared: null | {
    readonly question: string;
    readonly symbol: 'ε' | 'ρ';
    readonly curve: Curve;
    readonly size: number | null;
  };
  readonly problem: string;
}

export interface ClampSet {
  low: number;
  high: number;
  epsilon: number;
}

/** Why bounds are not taken from the values. */
export const OUTSIDE =
  'You set bounds from outside knowledge, before you look: bounds taken from protected values would be a release.';

export type Bound = 'low' | 'high';

/** The upper bounds of a valley, and the typical error at each, for a lower bound that stands. */
export function valley(
  error: (high: number) => number,
  from: number,
  to: number,
  points: number
): { readonly at: readonly number[]; readonly error: readonly number[]; readonly best: number } {
  const at = Array.from({ length: points }, (_, i) => from + ((to - from) * i) / (points - 1));
  const found = at.map(error);
  return { at, error: found, best: found.indexOf(Math.min(...found)) };
}

/** The values of a column in their order, and where bounds can stand: a little beyond all of them. */
export interface Ground {
  readonly data: ReturnType<typeof sorted>;
  readonly range: Range;
  /** The least distance of the bounds, and the step of a key. */
  readonly gap: number;
}

export function groundOf({ values, low, high }: ClampFacts): Ground {
  const data = sorted(values);
  const [least, most] = [data.values[0]!, data.values.at(-1)!];
  const room = (most - least || 1) * 0.05;
  const range = { low: Math.min(least, low) - room, high: Math.max(most, high) + room };
  return { data, range, gap: (range.high - range.low) / 100 };
}

/** How many values fall into each of so many even bins. */
export function binned({ data, range }: Ground, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const value of data.values) {
    const share = (value - range.low) / (range.high - range.low);
    const bin = Math.min(Math.floor(share * bins), bins - 1);
    counts[bin] = counts[bin]! + 1;
  }
  return counts;
}

/** One bound elsewhere: inside the range, and no nearer to the other one than the gap. */
export function movedBound(
  { range, gap }: Ground,
  now: ClampSet,
  name: Bound,
  value: number
): Partial<ClampSet> {
  return name === 'low'
    ? { low: Math.min(Math.max(value, range.low), now.high - gap) }
    : { high: Math.max(Math.min(value, range.high), now.low + gap) };
}

/** What two bounds do to the mean, in numbers and in words. */
export interface Clamped {
  readonly bias: number;
  readonly noise: number;
  readonly rmse: number;
  /** The bias with its sign. */
  readonly biasWords: string;
  readonly sentence: string;
}

export function clampedAt(facts: ClampFacts, { data }: Ground, { low, high, epsilon }: ClampSet): Clamped {
  const { bias, noise, rmse } = errors(data, low, high, facts.noise / epsilon);
  const cut = facts.values.filter(value => value < low || value > high).length;
  return {
    bias,
    noise,
    rmse,
    biasWords: bias === 0 ? '0' : `${bias < 0 ? '−' : '+'}${halfWidth(Math.abs(bias))}`,
    sentence:
      `${number(cut)} of ${number(facts.values.length)} values are clamped. ` +
      (Math.abs(bias) > noise
        ? 'Bias is the larger: move the bounds apart.'
        : 'Noise is the larger: tighter bounds would add less.')
  };
}

/** The typical error if the upper bound stood elsewhere. */
export interface Dale {
  readonly at: readonly number[];
  readonly error: readonly number[];
  /** The upper bound with the least error, and that error. */
  readonly best: number;
  readonly least: number;
  /** The error where the upper bound stands. */
  readonly current: number;
  /** The error at the top of the picture: the walls of the valley are cut off, so that its floor is seen. */
  readonly top: number;
}

export function daleOf(facts: ClampFacts, { data, range, gap }: Ground, now: ClampSet): Dale {
  const noise = facts.noise / now.epsilon;
  const error = (high: number): number => errors(data, now.low, high, noise).rmse;
  const found = valley(error, now.low + gap, range.high, 160);
  const least = found.error[found.best]!;
  const current = error(now.high);
  const top = Math.max(Math.min(Math.max(...found.error), 6 * least), current, 1e-300);
  return { at: found.at, error: found.error, best: found.at[found.best]!, least, current, top };
}
