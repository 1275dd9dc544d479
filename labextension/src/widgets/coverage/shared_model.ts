/** The same studies at many losses: what is drawn between two of them, and what is counted at the nearest. No DOM. */
import { number } from '../../maths/digits';
import type { CurvePoint } from './curves';
import type { SharedFacts, SharedMethod } from './facts';

/** So many studies are drawn at a time. */
export const PLACES = 40;

export interface SharedRow {
  readonly name: string;
  readonly about: 'dataset' | 'population';
  readonly ends: Float32Array;
  /** Of each study at each loss: 0 missed, 1 held, 2 without an interval. */
  readonly held: Uint8Array;
}

export interface SharedStudies {
  readonly of: number;
  readonly values: readonly number[];
  readonly studies: number;
  readonly goal: number;
  /** The first that is drawn, how many of them are, and how many will be. */
  readonly first: number;
  readonly drawn: number;
  readonly places: number;
  readonly answers: Float32Array;
  readonly truths: Float32Array;
  readonly parameter: number | null;
  /** Whether ends are drawn between two computed losses, or at the nearest. */
  readonly smooth: boolean;
  readonly rows: readonly SharedRow[];
}

export type Arrays = ReadonlyMap<string, DataView>;

const Z2 = 1.959963984540054 ** 2;

/** The 95 % Wilson interval of a share. Twin of `dpnb.simulate.wilson`. */
export function wilson(held: number, studies: number): [number, number] {
  const share = held / studies;
  const middle = (share + Z2 / (2 * studies)) / (1 + Z2 / studies);
  const half =
    Math.sqrt(Z2 * ((share * (1 - share)) / studies + Z2 / (4 * studies ** 2))) / (1 + Z2 / studies);
  return [middle - half, middle + half];
}

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

/** A method with its arrays; null where they are not as long as they must be. */
function rowOf(
  { name, about }: SharedMethod,
  arrays: Arrays,
  { losses, drawn, studies }: Record<'losses' | 'drawn' | 'studies', number>
): SharedRow | null {
  const [ends, held] = [arrays.get(`${name}/ends`), arrays.get(`${name}/held`)];
  if (ends?.byteLength !== 8 * losses * drawn || held?.byteLength !== losses * studies) {
    return null;
  }
  const flags = new Uint8Array(held.buffer, held.byteOffset, held.byteLength);
  return { name, about, ends: floats(ends), held: flags };
}

/** The studies of some facts, with their arrays; null where these are not those. */
export function sharedOf(facts: SharedFacts, arrays: Arrays): SharedStudies | null {
  const [truths, answers] = [arrays.get('truths'), arrays.get('answers')];
  const [losses, drawn] = [facts.values.length, (truths?.byteLength ?? 0) >> 2];
  if (truths === undefined || answers?.byteLength !== 4 * losses * drawn || losses === 0 || drawn === 0) {
    return null;
  }
  const size = { losses, drawn, studies: facts.studies };
  const rows = facts.methods.map(one => rowOf(one, arrays, size));
  if (rows.some(row => row === null) || !(facts.first >= 0 && facts.first + drawn <= facts.studies)) {
    return null;
  }
  return {
    ...facts,
    drawn,
    places: Math.max(drawn, Math.min(PLACES, facts.goal - facts.first)),
    truths: floats(truths),
    answers: floats(answers),
    rows: rows as SharedRow[]
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

const isWide = ([low, high]: readonly [number, number]): boolean => Number.isFinite(high - low) && high > low;

/**
 * Ends of a drawn study at a loss, between the computed ones on both sides: for drawing only. Of a selection, and of an interval
 * that is a point or has no end on one of the sides, they are those of the nearest.
 */
export function endsAt(
  { values, drawn, first, smooth }: SharedStudies,
  row: SharedRow,
  loss: number,
  study: number
): [number, number] {
  const { from, share } = between(values, loss);
  const [below, above] = [from, Math.min(from + 1, values.length - 1)].map((at): [number, number] => {
    const place = 2 * (at * drawn + study - first);
    return [row.ends[place]!, row.ends[place + 1]!];
  }) as [[number, number], [number, number]];
  return !smooth || !isWide(below) || !isWide(above)
    ? share > 0.5
      ? above
      : below
    : [below[0] + share * (above[0] - below[0]), below[1] + share * (above[1] - below[1])];
}

/** Whether a study's interval held at a computed loss; null where there is none. */
export function heldAt(
  { studies }: SharedStudies,
  row: SharedRow,
  at: number,
  study: number
): boolean | null {
  const held = row.held[at * studies + study]!;
  return held > 1 ? null : held === 1;
}

/** The studies that are drawn, by their numbers among all. */
export const drawnOf = ({ first, drawn }: SharedStudies): number[] =>
  Array.from({ length: drawn }, (_, i) => first + i);

/** How many studies had an interval at a computed loss, and how many held: of all, or of those that are drawn. */
export function countAt(shared: SharedStudies, row: SharedRow, at: number, of?: 'drawn'): [number, number] {
  let [known, held] = [0, 0];
  const [from, to] = of === 'drawn' ? [shared.first, shared.first + shared.drawn] : [0, shared.studies];
  for (let study = from; study < to; study += 1) {
    const one = heldAt(shared, row, at, study);
    known += one === null ? 0 : 1;
    held += one === true ? 1 : 0;
  }
  return [known, held];
}

function pointOf(x: number, [known, held]: readonly [number, number]): CurvePoint[] {
  if (known === 0) {
    return [];
  }
  const [low, high] = wilson(held, known);
  return [{ x, share: held / known, low, high }];
}

/** The coverage at every computed loss. */
export function alongLosses(shared: SharedStudies, row: SharedRow): CurvePoint[] {
  return shared.values.flatMap((value, at) => pointOf(value, countAt(shared, row, at)));
}

const POINTS = 40;

/** The running coverage at one computed loss. */
export function runningAt(shared: SharedStudies, row: SharedRow, at: number): CurvePoint[] {
  const found: CurvePoint[] = [];
  let [known, held] = [0, 0];
  const step = Math.max(1, Math.ceil(shared.studies / POINTS));
  for (let study = 0; study < shared.studies; study += 1) {
    const one = heldAt(shared, row, at, study);
    known += one === null ? 0 : 1;
    held += one === true ? 1 : 0;
    if ((study + 1) % step === 0 || study === shared.studies - 1) {
      found.push(...pointOf(study + 1, [known, held]));
    }
  }
  return found;
}

/** What an interval of a study claims to hold. */
export function truthOf({ truths, first, parameter }: SharedStudies, row: SharedRow, study: number): number {
  return row.about === 'dataset' || parameter === null ? truths[study - first]! : parameter;
}

/** How far the picture reaches to both sides of the truth: what most ends at a loss lie within. */
export function reachAt(shared: SharedStudies, row: SharedRow, loss: number): number {
  const far = drawnOf(shared)
    .map(study => {
      const truth = truthOf(shared, row, study);
      return Math.max(...endsAt(shared, row, loss, study).map(end => Math.abs(end - truth)));
    })
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  return (far[Math.floor(0.9 * (far.length - 1))] ?? 1) * 1.15 || 1;
}

const signed = (value: number): string => `${value < 0 ? '-' : '+'}${number(Math.abs(value))}`;

/** One study at a computed loss in words: what was released, what its interval holds, and why it missed. */
export function studyWords(
  shared: SharedStudies,
  row: SharedRow,
  at: number,
  study: number,
  symbol: string
): string {
  const answer = shared.answers[at * shared.drawn + study - shared.first]!;
  const [low, high] = endsAt(shared, row, shared.values[at]!, study);
  const start = `Study ${number(study + 1)} at ${symbol} ${number(shared.values[at]!)}: released ${number(answer)}`;
  const held = heldAt(shared, row, at, study);
  if (held === null) {
    return `${start}, and there is no ${row.name} interval.`;
  }
  const truth = truthOf(shared, row, study);
  const what = row.about === 'dataset' ? 'this dataset' : 'the population';
  const interval = `${start}, interval ${number(low)} to ${number(high)}; the truth of ${what} is ${number(truth)}.`;
  if (held) {
    return `${interval} It holds.`;
  }
  const noise = answer - shared.truths[study - shared.first]!;
  const drawn = shared.truths[study - shared.first]! - truth;
  const half = (high - low) / 2;
  const parts =
    row.about === 'dataset'
      ? `The noise moved the answer by ${signed(noise)}`
      : `The noise moved the answer by ${signed(noise)}, the draw of the people by ${signed(drawn)}`;
  const most = Math.abs(noise) >= Math.abs(drawn) ? 'the noise' : 'the draw';
  return `${interval} It misses. ${parts}; the interval reaches ${number(half)} to each side. Most of it was ${most}.`;
}
