/** Budget arithmetic for pictures; the ledger's own is exact and in the curator. Twin of `dpnb/widgets/arithmetic.py`. */

/** Which part of a cap a loss takes, from 0 to 1. */
export function usedShare(loss: number, cap: number): number {
  return cap > 0 ? Math.min(Math.max(loss / cap, 0), 1) : 0;
}

/** The shares of a batch's loss: questions with a loss of their own first, the rest by weight. */
export function split(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map(weight => (sum > 0 ? (total * weight) / sum : 0));
}

/** Move the divider between question `i` and `i + 1`, keeping every share at least `least`. */
export function divide(shares: readonly number[], i: number, to: number, least: number): number[] {
  const found = [...shares];
  const before = shares.slice(0, i).reduce((a, b) => a + b, 0);
  const pair = shares[i]! + shares[i + 1]!;
  const first = Math.min(Math.max(to - before, least), pair - least);
  found[i] = first;
  found[i + 1] = pair - first;
  return found;
}

/** Small whole weights that stand for some shares, to one part in a hundred: `[0.5, 0.25, 0.25]` is 2:1:1. */
export function wholeWeights(shares: readonly number[]): number[] {
  const total = shares.reduce((a, b) => a + b, 0);
  for (let parts = shares.length; parts <= 100; parts++) {
    const tried = shares.map(share => Math.round((share / total) * parts));
    const close = tried.every((w, i) => w > 0 && Math.abs(w / parts - shares[i]! / total) <= 0.0051);
    if (close && tried.reduce((a, b) => a + b, 0) === parts) {
      return tried;
    }
  }
  return shares.map(share => Math.max(1, Math.round((share / total) * 100)));
}

/** How many rows without noise would be as accurate. Twin of `dpnb.inference.effective_size`. */
export function effectiveSize(n: number, sampling: number, noise: number): number {
  const total = sampling + noise;
  return Number.isFinite(total) && total > 0 && n > 0 ? (n * sampling) / total : 0;
}

/** The half-width of two independent answers combined by inverse variance. */
export function combined(first: number, second: number): number {
  return 1 / Math.sqrt(1 / (first * first) + 1 / (second * second));
}
