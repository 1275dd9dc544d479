/** An attack as the kernel ran it, and what of it is read at a loss: shares, bounds and the sentence. Nothing is drawn here. */
import { atMostPeople, atMostPercent, number, significant } from '../../maths/digits';
import { place, type Range } from '../../maths/scale';

export interface Published {
  readonly key: string;
  readonly label: string;
  readonly note: string;
  /** One share, or one for each computed ε. */
  readonly recovered: readonly number[];
  readonly error: readonly number[];
  /** On an even logarithmic grid from the first ε to the last; null where nothing is promised. */
  readonly bound: readonly number[] | null;
  readonly falls: number | null;
}

export interface Attack {
  readonly goal: string;
  readonly guess: string;
  readonly loss: string;
  readonly epsilons: readonly number[];
  readonly baseline: number;
  /** Repetitions, each on new people. */
  readonly done: number;
  readonly publications: readonly Published[];
}

export interface AttackFacts {
  readonly attacks: readonly string[];
  readonly attack: string;
  readonly epsilon: number;
  readonly rng: number;
  readonly reps: number;
  readonly pulled: number;
  readonly run: Readonly<Record<string, Attack>>;
  readonly code: string;
  readonly problem: string;
}

export interface AttackSet {
  attack: string;
  published: string;
  epsilon: number;
  rng: number;
  reps: number;
  pull: number;
}

/** What the view sets by itself. */
export type State = Pick<AttackSet, 'attack' | 'published' | 'epsilon'>;

/** The publication that dpnb would make. */
export const PRIVATE = 'dp';

/** What was set last, as far as these facts know it. */
export function heard(facts: AttackFacts, chosen: Partial<AttackSet>): Partial<State> {
  const { attack, published, epsilon } = chosen;
  return {
    ...(attack !== undefined && facts.attacks.includes(attack) ? { attack } : {}),
    ...(published === undefined ? {} : { published }),
    ...(typeof epsilon === 'number' && epsilon > 0 ? { epsilon } : {})
  };
}

/** Where the view begins. */
export function startOf(facts: AttackFacts, chosen: Partial<AttackSet>): State {
  return { attack: facts.attack, published: PRIVATE, epsilon: facts.epsilon, ...heard(facts, chosen) };
}

/** A share in percent: two digits where it is small. */
export const percent = (share: number): string =>
  `${share > 0 && share < 0.0995 ? significant(100 * share, 2) : Math.round(100 * share)} %`;

const thousand = (share: number): string => number(Math.round(1000 * share));

/** Between two points, the straight line; a single point holds everywhere, and so does each end beyond itself. */
export function between(at: number, xs: readonly number[], ys: readonly number[]): number {
  const last = xs.length - 1;
  const right = xs.findIndex(x => x >= at);
  if (ys.length === 1 || right === 0) {
    return ys[0]!;
  }
  if (right < 0) {
    return ys[last]!;
  }
  const share = (at - xs[right - 1]!) / (xs[right]! - xs[right - 1]!);
  return ys[right - 1]! + share * (ys[right]! - ys[right - 1]!);
}

/** The losses that an attack was run at, from the first to the last. */
export const rangeOf = ({ epsilons }: Attack): Range => ({ low: epsilons[0]!, high: epsilons.at(-1)! });

/** A loss within those of an attack. */
export function within(range: Range, epsilon: number): number {
  return Math.min(Math.max(epsilon, range.low), range.high);
}

/** Where the simulated losses stand, from 0 to 1 along ln ε. */
export function placesOf(plan: Attack): number[] {
  const range = rangeOf(plan);
  return plan.epsilons.map(epsilon => place(range, epsilon));
}

/** What a publication gives at a loss: the share recovered, its standard error, and the most that the loss lets through. */
export interface Reading {
  readonly share: number;
  readonly error: number;
  readonly bound: number | null;
}

/** Read a publication at a loss; `plan` is the attack that it was run in. */
export function readingOf(plan: Attack, one: Published, epsilon: number): Reading {
  const at = place(rangeOf(plan), epsilon);
  const places = placesOf(plan);
  const even = (one.bound ?? []).map((_, i, all) => i / (all.length - 1));
  return {
    share: between(at, places, one.recovered),
    error: between(at, places, one.error),
    bound: one.bound === null ? null : between(at, even, one.bound)
  };
}

/** The publication that was chosen; the last where it is none of these. */
export const chosenOf = ({ publications }: Attack, key: string): Published =>
  publications.find(one => one.key === key) ?? publications.at(-1)!;

/** The publication whose curve is drawn: the chosen one where it has a curve. */
export const drawnOf = ({ publications }: Attack, one: Published): Published =>
  one.recovered.length > 1 ? one : publications.find(other => other.key === PRIVATE)!;

/** What is said of a loss at which an attack does no better than guessing. */
export const fallWords = (falls: number | null): string =>
  falls === null
    ? 'at every ε shown here it beats guessing'
    : `ε ${significant(falls, 3)} makes it no better than guessing`;

/** What a publication lets an attack recover, beside guessing and beside what the loss rules out. */
export function sentence(
  one: Published,
  { share, bound }: Reading,
  baseline: number,
  epsilon: number
): string {
  const told = `${one.note} The attack recovers ${percent(share)} (${thousand(share)} of 1,000); guessing recovers ${percent(baseline)} (${thousand(baseline)}).`;
  if (bound === null) {
    return `${told} Nothing is promised, so another attack may recover more.`;
  }
  const price = `ε ${significant(epsilon, 3)}`;
  const most = `${atMostPercent(bound)} (${atMostPeople(bound, 1000)} of 1,000)`;
  if (bound > 0.995) {
    return `${told} At this price (${price}) no attack is ruled out.`;
  }
  return share > bound + 0.03
    ? `${told} That is more than the ${most} that ${price} would allow: this noise does not keep its promise.`
    : `${told} At this price (${price}) no attack can expect more than ${most}.`;
}
