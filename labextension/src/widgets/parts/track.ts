/** The track of a slider: where a value stands on it, what a key moves it to, and what a typed text means. No DOM. */
import { place, step, valueAt, type Range } from '../../maths/scale';

export interface Track {
  readonly range: Range;
  /** A straight scale with this step; logarithmic without it. */
  readonly step?: number | undefined;
  /** Larger values to the left. */
  readonly reversed?: boolean;
  /** The lower end stands for none, and is written and typed as 0. */
  readonly none?: boolean;
  /** Where values stand, from 0 to 1, where a drawing decides it. */
  readonly scale?: Scale | undefined;
}

/** The share of a track at which a value stands, and the value that stands at a share. */
export interface Scale {
  readonly share: (value: number) => number;
  readonly value: (share: number) => number;
}

/** The places of a track are whole numbers from 0 to this. */
export const FULL = 1000;

/** Which way an arrow key moves. */
export const ARROWS: Readonly<Record<string, 1 | -1>> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1
};

const stepped = (value: number): number => Number(value.toPrecision(10));

/** The place of a value. */
export function placeOf({ range, step, reversed, scale }: Track, value: number): number {
  const straight = step === undefined ? place(range, value) : (value - range.low) / (range.high - range.low);
  const share = scale?.share(value) ?? straight;
  return Math.round(FULL * Math.min(Math.max(reversed === true ? 1 - share : share, 0), 1));
}

/** The value at a place, rounded to what can be set. */
export function valueOf({ range, step, reversed, scale }: Track, at: number): number {
  const share = reversed === true ? 1 - at / FULL : at / FULL;
  if (scale !== undefined) {
    return Math.min(Math.max(scale.value(share), range.low), range.high);
  }
  if (step === undefined) {
    return valueAt(range, share);
  }
  return stepped(Math.round((range.low + share * (range.high - range.low)) / step) * step);
}

/** The value one key to the right or to the left. */
export function neighbour(track: Track, value: number, direction: 1 | -1): number {
  const { low, high } = track.range;
  const way = track.reversed === true ? (-direction as 1 | -1) : direction;
  return track.step === undefined
    ? step(track.range, value, way)
    : Math.min(Math.max(stepped(value + way * track.step), low), high);
}

/** The value that was typed; null for what is no number of the track. */
export function typedValue({ range, none }: Track, text: string): number | null {
  const { low, high } = range;
  const read = Number(text.trim().replace(',', '.'));
  const typed = none === true && read === 0 ? low : read;
  return text.trim() === '' || !Number.isFinite(typed) || typed < low || typed > high ? null : typed;
}
