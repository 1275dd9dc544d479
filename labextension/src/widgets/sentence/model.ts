/** A sentence at some stops of its numbers: what it says, and the curve that one number draws. No DOM. */

export interface Piece {
  readonly kind: 'words' | 'number' | 'told';
  readonly words: string;
  /** Which of the numbers, or of what is told. */
  readonly which: number;
}

interface Stops {
  readonly name: string;
  /** Each stop as it is written. */
  readonly values: readonly string[];
  readonly start: number;
}

export interface Drawn {
  /** One height from 0 to 1 for each case. */
  readonly heights: readonly number[];
  /** What the lower and the upper end of its axis say. */
  readonly ends: readonly [string, string];
  readonly label: string;
}

export interface SentenceFacts {
  readonly pieces: readonly Piece[];
  readonly numbers: readonly Stops[];
  /** What follows, written for each case: the last number moves fastest. */
  readonly told: readonly (readonly string[])[];
  readonly picture: Drawn | null;
  readonly problem: string;
}

export interface SentenceSet {
  at: number[];
}

type Numbers = Pick<SentenceFacts, 'numbers'>;

/** The stops, each inside its number. */
export const inside = ({ numbers }: Numbers, at: readonly number[]): number[] =>
  numbers.map((one, i) => Math.min(Math.max(Math.round(at[i] ?? one.start), 0), one.values.length - 1));

/** The place of a case. */
export const caseAt = ({ numbers }: Numbers, at: readonly number[]): number =>
  numbers.reduce((found, one, i) => found * one.values.length + at[i]!, 0);

/** What one piece says. */
export function pieceAt(facts: SentenceFacts, piece: Piece, at: readonly number[]): string {
  switch (piece.kind) {
    case 'number':
      return facts.numbers[piece.which]?.values[at[piece.which]!] ?? '';
    case 'told':
      return facts.told[piece.which]?.[caseAt(facts, at)] ?? '';
    default:
      return piece.words;
  }
}

/** The whole sentence. */
export const saysAt = (facts: SentenceFacts, at: readonly number[]): string =>
  facts.pieces.map(piece => pieceAt(facts, piece, at)).join('');

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: at => at + 1,
  ArrowUp: at => at + 1,
  ArrowLeft: at => at - 1,
  ArrowDown: at => at - 1,
  PageUp: (at, last) => at + Math.max(1, Math.round(last / 5)),
  PageDown: (at, last) => at - Math.max(1, Math.round(last / 5)),
  Home: () => 0,
  End: (_, last) => last
};

/** Where a key moves one number to; null for a key that moves none. */
export function keyed(facts: Numbers, at: readonly number[], which: number, key: string): number[] | null {
  const step = STEPS[key];
  const last = facts.numbers[which]!.values.length - 1;
  return step === undefined ? null : moved(facts, at, which, step(at[which]!, last));
}

/** The stops with one number at another. */
export const moved = (facts: Numbers, at: readonly number[], which: number, to: number): number[] =>
  inside(
    facts,
    at.map((one, i) => (i === which ? to : one))
  );

/** The heights of the curve over one number, while the others stand. */
export const curveOf = (facts: SentenceFacts, at: readonly number[], which: number): number[] =>
  facts.numbers[which]!.values.map((_, i) => {
    const height = facts.picture?.heights[caseAt(facts, moved(facts, at, which, i))] ?? 0;
    return Math.min(Math.max(height, 0), 1);
  });
