/** The law of a sum of independent Laplace and Gaussian errors. Twin of `dpnb/inference/noise_sum.py`. */
import { erfc } from './normal';

const SPREAD = 1.02;
const MOST = 6;
const NARROW = 30;
const STEPS = 60;

function logNdtr(x: number): number {
  if (x > -20) {
    return Math.log(0.5 * erfc(-x / Math.SQRT2));
  }
  const inverse = 1 / (x * x);
  return (
    -0.5 * x * x -
    Math.log(-x * Math.sqrt(2 * Math.PI)) +
    Math.log1p(-inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse))))
  );
}

function expPhi(exponent: number, x: number): number {
  const total = exponent + logNdtr(x);
  return total > -745 ? Math.exp(total) : 0;
}

/** `P(X > t)` and the density of a Gaussian plus a Laplace variable. */
function normalLaplace(t: number, s: number, b: number): [number, number] {
  const half = 0.5 * (s / b) ** 2;
  const rise = expPhi(half - t / b, t / s - s / b);
  const fall = expPhi(half + t / b, -t / s - s / b);
  return [0.5 * erfc(t / s / Math.SQRT2) + 0.5 * (rise - fall), (0.5 / b) * (rise + fall)];
}

/** Equal scales spread apart, largest first, at equal total variance. */
function distinct(scales: readonly number[]): number[] {
  const spread = [...scales].sort((a, b) => a - b);
  const before = spread.reduce((sum, b) => sum + b * b, 0);
  for (let i = 1; i < spread.length; i++) {
    spread[i] = Math.max(spread[i]!, spread[i - 1]! * SPREAD);
  }
  const after = spread.reduce((sum, b) => sum + b * b, 0);
  return spread.reverse().map(b => b * Math.sqrt(before / after));
}

interface Terms {
  readonly s: number;
  readonly terms: readonly (readonly [number, number])[];
}

/** The Gaussian standard deviation and the signed mixture `[weight, scale]`. */
function termsOf(variance: number, scales: readonly number[]): Terms {
  let s2 = variance;
  let kept = scales.filter(b => b > 0).sort((a, b) => b - a);
  while (kept.length > MOST) {
    s2 += 2 * kept.pop()! ** 2;
  }
  if (s2 > 0) {
    const wide = Math.sqrt(s2);
    s2 += kept.filter(b => wide > NARROW * b).reduce((sum, b) => sum + 2 * b * b, 0);
    kept = kept.filter(b => wide <= NARROW * b);
  }
  const found = kept.length === 0 ? [] : distinct(kept);
  const weight = (b: number, j: number): number =>
    found.reduce(
      (product, other, i) => (i === j ? product : product * ((b * b) / (b * b - other * other))),
      1
    );
  return { s: Math.sqrt(s2), terms: found.map((b, j) => [weight(b, j), b] as const) };
}

function tailOf({ s, terms }: Terms, t: number): [number, number] {
  if (terms.length === 0) {
    return s === 0
      ? [0, 0]
      : [erfc(t / s / Math.SQRT2), (Math.exp(-0.5 * (t / s) ** 2) * Math.sqrt(2 / Math.PI)) / s];
  }
  let [tail, density] = [0, 0];
  for (const [weight, b] of terms) {
    const part = weight * Math.exp(-t / b);
    const [more, dense] = s === 0 ? [part, part / b] : normalLaplace(t, s, b).map(x => 2 * weight * x);
    tail += more!;
    density += dense!;
  }
  return [tail, density];
}

/** The smallest `t` with `P(|error| > t) ≤ alpha`; Newton's method on the logarithm of the tail. */
export function radius(variance: number, scales: readonly number[], alpha: number): number {
  const whole = variance + scales.reduce((sum, b) => sum + 2 * b * b, 0);
  if (whole === 0) {
    return 0;
  }
  const terms = termsOf(variance, scales);
  const target = Math.log(alpha);
  let t = 2 * Math.sqrt(whole);
  for (let i = 0; i < STEPS; i++) {
    const [tail, density] = tailOf(terms, t);
    const step = ((Math.log(tail) - target) * tail) / density;
    t = Math.max(t + step, 0.5 * t);
    if (Math.abs(step) < 1e-12 * t) {
      break;
    }
  }
  return t;
}
