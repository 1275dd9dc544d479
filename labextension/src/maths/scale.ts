/** Logarithmic scales for losses, and the round values that a handle stops at. Twin of `dpnb/widgets/arithmetic.py`. */
import { number } from './digits';

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Where a value lies on a log scale, from 0 to 1. */
export function place(range: Range, value: number): number {
  const share = Math.log(value / range.low) / Math.log(range.high / range.low);
  return Math.min(Math.max(share, 0), 1);
}

/** The value at a place, with two significant digits. */
export function valueAt(range: Range, share: number): number {
  return twoDigits(range.low * (range.high / range.low) ** Math.min(Math.max(share, 0), 1));
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}

/** The next value with two significant digits, up or down, inside the range. */
export function step(range: Range, value: number, direction: 1 | -1): number {
  const now = twoDigits(value);
  const size = 10 ** (Math.floor(Math.log10(direction < 0 ? now * 0.999999 : now)) - 1);
  return Math.min(Math.max(twoDigits(now + direction * size), range.low), range.high);
}

/** The powers of ten, and their halves where there is room, for tick marks; none where a logarithm has no end. */
export function ticks(range: Range): number[] {
  const found: number[] = [];
  if (!(range.low > 0 && range.high < Infinity)) {
    return found;
  }
  for (let power = Math.floor(Math.log10(range.low)); power <= Math.ceil(Math.log10(range.high)); power++) {
    for (const lead of [1, 2, 5]) {
      const value = Number((lead * 10 ** power).toPrecision(1));
      if (value >= range.low * 0.999 && value <= range.high * 1.001) {
        found.push(value);
      }
    }
  }
  return found;
}

type Ends = readonly [number, number];

/** The whole multiples of a step between two ends. */
function multiples([low, high]: Ends, step: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, i) => (first + i) * step);
}

/** Round values along an even axis, at most so many, each with its words: by the finest step that has room. */
export function marks(reach: Ends, most: number): [number, string][] {
  const rough = (reach[1] - reach[0]) / Math.max(most, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) {
    return [];
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 5, 10, 20].map(one => one * power).filter(step => 2 * step > rough);
  const step = steps.find(one => multiples(reach, one).length <= most) ?? steps.at(-1)!;
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 12);
  return multiples(reach, step).map(value => [value, number(value, decimals)]);
}
