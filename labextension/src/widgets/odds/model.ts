/** What a loss and a δ do to a belief about one person: bounds, people, answers in two worlds, and their words. No DOM. */
import { atMostPeople, atMostPercent, manyTimes, number } from '../../maths/digits';
import { pmf, type Law } from '../../maths/laws';
import { posterior } from '../../maths/odds';

export interface OddsFacts {
  readonly prior: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly people: number;
  /** With δ, a bound holds for evidence that chance alone would give this often. */
  readonly chance: number;
  /** The noise of a count at ε = 1, as the mechanism calibrates it; its scale falls as 1/ε. */
  readonly law: Law;
  readonly problem: string;
}

export interface OddsSet {
  epsilon: number;
  prior: number;
  delta: number;
}

const PRIORS = [0.01, 0.1, 0.25, 0.5, 0.75];
/** The losses of the table, before the one that is set. */
export const EPSILONS = [0.1, 1, 3];
/** The least δ that can be set; at the end of the slider δ is 0. */
export const LEAST = 1e-10;
export const DELTAS = { low: LEAST, high: 0.01 };
/** Answers are drawn this far from the count. */
export const REACH = 12;

/** More than these are no picture any more, and a saved state may name any number. */
const MOST_DOTS = 20_000;

/** The dots of an icon array, row by row, as one path: a line of no length with a cap is a dot. */
export function dots(from: number, to: number, columns: number, gap: number): string {
  let path = '';
  for (let i = Math.max(from, 0); i < Math.min(to, MOST_DOTS); i++) {
    path += `M${(i % columns) * gap + gap / 2} ${Math.floor(i / columns) * gap + gap / 2}h0`;
  }
  return path;
}

/** How many of `people` hold before and after, rounded so that the bound stays a bound. */
export function counts(prior: number, bound: number, people: number): { before: number; after: number } {
  const up = (share: number): number => Math.ceil(share * people - 1e-9);
  return { before: up(prior), after: Math.min(up(bound), people) };
}

/** The most that a belief becomes. */
export function after({ chance }: OddsFacts, prior: number, epsilon: number, delta: number): number {
  return posterior(prior, epsilon, delta, delta > 0 ? chance : null);
}

/** A belief as it is set: the most that it becomes, in people and in a sentence. */
export interface Belief {
  readonly most: number;
  readonly before: number;
  readonly after: number;
  /** `25 % → 47.6 %`. */
  readonly bound: string;
  readonly sentence: string;
}

export function beliefOf(facts: OddsFacts, { epsilon, prior, delta }: OddsSet): Belief {
  const { people } = facts;
  const most = after(facts, prior, epsilon, delta);
  const shown = counts(prior, most, people);
  const share = number(100 * prior);
  return {
    most,
    ...shown,
    bound: `${share} % → ${atMostPercent(most)}`,
    sentence:
      `An honest ${share} % guess becomes at most ${atMostPercent(most)}: of ${number(people)} people like this, ` +
      `${number(shown.before)} before and at most ${atMostPeople(most, people)} after.`
  };
}

/** What a δ takes away from the promise. */
export function permitted({ chance }: OddsFacts, delta: number): string {
  return delta === 0
    ? 'This holds for every answer.'
    : `With δ it holds for evidence that chance alone gives ${number(100 * chance)} % of the time; ` +
        `about 1 answer in ${number(Math.floor(1 / delta))} may tell everything.`;
}

/** The beliefs of the table, the one that is set among them, and what each becomes at each loss. */
export function tableOf(
  facts: OddsFacts,
  { epsilon, prior, delta }: OddsSet
): { readonly prior: number; readonly cells: readonly string[] }[] {
  return [...new Set([...PRIORS, prior])]
    .sort((a, b) => a - b)
    .map(one => ({
      prior: one,
      cells: [...EPSILONS, epsilon].map(loss => atMostPercent(after(facts, one, loss, delta)))
    }));
}

/** The answers of a count, each with how likely it is beside the likeliest; `shift` counts one person more. */
export function answers({ law }: OddsFacts, epsilon: number, shift: number): (readonly [number, number])[] {
  const noise: Law = { kind: law.kind, scale: law.scale / epsilon };
  const top = pmf(noise, 0);
  return Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH).map(
    k => [k, pmf(noise, k - shift) / top] as const
  );
}

/** An answer that can be drawn. */
export const answerAt = (value: number): number => Math.min(Math.max(Math.round(value), -REACH), REACH);

/** How much likelier an answer is in one world than in the other. */
export function ratioWords({ law }: OddsFacts, epsilon: number, output: number): string {
  const noise: Law = { kind: law.kind, scale: law.scale / epsilon };
  const likelier = pmf(noise, output - 1) / pmf(noise, output);
  const [side, odds] = likelier >= 1 ? ['with you', likelier] : ['without you', 1 / likelier];
  return (
    `Drag the line to a released answer: this one is ${manyTimes(odds)} times as likely ${side}. ` +
    `No answer is more than e^ε times as likely, here ${manyTimes(Math.exp(epsilon))} times.`
  );
}

/** An answer for who hears it. */
export const answerWords = (output: number): string =>
  `the true count without you ${output < 0 ? 'minus' : 'plus'} ${Math.abs(output)}`;
