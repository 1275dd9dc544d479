/** Budget arithmetic for pictures; the ledger's own is exact and in the curator. Twin of `dpnb/widgets/arithmetic.py`. */
import { eventRho, type Event } from './composition';
import { lossFor, type Curve } from './curve';

/** What a loss of one costs; or the events of a loss of one, where ρ is counted and ε asked. */
export type Rate = number | readonly Event[];

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

const CLOSE = 1e-8;

/** Whether a stored answer is enough for a loss. */
export function covers(held: number | null, loss: number): boolean {
  return held !== null && loss <= held * (1 + CLOSE);
}

/** What a question is charged at a loss: nothing where a stored answer of its own covers that. */
export function costOf(loss: number, held: number | null, rate: Rate, power: number): number {
  if (loss === 0 || covers(held, loss)) {
    return 0;
  }
  return typeof rate === 'number'
    ? rate * loss ** power
    : rate.reduce((sum, event) => sum + eventRho(event, loss), 0);
}

/** A value rounded down to three significant digits. */
export function floored3(value: number): number {
  if (!(value > 0)) {
    return 0;
  }
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / unit + 1e-6) * unit).toExponential(2));
}

/** The largest loss of three digits, split by shares, that is charged at most what is left; at most `top`. */
export function largestLoss(
  shares: readonly number[],
  held: readonly (number | null)[],
  rates: readonly Rate[],
  power: number,
  left: number,
  top: number
): number {
  const charged = (loss: number): number =>
    shares.reduce((sum, share, i) => sum + costOf(loss * share, held[i]!, rates[i]!, power), 0);
  let [low, high] = [0, top];
  if (charged(high) <= left * (1 + 1e-9)) {
    return floored3(high);
  }
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (charged(middle) <= left) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return floored3(low);
}

function beyond(
  weights: readonly number[],
  held: readonly (number | null)[],
  free: readonly boolean[],
  total: number
): number[] {
  const whole = weights.reduce((a, b) => a + b, 0);
  return weights.flatMap((weight, i) =>
    free[i] === true && !covers(held[i]!, (total * weight) / whole) ? [i] : []
  );
}

/**
 * IntegerField weights that stand for the losses of a cell, 0 for what is left out. A stored answer that covers its loss still
 * covers it after rounding: then the weights are finer. `total` is what the magic line asks for all of them.
 */
export function lineWeights(
  losses: readonly number[],
  held: readonly (number | null)[],
  total: number
): number[] {
  const asked = losses.filter(loss => loss > 0);
  const sum = asked.reduce((a, b) => a + b, 0);
  if (asked.length === 0) {
    return losses.map(() => 0);
  }
  const small = wholeWeights(asked.map(loss => loss / sum));
  let next = 0;
  let weights = losses.map(loss => (loss > 0 ? small[next++]! : 0));
  const free = losses.map((loss, i) => loss > 0 && covers(held[i]!, loss));
  if (beyond(weights, held, free, total).length === 0) {
    return weights;
  }
  weights = losses.map(loss => (loss > 0 ? Math.max(1, Math.floor((1000 * loss) / sum)) : 0));
  for (;;) {
    const far = beyond(weights, held, free, total);
    if (!far.some(i => weights[i]! > 1)) {
      return weights;
    }
    weights = weights.map((weight, i) => (far.includes(i) && weight > 1 ? weight - 1 : weight));
  }
}

/** The losses, of the same sum, at which every ± is the same part of its question's public range. */
export function evened(
  curves: readonly (Curve | null)[],
  spans: readonly (number | null)[],
  losses: readonly number[]
): number[] {
  const drawn = curves.flatMap((curve, i) => {
    const span = spans[i] ?? null;
    return curve === null || span === null || !(losses[i]! > 0) ? [] : [{ i, curve, span }];
  });
  const total = drawn.reduce((sum, one) => sum + losses[one.i]!, 0);
  const needs = (part: number): number[] =>
    drawn.map(({ curve, span }) => lossFor(curve, part * span) ?? curve.loss.at(-1)!);
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  let [low, high] = [1e-12, 1e6];
  for (let i = 0; i < 100; i++) {
    const part = Math.sqrt(low * high);
    if (sum(needs(part)) > total) {
      low = part;
    } else {
      high = part;
    }
  }
  const found = [...losses];
  const asked = needs(high);
  const whole = sum(asked);
  drawn.forEach((one, k) => {
    found[one.i] = (total * asked[k]!) / whole;
  });
  return found;
}
