/** The laws of the noise on the integers. Twin of `dpnb/trusted/noise/law.py`; the scale comes from the kernel, which priced it. */
import { erfc, normalQuantile } from './normal';

export interface Law {
  readonly kind: 'discrete-laplace' | 'discrete-gaussian';
  /** The scale of a discrete Laplace law, or the σ of a discrete Gaussian, in grid steps. */
  readonly scale: number;
}

const TABLE_SIGMA = 1000;

interface Table {
  mass: Float64Array;
  above: Float64Array;
}

const tables = new Map<number, Table>();

/** Probabilities of 0, 1, 2, … and the tails above them, of a narrow discrete Gaussian. */
function table(sigma: number): Table {
  const known = tables.get(sigma);
  if (known !== undefined) {
    return known;
  }
  const reach = Math.ceil(39 * sigma) + 2;
  const mass = new Float64Array(reach + 1);
  const above = new Float64Array(reach + 1);
  for (let k = 0; k <= reach; k++) {
    mass[k] = Math.exp((-k * k) / (2 * sigma * sigma));
  }
  for (let k = reach - 1; k >= 0; k--) {
    above[k] = above[k + 1]! + mass[k + 1]!;
  }
  const total = mass[0]! + 2 * above[0]!;
  for (let k = 0; k <= reach; k++) {
    mass[k] = mass[k]! / total;
    above[k] = above[k]! / total;
  }
  if (tables.size > 32) {
    tables.clear();
  }
  tables.set(sigma, { mass, above });
  return { mass, above };
}

/** P(K = k). */
export function pmf(law: Law, k: number): number {
  const at = Math.abs(Math.floor(k));
  if (law.kind === 'discrete-laplace') {
    return Math.tanh(0.5 / law.scale) * Math.exp(-at / law.scale);
  }
  const peak =
    law.scale <= TABLE_SIGMA ? table(law.scale).mass[0]! : 1 / (law.scale * Math.sqrt(2 * Math.PI));
  return peak * Math.exp((-at * at) / (2 * law.scale * law.scale));
}

/** P(K > k) for k ≥ 0. */
function tail(law: Law, k: number): number {
  if (law.kind === 'discrete-laplace') {
    return Math.exp(-(k + 1) / law.scale) / (1 + Math.exp(-1 / law.scale));
  }
  if (law.scale <= TABLE_SIGMA) {
    const above = table(law.scale).above;
    return above[Math.min(k, above.length - 1)]!;
  }
  const z = (k + 0.5) / law.scale;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return 0.5 * erfc(z / Math.SQRT2) - (z * density) / (24 * law.scale * law.scale);
}

/** P(K > k). */
export function sf(law: Law, k: number): number {
  const at = Math.floor(k);
  return at >= 0 ? tail(law, at) : 1 - tail(law, -at - 1);
}

/** P(K ≤ k). */
export function cdf(law: Law, k: number): number {
  return sf(law, -Math.floor(k) - 1);
}

/** Whether a law is one: no noise is wider than 2^48 steps, and whole numbers are exact well beyond. A saved one may be anything. */
const isLaw = (law: Law): boolean => law.scale > 0 && law.scale <= 2 ** 50;

/** The smallest integer x ≥ 0 with P(|K| > x) ≤ alpha; not a number where there is no such law. */
export function tailRadius(law: Law, alpha: number): number {
  if (!isLaw(law) || !(alpha > 0)) {
    return NaN;
  }
  const rate = 1 / law.scale;
  const start =
    law.kind === 'discrete-laplace'
      ? Math.ceil(-Math.log((alpha * (1 + Math.exp(-rate))) / 2) / rate - 1)
      : Math.ceil(-normalQuantile(alpha / 2) * law.scale - 0.5);
  let guess = Math.max(start, 0);
  while (guess > 0 && 2 * sf(law, guess - 1) <= alpha) {
    guess--;
  }
  while (2 * sf(law, guess) > alpha) {
    guess++;
  }
  return guess;
}

/** The smallest integer k with P(K ≤ k) ≥ p; not a number where there is none, or no such law. */
export function quantile(law: Law, p: number): number {
  if (!isLaw(law) || !(p > 0 && p < 1)) {
    return NaN;
  }
  const spread = law.kind === 'discrete-laplace' ? law.scale * Math.SQRT2 : law.scale;
  let low = -1;
  let high = 1;
  for (let step = Math.ceil(spread); cdf(law, low) >= p; step *= 2) {
    low -= step;
  }
  for (let step = Math.ceil(spread); cdf(law, high) < p; step *= 2) {
    high += step;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (cdf(law, middle) >= p) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

/** The variance of the law itself, in squared grid steps. */
export function variance(law: Law): number {
  if (law.kind === 'discrete-laplace') {
    const rate = 1 / law.scale;
    return (2 * Math.exp(-rate)) / Math.expm1(-rate) ** 2;
  }
  if (law.scale > TABLE_SIGMA) {
    return law.scale * law.scale;
  }
  return 2 * table(law.scale).mass.reduce((sum, mass, k) => sum + mass * k * k, 0);
}
