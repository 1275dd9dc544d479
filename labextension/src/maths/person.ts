/** What one person can do to a statistic of a small table. Twin of `dpnb/widgets/kinds/person.py`. */

export type Statistic = 'mean' | 'sum' | 'count' | 'median' | 'sd' | 'difference' | 'matched' | 'slope';

export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** A value, an arm of 0 or 1 and a score from 0 to 1 for each person. */
export interface People {
  readonly values: readonly number[];
  readonly arms: readonly number[];
  readonly scores: readonly number[];
}

/** The largest difference of scores within a pair. */
const CALIPER = 0.06;

const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => total(values) / values.length;

/** Second-arm people choose in their order, each the nearest first-arm person still free; ties go to the lower place. */
export function match({ arms, scores }: People): [number, number][] {
  const free = new Set(arms.flatMap((arm, i) => (arm === 0 ? [i] : [])));
  const pairs: [number, number][] = [];
  arms.forEach((arm, i) => {
    if (arm !== 1) {
      return;
    }
    let best = -1;
    let least = Infinity;
    for (const j of free) {
      const distance = Math.abs(scores[j]! - scores[i]!);
      if (distance <= CALIPER && (distance < least || (distance === least && j < best))) {
        [best, least] = [j, distance];
      }
    }
    if (best >= 0) {
      free.delete(best);
      pairs.push([i, best]);
    }
  });
  return pairs;
}

/** A statistic of values clamped to public bounds; null where the table has none. `count` counts values above the middle. */
export function statistic(kind: Statistic, people: People, { low, high }: Bounds): number | null {
  const inside = people.values.map(value => Math.min(Math.max(value, low), high));
  switch (kind) {
    case 'sum':
      return total(inside);
    case 'mean':
      return mean(inside);
    case 'count':
      return inside.filter(value => value > (low + high) / 2).length;
    case 'median':
      return [...inside].sort((a, b) => a - b)[Math.floor((inside.length - 1) / 2)]!;
    case 'sd': {
      const middle = mean(inside);
      return Math.sqrt(mean(inside.map(value => (value - middle) ** 2)));
    }
    case 'difference': {
      const arm = (which: number): number[] => inside.filter((_, i) => people.arms[i] === which);
      const [none, one] = [arm(0), arm(1)];
      return none.length === 0 || one.length === 0 ? null : mean(one) - mean(none);
    }
    case 'matched': {
      const gaps = match(people).map(([i, j]) => inside[i]! - inside[j]!);
      return gaps.length === 0 ? null : mean(gaps);
    }
    case 'slope': {
      const [middle, level] = [mean(people.scores), mean(inside)];
      const spread = total(people.scores.map(score => (score - middle) ** 2));
      return spread < 1e-12
        ? null
        : total(people.scores.map((score, i) => (score - middle) * (inside[i]! - level))) / spread;
    }
  }
}

export interface Move {
  readonly person: number;
  readonly to: number;
  readonly arm: number;
  readonly score: number;
  readonly change: number;
}

function put(listed: readonly number[], i: number, value: number): number[] {
  return listed.map((old, place) => (place === i ? value : old));
}

/** A table in which one person was moved. */
export function moved(people: People, i: number, to: number, arm: number, score: number): People {
  return {
    values: put(people.values, i, to),
    arms: put(people.arms, i, arm),
    scores: put(people.scores, i, score)
  };
}

/** The largest change found by moving one person: to either bound, either arm, or anybody's score or an end of it. */
export function worst(kind: Statistic, people: People, bounds: Bounds): Move {
  const before = statistic(kind, people, bounds);
  const { values, arms, scores } = people;
  let found: Move = { person: 0, to: values[0]!, arm: arms[0]!, score: scores[0]!, change: 0 };
  for (let person = 0; person < values.length; person++) {
    const own = scores[person]!;
    const reach = kind === 'slope' ? [own, 0, 1] : kind === 'matched' ? [own, ...scores, 0, 1] : [own];
    for (const to of [bounds.low, bounds.high]) {
      for (const arm of kind === 'difference' || kind === 'matched' ? [0, 1] : [arms[person]!]) {
        for (const score of reach) {
          const after = statistic(kind, moved(people, person, to, arm, score), bounds);
          const change = before === null || after === null ? 0 : after - before;
          if (Math.abs(change) > Math.abs(found.change) + 1e-12) {
            found = { person, to, arm, score, change };
          }
        }
      }
    }
  }
  return found;
}
