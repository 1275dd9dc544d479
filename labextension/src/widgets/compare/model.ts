/** Several questions at one loss: their ±, as told and as parts of their public ranges. No DOM. */
import { widthAt, type Curve } from '../../maths/curve';
import { halfWidth, significant } from '../../maths/digits';
import type { Range } from '../../maths/scale';

export interface Compared {
  readonly name: string;
  readonly unit: string;
  /** For how many people a ± is told, where that number is private. */
  readonly given: string;
  readonly curve: Curve;
  /** The length of its public range. */
  readonly span: number;
}

export interface CompareFacts {
  readonly dataset: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  readonly questions: readonly Compared[];
  readonly left: number;
  readonly start: number;
  readonly problem: string;
}

export interface CompareSet {
  loss: number;
}

/** The losses that every curve has. */
export function rangeOf({ questions }: Pick<CompareFacts, 'questions'>): Range {
  return {
    low: Math.max(...questions.map(one => one.curve.loss[0]!)),
    high: Math.min(...questions.map(one => one.curve.loss.at(-1)!))
  };
}

/** What is narrower is drawn as this: a law on whole rows has no ± below one of them. */
const LEAST = 1e-4;

/** The part of its public range that a ± is, at most all of it. */
export const partAt = (one: Compared, loss: number): number =>
  Math.min(Math.max(widthAt(one.curve, loss) / one.span, LEAST), 1);

/** A ± at a loss, in its own unit. */
export const toldAt = (one: Compared, loss: number): string =>
  [`± ${halfWidth(widthAt(one.curve, loss))}`, one.unit, one.given].filter(Boolean).join(' ');

/** The parts that are drawn, from the smallest to the largest. */
export function partsOf(facts: Pick<CompareFacts, 'questions'>): Range {
  const { low, high } = rangeOf(facts);
  const parts = facts.questions.flatMap(one => [partAt(one, low), partAt(one, high)]);
  return { low: Math.min(...parts) * 0.8, high: Math.max(...parts) };
}

/** What one loss for each would leave. */
export function leaves({ questions, left, symbol }: CompareFacts, loss: number): string {
  const all = loss * questions.length;
  const each =
    questions.length > 1
      ? `All ${questions.length} at this loss cost at most ${symbol} ${significant(all, 3)}`
      : 'It costs this loss';
  return all <= left * (1 + 1e-9)
    ? `${each}; ${symbol} ${significant(left - all, 3)} would be left.`
    : `${each}, and only ${symbol} ${significant(left, 3)} is left.`;
}
