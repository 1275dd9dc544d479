/** A priced curve, loss → half-width, read between its points on log-log paper. Twin of `dpnb/widgets/curve.py`. */

export interface Curve {
  readonly loss: readonly number[];
  readonly width: readonly number[];
}

/** Between two points a power law; beyond the ends, the end. */
export function widthAt(curve: Curve, loss: number): number {
  return between(curve.loss, curve.width, loss);
}

/** The smallest loss whose half-width is at most `width`; null where the curve never gets there. */
export function lossFor(curve: Curve, width: number): number | null {
  const { loss, width: widths } = curve;
  const last = widths.length - 1;
  if (!(width >= widths[last]!)) {
    return null;
  }
  if (width >= widths[0]!) {
    return loss[0]!;
  }
  let i = 1;
  while (widths[i]! > width) {
    i++;
  }
  const [a, b] = [Math.log(widths[i - 1]!), Math.log(widths[i]!)];
  const share = a === b ? 1 : (a - Math.log(width)) / (a - b);
  return Math.exp(Math.log(loss[i - 1]!) + share * (Math.log(loss[i]!) - Math.log(loss[i - 1]!)));
}

function between(xs: readonly number[], ys: readonly number[], x: number): number {
  const last = xs.length - 1;
  if (x <= xs[0]!) {
    return ys[0]!;
  }
  if (x >= xs[last]!) {
    return ys[last]!;
  }
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle]! <= x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const share = (Math.log(x) - Math.log(xs[low]!)) / (Math.log(xs[high]!) - Math.log(xs[low]!));
  return Math.exp(Math.log(ys[low]!) + share * (Math.log(ys[high]!) - Math.log(ys[low]!)));
}
