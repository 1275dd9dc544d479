/** What a privacy loss means for one person. Twin of `dpnb/risk/odds.py`. */
/** The most that a belief can become after an (ε, δ)-private release; with δ, at false-alarm rate `chance`. */
export function posterior(prior: number, epsilon: number, delta = 0, chance: number | null = null): number {
  if (delta === 0 && chance === null) {
    return prior / (prior + (1 - prior) * Math.exp(-epsilon));
  }
  const alpha = chance ?? 0.05;
  const power = membershipPower(alpha, epsilon, delta);
  return (prior * power) / (prior * power + (1 - prior) * alpha);
}

/** The least false-negative rate at false-positive rate `alpha` under (ε, δ). */
function tradeoff(alpha: number, epsilon: number, delta = 0): number {
  const steep = alpha === 0 ? 1 - delta : 1 - delta - Math.exp(epsilon) * alpha;
  return Math.max(0, steep, Math.exp(-epsilon) * (1 - delta - alpha));
}

/** The most power that any test of membership has at false-positive rate `alpha`. */
export function membershipPower(alpha: number, epsilon: number, delta = 0): number {
  return 1 - tradeoff(alpha, epsilon, delta);
}

/**
 * What the whole (ε, δ) of a secret random sample means for one person of its population: once, for everything that is ever released.
 * Twin of `dpnb/risk/sample.py`.
 */
export function secrecyOfTheSample(epsilon: number, share: number, delta = 0): [number, number] {
  return [Math.log1p(share * Math.expm1(epsilon)), share * delta];
}
