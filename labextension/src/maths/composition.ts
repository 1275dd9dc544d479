/** One promise counted two ways, by adding ε and by zCDP. Twin of `dpnb/widgets/counting.py` and of the accountant's conversion. */

/** Shift and scale of each part that moves, in grid steps, for each thing that a neighbour can do. */
export type Moves = readonly (readonly (readonly [shift: number, scale: number])[])[];

/** A kind of privacy event, its amount, its δ, how many there were, and the moves of a `laplace` event. */
export type Event = readonly [kind: string, amount: number, delta: number, times: number, moves?: Moves];

const FINEST = 1e9;
const RATIO = (Math.sqrt(5) - 1) / 2;

function penalty(gap: number, delta: number): number {
  return -(Math.log(delta) + Math.log1p(gap)) / gap + Math.log(gap) - Math.log1p(gap);
}

/** The least value of a function with one turning point, over α = 1 + exp(x). */
function least(objective: (gap: number) => number): number {
  const at = (x: number): number => objective(Math.exp(x));
  let centre = -40;
  for (let i = -80; i <= 120; i++) {
    centre = at(i / 2) < at(centre) ? i / 2 : centre;
  }
  let [low, high] = [centre - 0.5, centre + 0.5];
  for (let i = 0; i < 60; i++) {
    const [a, b] = [high - RATIO * (high - low), low + RATIO * (high - low)];
    [low, high] = at(a) <= at(b) ? [low, b] : [a, high];
  }
  return at((low + high) / 2);
}

/** An ε such that ρ-zCDP implies (ε, δ), rounded up to nine decimals. Twin of `accountant.epsilon_of`. */
export function epsilonOf(rho: number, delta: number): number {
  if (rho === 0) {
    return 0;
  }
  const value = least(gap => (1 + gap) * rho + penalty(gap, delta));
  return Math.max(Math.ceil(value * FINEST), 0) / FINEST;
}

/** A ρ such that ρ-zCDP implies (ε, δ), rounded down to three digits; null where there is none. Twin of `accountant.rho_for`. */
export function rhoFor(epsilon: number, delta: number): number | null {
  const value = -least(gap => -(epsilon - penalty(gap, delta)) / (1 + gap));
  if (!(value >= 1 / FINEST)) {
    return null;
  }
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((Math.floor(value / unit) * unit).toPrecision(3));
}

function entryRho(shift: number, scale: number): number {
  const [epsilon, x] = [shift / scale, 1 / scale];
  return epsilon + Math.expm1(-epsilon) * (x < 300 ? x / Math.sinh(x) : 0);
}

/** The ρ of a privacy event at so many times its ε. Twin of `arithmetic.event_rho`; the proofs are in `dpnb/trusted/privacy/conversion.py`. */
export function eventRho([kind, amount, , times, moves]: Event, loss = 1): number {
  const epsilon = amount * loss;
  if (kind === 'gaussian') {
    return times * epsilon;
  }
  let most = epsilon * Math.tanh(epsilon / 2);
  if (kind === 'exponential') {
    most = Math.min(most, (epsilon * epsilon) / 8);
  }
  if (kind === 'laplace') {
    const sums = (moves ?? []).map(move =>
      move.reduce((sum, [shift, scale]) => sum + entryRho(shift, scale / loss), 0)
    );
    most = Math.min(most, Math.max(...sums));
  }
  return times * most;
}

/** The ρ of some events together. */
export function rhoOf(events: readonly Event[]): number {
  return events.reduce((sum, event) => sum + eventRho(event), 0);
}

/** The ε of some events by adding: each Gaussian one alone at an equal part of δ, every other at its own ε. */
export function added(events: readonly Event[], delta: number): number {
  const gaussian = events.reduce((n, [kind, , , times]) => n + (kind === 'gaussian' ? times : 0), 0);
  return events.reduce(
    (sum, [kind, amount, , times]) =>
      sum + times * (kind === 'gaussian' ? epsilonOf(amount, delta / gaussian) : amount),
    0
  );
}

export interface Compared {
  readonly epsilon: number;
  readonly rho: number | null;
  readonly added: number;
  readonly rhos: number;
  /** Which part of the promise each way takes. */
  readonly adding: number | null;
  readonly zcdp: number | null;
  /** The ε of one release that takes the same part either way. */
  readonly even: number | null;
}

/** Count some events both ways, under one promise; one of ε and ρ may follow from the other at δ. */
export function compared(
  epsilon: number | null,
  rho: number | null,
  events: readonly Event[],
  delta: number
): Compared {
  const whole = epsilon ?? epsilonOf(rho ?? 0, delta);
  const cap = rho ?? rhoFor(whole, delta);
  const [sum, rhos] = [added(events, delta), rhoOf(events)];
  return {
    epsilon: whole,
    rho: cap,
    added: sum,
    rhos,
    adding: whole > 0 ? sum / whole : null,
    zcdp: cap === null ? null : rhos / cap,
    even: cap === null || cap >= whole ? null : 2 * Math.atanh(cap / whole)
  };
}
