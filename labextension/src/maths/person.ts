/** What one person can do to a statistic of a small table. Twin of `dpnb/widgets/person.py`. */

export type Statistic = 'mean' | 'sum' | 'count' | 'median';

export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** The statistic of values clamped to public bounds; `count` counts values above the middle of the bounds. */
export function statistic(kind: Statistic, values: readonly number[], { low, high }: Bounds): number {
  const inside = values.map(value => Math.min(Math.max(value, low), high));
  const sum = inside.reduce((a, b) => a + b, 0);
  switch (kind) {
    case 'sum':
      return sum;
    case 'mean':
      return sum / inside.length;
    case 'count':
      return inside.filter(value => value > (low + high) / 2).length;
    case 'median': {
      const sorted = [...inside].sort((a, b) => a - b);
      return sorted[Math.floor((sorted.length - 1) / 2)]!;
    }
  }
}

export interface Move {
  readonly person: number;
  readonly to: number;
  readonly change: number;
}

/** The largest change that one person can make to this table by moving anywhere between the bounds. */
export function worst(kind: Statistic, values: readonly number[], bounds: Bounds): Move {
  const before = statistic(kind, values, bounds);
  let found: Move = { person: 0, to: values[0]!, change: 0 };
  for (let person = 0; person < values.length; person++) {
    for (const to of [bounds.low, bounds.high]) {
      const moved = values.map((value, i) => (i === person ? to : value));
      const change = statistic(kind, moved, bounds) - before;
      if (Math.abs(change) > Math.abs(found.change) + 1e-12) {
        found = { person, to, change };
      }
    }
  }
  return found;
}
