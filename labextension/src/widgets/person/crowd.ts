/** Where people stand in a drawing: in a stack, in a lane for each arm, or by their score. */
import type { People, Statistic } from '../../maths/person';

export type Place = 'stack' | 'lanes' | 'scores';

/** How a statistic's people are drawn. */
export function placeOf(kind: Statistic): Place {
  return kind === 'difference' ? 'lanes' : kind === 'matched' || kind === 'slope' ? 'scores' : 'stack';
}

export interface Ground {
  /** Where a value lies across. */
  readonly x: (value: number) => number;
  readonly top: number;
  readonly floor: number;
}

const GAP = 12;

/** How high each person stands; those at one place stand on each other. */
export function heights(people: People, place: Place, { x, top, floor }: Ground): number[] {
  if (place === 'scores') {
    return people.scores.map(score => floor - 8 - score * (floor - top - 16));
  }
  const columns = new Map<string, number>();
  const lane = (floor - top) / 2;
  return people.values.map((value, i) => {
    const arm = place === 'lanes' ? people.arms[i]! : 0;
    const column = `${arm}:${Math.round(x(value) / GAP)}`;
    const height = columns.get(column) ?? 0;
    columns.set(column, height + 1);
    return floor - arm * lane - 8 - height * GAP;
  });
}

/** The score at a height, from 0 to 1, or the arm. */
export function readAt(
  height: number,
  place: Place,
  { top, floor }: Ground
): { score?: number; arm?: number } {
  if (place === 'scores') {
    return { score: Math.min(Math.max((floor - 8 - height) / (floor - top - 16), 0), 1) };
  }
  return place === 'lanes' ? { arm: height < (top + floor) / 2 ? 1 : 0 } : {};
}

/** People as one path: round for the first arm, or square for the second. */
export function marks(
  people: People,
  tall: readonly number[],
  x: (value: number) => number,
  drawn: (i: number) => boolean
): string {
  return people.values
    .map((value, i) => (drawn(i) ? `M${x(value).toFixed(1)} ${tall[i]!.toFixed(1)}h0` : ''))
    .join('');
}
