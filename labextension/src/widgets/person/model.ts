/** One person moved in a small table: where everybody stands, and what the move does to the statistic and to its words. No DOM. */
import { halfWidth, number, significant } from '../../maths/digits';
import {
  moved,
  statistic,
  worst,
  type Bounds,
  type Move,
  type People,
  type Statistic
} from '../../maths/person';
import { placeOf } from './crowd';

export interface Noise {
  /** The most that one person can ever do, as the price of the question states it; null where no table bounds it. */
  readonly sensitivity: number | null;
  /** The scale of the noise at ε = 1, in the unit of the statistic; null where none is added. */
  readonly scale: number | null;
}

export interface PersonFacts extends People {
  readonly low: number;
  readonly high: number;
  readonly kind: Statistic;
  readonly noise: Readonly<Record<Statistic, Noise>>;
  readonly epsilon: number;
  readonly problem: string;
}

export interface PersonSet {
  values: number[];
  arms: number[];
  scores: number[];
  kind: Statistic;
  epsilon: number;
}

export const NAMES: Record<Statistic, string> = {
  mean: 'mean',
  sum: 'sum',
  count: 'count above the middle',
  median: 'median',
  sd: 'standard deviation',
  difference: 'difference of two arms',
  matched: 'difference within matched pairs',
  slope: 'slope along the score'
};
export const KINDS = Object.entries(NAMES) as [Statistic, string][];
/** Where the pictures say what up and down mean. */
const UPRIGHT: Partial<Record<Statistic, string>> = {
  difference: 'Upper lane: second arm. Drag somebody across.',
  matched: 'Up and down is the score; lines join pairs of like score. Drag somebody out of a pair.',
  slope: 'Up and down is the score; the line is the slope of the value along it.'
};
const UNBOUNDED: Partial<Record<Statistic, string>> = {
  median:
    'In some tables one person moves the median across the whole range: noise of that size would leave no answer, so a median is selected instead.',
  slope:
    'In some tables one person turns the slope as far as they like, so the sums behind it are noised, never the slope.'
};

const signed = (change: number): string =>
  change === 0 ? '0' : `${change < 0 ? '−' : '+'}${halfWidth(Math.abs(change))}`;

/** What a drag across or upward means for a statistic. */
export const uprightWords = (kind: Statistic): string =>
  UPRIGHT[kind] ?? 'Drag a dot across, also past the bounds.';

/** Where the view begins. */
export const startOf = ({ values, arms, scores, kind, epsilon }: PersonFacts): PersonSet => ({
  values: [...values],
  arms: [...arms],
  scores: [...scores],
  kind,
  epsilon
});

/** The values that a person can be dragged to: a seventh of the width outside each bound. */
export function reachOf({ low, high }: Bounds): Bounds {
  const margin = (high - low) / 7;
  return { low: low - margin, high: high + margin };
}

export const inside = (value: number, { low, high }: Bounds): number => Math.min(Math.max(value, low), high);

/** The largest move of the table as it was; found once for each statistic. */
export function largestMoves(facts: PersonFacts): (kind: Statistic) => Move {
  const found = new Map<Statistic, Move>();
  return kind => {
    const move = found.get(kind) ?? worst(kind, facts, facts);
    found.set(kind, move);
    return move;
  };
}

/** What the moved person did to the statistic: null where it is defined before or after for no table. */
export interface Change {
  readonly from: number | null;
  readonly to: number | null;
  readonly change: number | null;
}

export function changeOf(facts: PersonFacts, now: PersonSet): Change {
  const from = statistic(now.kind, facts, facts);
  const to = statistic(now.kind, now, facts);
  return { from, to, change: from === null || to === null ? null : to - from };
}

/** The change as the screen says it, with its sign. */
export function changeWords(change: number | null): string {
  return change === null ? 'undefined' : signed(change);
}

/** What bounds the move of one person in any table. */
export function sensitivityWords({ noise }: PersonFacts, kind: Statistic): string {
  const { sensitivity } = noise[kind];
  return sensitivity !== null
    ? significant(sensitivity, 3)
    : kind === 'slope'
      ? 'no bound'
      : 'the whole range';
}

/** What the noise does with the change, and that a person past the bounds is counted as at them. */
export function sentence(
  facts: PersonFacts,
  { kind, epsilon }: PersonSet,
  value: number,
  change: number | null
): string {
  const { scale, sensitivity } = facts.noise[kind];
  const counted = inside(value, facts);
  const outside = value === counted ? '' : ` They are past the bounds and counted as ${number(counted)}.`;
  if (change === null) {
    return `This table has no ${NAMES[kind]}: an arm is empty, or nobody has a pair.${outside}`;
  }
  if (scale === null) {
    return `${UNBOUNDED[kind] ?? ''}${outside}`;
  }
  const size = significant(scale / epsilon, 3);
  const why =
    sensitivity === null
      ? `In some tables one person moves it across the whole range, so its sums and counts are noised: in this table as if by scale ${size}.`
      : `Noise of scale ${size} hides it.`;
  return (
    `${why} From a released answer nobody can tell the two tables ` +
    `apart by more than a factor of ${significant(Math.exp(epsilon), 3)}.${outside}`
  );
}

/** Where one person stands, for who hears it. */
export function personWords(
  facts: PersonFacts,
  { kind, values, arms, scores }: PersonSet,
  person: number
): string {
  const [value, place] = [values[person]!, placeOf(kind)];
  const counted = inside(value, facts);
  return [
    `at ${number(value)}`,
    value === counted ? '' : `, counted as ${number(counted)}`,
    place === 'lanes' || kind === 'matched' ? `, arm ${arms[person]! + 1}` : '',
    place === 'scores' ? `, score ${significant(scores[person]!, 2)}` : ''
  ].join('');
}

/** One person elsewhere, everybody else where they are. */
export function put(
  facts: PersonFacts,
  now: PersonSet,
  person: number,
  value: number,
  upward: { readonly score?: number; readonly arm?: number }
): People {
  const { arm = now.arms[person]!, score = now.scores[person]! } = upward;
  return moved(now, person, inside(value, reachOf(facts)), arm, score);
}

/** What a key does: another person is chosen, or this one moves. */
export type Step =
  | { readonly person: number }
  | { readonly value: number; readonly upward: { readonly score?: number; readonly arm?: number } };

/** A step of a key: by pages, and upward in a stack, from person to person; else a fiftieth across or a part of a score upward. */
export function stepOf(facts: PersonFacts, now: PersonSet, person: number, across: number, up: number): Step {
  const where = placeOf(now.kind);
  const people = now.values.length;
  if (Math.abs(across) === 10 || (up !== 0 && where === 'stack')) {
    return { person: (person + Math.sign(across + up) + people) % people };
  }
  const { low, high } = reachOf(facts);
  const score = Math.min(Math.max(now.scores[person]! + up / 25, 0), 1);
  const arm = up === 0 ? now.arms[person]! : up > 0 ? 1 : 0;
  return {
    value: now.values[person]! + across * ((high - low) / 50),
    upward: where === 'scores' ? { score } : where === 'lanes' ? { arm } : {}
  };
}
