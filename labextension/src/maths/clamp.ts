/** Bias and noise of a clamped mean, over public or simulated values. Twin of `dpnb/widgets/kinds/clamp.py`. */

export interface Errors {
  readonly bias: number;
  readonly noise: number;
  readonly rmse: number;
}

/** Sorted values with their running sums, so that each pair of bounds costs two searches. */
export interface Sorted {
  readonly values: readonly number[];
  readonly sums: readonly number[];
}

export function sorted(values: readonly number[]): Sorted {
  const ordered = [...values].sort((a, b) => a - b);
  const sums = [0];
  for (const value of ordered) {
    sums.push(sums[sums.length - 1]! + value);
  }
  return { values: ordered, sums };
}

/** How many values are below a bound. */
function below(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** `noise` is the sd of the noise on the mean for bounds one unit apart; it grows with their distance. */
export function errors(data: Sorted, low: number, high: number, noise: number): Errors {
  const n = data.values.length;
  const first = below(data.values, low);
  const last = below(data.values, high);
  const inner = data.sums[last]! - data.sums[first]!;
  const mean = (first * low + inner + (n - last) * high) / n;
  const bias = mean - data.sums[n]! / n;
  const spread = noise * (high - low);
  return { bias, noise: spread, rmse: Math.hypot(bias, spread) };
}
