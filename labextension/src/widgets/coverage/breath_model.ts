/** The same studies at many losses: what is drawn between two of them, and what is counted at the nearest. No DOM. */
import { wilson } from '../../maths/coverage';
import { number } from '../../maths/digits';
import type { BreathFacts, BreathMethod } from './facts';

/** So many studies are drawn. */
const PLACES = 40;

export interface BreathRow {
  readonly name: string;
  readonly about: 'dataset' | 'population';
  readonly ends: Float32Array;
  readonly held: Uint8Array;
  readonly known: Uint8Array | null;
}

export interface Breath {
  readonly of: number;
  readonly values: readonly number[];
  readonly studies: number;
  readonly goal: number;
  /** How many of them are drawn, and how many will be. */
  readonly drawn: number;
  readonly places: number;
  readonly answers: Float32Array;
  readonly truths: Float32Array;
  readonly parameter: number | null;
  readonly rows: readonly BreathRow[];
}

export type Arrays = ReadonlyMap<string, DataView>;

/** No array is longer than dpnb writes one. */
const MOST_BYTES = 4_000_000;

/** The arrays of a model, whoever wrote it; what is no bytes is left out. */
export function arraysOf(raw: unknown): Arrays {
  const found = Object.entries(typeof raw === 'object' && raw !== null ? raw : {});
  return new Map(
    found.filter(
      (one): one is [string, DataView] => one[1] instanceof DataView && one[1].byteLength <= MOST_BYTES
    )
  );
}

/** Numbers from little-endian 32-bit floats. */
export function floats(view: DataView): Float32Array {
  return Float32Array.from({ length: view.byteLength >> 2 }, (_, i) => view.getFloat32(4 * i, true));
}

const flags = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** A method with its arrays; null where they are not as long as they must be. */
function rowOf({ name, about }: BreathMethod, arrays: Arrays, ends: number, bits: number): BreathRow | null {
  const [all, held, known] = ['ends', 'held', 'known'].map(one => arrays.get(`${name}/${one}`));
  const there = known !== undefined && [0, bits].includes(known.byteLength);
  if (all?.byteLength !== 8 * ends || held?.byteLength !== bits || !there) {
    return null;
  }
  return {
    name,
    about,
    ends: floats(all),
    held: flags(held),
    known: known.byteLength === 0 ? null : flags(known)
  };
}

/** The studies of some facts, with their arrays; null where these are not those. */
export function breathOf(facts: BreathFacts, arrays: Arrays): Breath | null {
  const [truths, answers] = [arrays.get('truths'), arrays.get('answers')];
  const [losses, drawn] = [facts.values.length, (truths?.byteLength ?? 0) >> 2];
  const bits = losses * Math.ceil(facts.studies / 8);
  const rows = facts.methods.map(one => rowOf(one, arrays, losses * drawn, bits));
  if (truths === undefined || answers?.byteLength !== 4 * losses * drawn || losses === 0 || drawn === 0) {
    return null;
  }
  if (rows.some(row => row === null)) {
    return null;
  }
  return {
    ...facts,
    drawn,
    places: Math.max(drawn, Math.min(PLACES, facts.goal)),
    truths: floats(truths),
    answers: floats(answers),
    rows: rows as BreathRow[]
  };
}

/** The computed loss nearest to one, in the logarithm. */
export function nearestLoss(values: readonly number[], loss: number): number {
  const apart = values.map(value => Math.abs(Math.log(value / loss)));
  return apart.indexOf(Math.min(...apart));
}

/** Where a loss lies between computed ones: from which on, and how far towards the next, in the logarithm. */
export function between(values: readonly number[], loss: number): { from: number; share: number } {
  const last = values.length - 1;
  const held = Math.min(Math.max(loss, values[0]!), values[last]!);
  const above = values.findIndex(value => value >= held);
  const from = Math.max(above - 1, 0);
  const gap = Math.log(values[Math.min(from + 1, last)]! / values[from]!);
  return { from, share: gap > 0 ? Math.log(held / values[from]!) / gap : 0 };
}

/** Ends of a drawn study at a loss, between the computed ones on both sides: for drawing only. */
export function endsAt(
  { values, drawn }: Breath,
  row: BreathRow,
  loss: number,
  study: number
): [number, number] {
  const { from, share } = between(values, loss);
  const next = Math.min(from + 1, values.length - 1);
  const end = (which: number): number => {
    const [a, b] = [from, next].map(at => row.ends[2 * (at * drawn + study) + which]!);
    return share === 0 ? a! : share === 1 ? b! : a! + share * (b! - a!);
  };
  return [end(0), end(1)];
}

const bit = (flags: Uint8Array, wide: number, at: number, study: number): boolean =>
  ((flags[at * wide + (study >> 3)]! >> (study & 7)) & 1) === 1;

/** Whether a study's interval held at a computed loss; null where there is none. */
export function heldAt({ studies }: Breath, row: BreathRow, at: number, study: number): boolean | null {
  const wide = Math.ceil(studies / 8);
  const known = row.known === null || bit(row.known, wide, at, study);
  return known ? bit(row.held, wide, at, study) : null;
}

/** How many of the first studies had an interval at a computed loss, and how many held. */
export function countAt(breath: Breath, row: BreathRow, at: number, upto = breath.studies): [number, number] {
  let [known, held] = [0, 0];
  for (let study = 0; study < upto; study += 1) {
    const one = heldAt(breath, row, at, study);
    known += one === null ? 0 : 1;
    held += one === true ? 1 : 0;
  }
  return [known, held];
}

/** A share with its band, at one computed loss or after so many studies. */
export interface Share {
  readonly x: number;
  readonly share: number;
  readonly band: readonly [number, number];
}

const shareOf = (x: number, [known, held]: readonly [number, number]): Share[] =>
  known === 0 ? [] : [{ x, share: held / known, band: wilson(held, known)! }];

/** The coverage at every computed loss. */
export function alongLosses(breath: Breath, row: BreathRow): Share[] {
  return breath.values.flatMap((value, at) => shareOf(value, countAt(breath, row, at)));
}

const POINTS = 40;

/** The running coverage at one computed loss. */
export function runningAt(breath: Breath, row: BreathRow, at: number): Share[] {
  const found: Share[] = [];
  let [known, held] = [0, 0];
  const step = Math.max(1, Math.ceil(breath.studies / POINTS));
  for (let study = 0; study < breath.studies; study += 1) {
    const one = heldAt(breath, row, at, study);
    known += one === null ? 0 : 1;
    held += one === true ? 1 : 0;
    if ((study + 1) % step === 0 || study === breath.studies - 1) {
      found.push(...shareOf(study + 1, [known, held]));
    }
  }
  return found;
}

/** What an interval of a study claims to hold. */
export function truthOf({ truths, parameter }: Breath, row: BreathRow, study: number): number {
  return row.about === 'dataset' || parameter === null ? truths[study]! : parameter;
}

/** How far the picture reaches to both sides of the truth: what most ends at a loss lie within. */
export function reachAt(breath: Breath, row: BreathRow, loss: number): number {
  const far = Array.from({ length: breath.drawn }, (_, study) => {
    const truth = truthOf(breath, row, study);
    return Math.max(...endsAt(breath, row, loss, study).map(end => Math.abs(end - truth)));
  })
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  return (far[Math.floor(0.9 * (far.length - 1))] ?? 1) * 1.15 || 1;
}

const signed = (value: number): string => `${value < 0 ? '-' : '+'}${number(Math.abs(value))}`;

/** One study at a computed loss in words: what was released, what its interval holds, and why it missed. */
export function studyWords(
  breath: Breath,
  row: BreathRow,
  at: number,
  study: number,
  symbol: string
): string {
  const answer = breath.answers[at * breath.drawn + study]!;
  const [low, high] = endsAt(breath, row, breath.values[at]!, study);
  const start = `Study ${study + 1} at ${symbol} ${number(breath.values[at]!)}: released ${number(answer)}`;
  const held = heldAt(breath, row, at, study);
  if (held === null) {
    return `${start}, and there is no ${row.name} interval.`;
  }
  const truth = truthOf(breath, row, study);
  const what = row.about === 'dataset' ? 'this dataset' : 'the population';
  const interval = `${start}, interval ${number(low)} to ${number(high)}; the truth of ${what} is ${number(truth)}.`;
  if (held) {
    return `${interval} It holds.`;
  }
  const noise = answer - breath.truths[study]!;
  const drawn = breath.truths[study]! - truth;
  const half = (high - low) / 2;
  const parts =
    row.about === 'dataset'
      ? `The noise moved the answer by ${signed(noise)}`
      : `The noise moved the answer by ${signed(noise)}, the draw of the people by ${signed(drawn)}`;
  const most = Math.abs(noise) >= Math.abs(drawn) ? 'the noise' : 'the draw';
  return `${interval} It misses. ${parts}; the interval reaches ${number(half)} to each side. Most of it was ${most}.`;
}
