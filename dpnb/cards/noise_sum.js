// The law of a sum of Laplace and Gaussian errors: the browser's twin of dpnb/inference/noise_sum.py, held to it by shared cases.
"use strict";

const SPREAD = 1.02;
const MOST = 6;
const NARROW = 30;

function erfc(x) {
  // W. J. Cody-style continued fraction outside, series inside: relative error below 1e-12.
  const z = Math.abs(x);
  let r;
  if (z < 2) {
    let term = z, sum = z;
    for (let n = 1; n < 200; n += 1) {
      term *= (-z * z) / n;
      const add = term / (2 * n + 1);
      sum += add;
      if (Math.abs(add) < 1e-17 * Math.abs(sum)) break;
    }
    r = 1 - (2 / Math.sqrt(Math.PI)) * sum;
  } else {
    let f = 0;
    for (let k = 120; k > 0; k -= 1) f = (k / 2) / (z + f);
    r = Math.exp(-z * z) / (Math.sqrt(Math.PI) * (z + f));
  }
  return x >= 0 ? r : 2 - r;
}

function logNdtr(x) {
  if (x > -20) return Math.log(0.5 * erfc(-x / Math.SQRT2));
  const i = 1 / (x * x);
  return -0.5 * x * x - Math.log(-x * Math.sqrt(2 * Math.PI)) + Math.log1p(-i * (1 - 3 * i));
}

function expPhi(exponent, x) {
  const total = exponent + logNdtr(x);
  return total > -745 ? Math.exp(total) : 0;
}

function normalLaplaceTail(t, s, b) {
  const half = 0.5 * (s / b) ** 2;
  const body = 0.5 * erfc(t / s / Math.SQRT2);
  return body + 0.5 * (expPhi(half - t / b, t / s - s / b) - expPhi(half + t / b, -t / s - s / b));
}

function distinct(scales) {
  if (scales.length === 0) return [];
  const spread = [...scales].sort((a, b) => a - b);
  const before = spread.reduce((sum, b) => sum + b * b, 0);
  for (let i = 1; i < spread.length; i += 1) spread[i] = Math.max(spread[i], spread[i - 1] * SPREAD);
  const ratio = Math.sqrt(before / spread.reduce((sum, b) => sum + b * b, 0));
  return spread.reverse().map((b) => b * ratio);
}

function noiseSum(variance, scales, slack) {
  let s2 = variance;
  let kept = scales.filter((b) => b > 0).sort((a, b) => b - a);
  const total = variance + kept.reduce((sum, b) => sum + 2 * b * b, 0);
  while (kept.length > MOST) s2 += 2 * kept.pop() ** 2;
  if (s2 > 0) {
    const root = Math.sqrt(s2);
    const narrow = kept.filter((b) => root > NARROW * b);
    kept = kept.filter((b) => root <= NARROW * b);
    s2 += narrow.reduce((sum, b) => sum + 2 * b * b, 0);
  }
  const s = Math.sqrt(s2);
  const b = distinct(kept);
  const weights = b.map((x, j) => b.reduce((p, y, i) => (i === j ? p : (p * x * x) / (x * x - y * y)), 1));
  function tail(at) {
    const t = at - slack;
    if (t <= 0) return 1;
    let found;
    if (b.length === 0) found = s > 0 ? erfc(t / s / Math.SQRT2) : 0;
    else if (s === 0) found = weights.reduce((sum, w, j) => sum + w * Math.exp(-t / b[j]), 0);
    else found = 2 * weights.reduce((sum, w, j) => sum + w * normalLaplaceTail(t, s, b[j]), 0);
    return Math.min(Math.max(found, 0), 1);
  }
  function radius(alpha) {
    if (total === 0) return slack;
    let low = 0;
    let high = Math.sqrt(total) * 2 + slack;
    while (tail(high) > alpha) { low = high; high *= 2; }
    for (let i = 0; i < 60 && high - low >= 1e-9 * high; i += 1) {
      const middle = 0.5 * (low + high);
      if (tail(middle) > alpha) low = middle; else high = middle;
    }
    return high;
  }
  return { tail, radius, total };
}

// What the difference of two proportions would look like at another epsilon; `facts` comes from the release.
function differenceAt(facts, epsilon) {
  const b = facts.sensitivity / epsilon;
  const scales = [];
  let slack = 0;
  let sampling = 0;
  let wider = 0;
  for (const arm of facts.arms) {
    const unit = 0.5 / arm.n;
    for (const side of [1 - arm.mean, 1 + arm.mean]) {
      scales.push(b * Math.abs(side) * unit);
      slack += 0.5 * Math.abs(side) * unit;
    }
    const variance = (0.25 * (1 - arm.mean * arm.mean)) / arm.n;
    sampling += variance;
    wider += variance * arm.inflation;
  }
  const noise = noiseSum(0, scales, slack);
  const n = facts.arms.reduce((sum, arm) => sum + arm.n, 0);
  return {
    privacy: noise.radius(0.05),
    confidence: noiseSum(wider, scales, slack).radius(0.05),
    effective: (n * sampling) / (sampling + noise.total),
    people: n,
  };
}

// An honest guess of `prior` becomes at most this.
function posterior(prior, epsilon) {
  return 1 / (1 + ((1 - prior) / prior) * Math.exp(-epsilon));
}

if (typeof module !== "undefined") module.exports = { erfc, noiseSum, differenceAt, posterior };
