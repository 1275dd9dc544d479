/** The answers of a wall: their order, where they stand on the axis, and what is said of each. No DOM. */

interface Drawn {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Whether the interval holds the truth; null where that is not known. */
  readonly held: boolean | null;
  readonly words: string;
  readonly span: string;
}

export interface Answer extends Drawn {
  readonly who: string;
  readonly paid: string;
}

export interface WallFacts {
  readonly question: string;
  /** The folder that is looked at; empty where the answers are held. */
  readonly place: string;
  /** What is said while there is no answer. */
  readonly waiting: string;
  /** In the order in which they came. */
  readonly answers: readonly Answer[];
  readonly truth: { readonly value: number; readonly words: string } | null;
  readonly average: Drawn | null;
  /** The ends of the axis. */
  readonly reach: readonly [number, number];
  /** Large words, and what stands below each. */
  readonly figures: readonly (readonly [string, string])[];
  readonly sentence: string;
  readonly notes: readonly string[];
  readonly problem: string;
}

export type Order = 'came' | 'value';

export interface WallSet {
  /** How often the folder was asked for. */
  look: number;
  order: Order;
}

export const ORDERS: readonly (readonly [Order, string])[] = [
  ['came', 'as they came'],
  ['value', 'by their value']
];

/** The answers from top to bottom. */
export function ordered(answers: readonly Answer[], order: Order): readonly Answer[] {
  return order === 'came' ? answers : [...answers].sort((a, b) => a.value - b.value);
}

/** A place on the axis, from 0 to 1; what reaches beyond it stands at its end. */
export function place([low, high]: WallFacts['reach'], value: number): number {
  return high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0.5;
}

/** Whether a part of an interval lies beyond the axis. */
export const isCut = ([low, high]: WallFacts['reach'], one: Drawn): boolean =>
  one.low < low || one.high > high;

/** What the truth is to an answer; nothing where it is not known. */
export const verdict = ({ held }: Drawn): string => (held === null ? '' : held ? 'inside' : '✕ missed');

/** An answer in words. */
export function said(one: Answer): string {
  const truth = one.held === null ? '' : one.held ? ', contains the truth' : ', misses the truth';
  return `${one.who}: ${one.words}, ${one.span}${truth}, ${one.paid}`;
}
