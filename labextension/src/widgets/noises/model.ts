/** Two noises at a loss and a number of people: the errors of each, where they are alike, and what is said of both. No DOM. */
import { effectiveSize } from '../../maths/budget';
import { halfWidth, number } from '../../maths/digits';
import { cdf, pmf, quantile, variance, type Law } from '../../maths/laws';
import { normalCdf, normalDensity, normalQuantile } from '../../maths/normal';

export interface NoisesFacts {
  readonly question: string;
  /** The share that is estimated; its sampling variance is p(1 − p)/n. */
  readonly share: number;
  readonly n: number;
  readonly epsilon: number;
  /** The noise of the count at ε = 1, in rows. */
  readonly law: Law;
  readonly problem: string;
}

export type Shape = 'dots' | 'densities' | 'totals';

export interface NoisesSet {
  epsilon: number;
  n: number;
  shape: Shape;
}

const DOTS = 100;
/** The numbers of people that can be set. */
export const SIZES = { low: 10, high: 100_000 };

/** The noise of a law at ε. */
const lawAt = ({ kind, scale }: Law, epsilon: number): Law => ({ kind, scale: scale / epsilon });

/** The n at which both noises are alike: 2/(ε²p(1 − p)) for Laplace noise of scale 1/ε. */
export function crossing(law: Law, epsilon: number, share: number): number {
  return variance(lawAt(law, epsilon)) / (share * (1 - share));
}

/** Both noises of a share, each as equally likely errors and as a spread. */
export interface Noises {
  readonly n: number;
  /** The noise of the count. */
  readonly law: Law;
  /** The standard deviation of what sampling does. */
  readonly sd: number;
  readonly drawn: readonly number[];
  readonly added: readonly number[];
  /** The largest error that is shown: a share is off by 1 at most. */
  readonly reach: number;
}

export function noisesAt({ law, share }: NoisesFacts, { epsilon, n }: NoisesSet): Noises {
  const noise = lawAt(law, epsilon);
  const levels = Array.from({ length: DOTS }, (_, i) => (i + 0.5) / DOTS);
  const sd = Math.sqrt((share * (1 - share)) / n);
  const drawn = levels.map(level => sd * normalQuantile(level));
  const added = levels.map(level => quantile(noise, level) / n);
  return {
    n,
    law: noise,
    sd,
    drawn,
    added,
    reach: Math.min(Math.max(drawn.at(-1)!, added.at(-1)!) * 1.05, 1)
  };
}

/** The outcome after this one: all hundred come, none twice. */
export const nextOutcome = (outcome: number): number => (outcome + 37) % DOTS;

/** The error of one hypothetical release: one of each kind, added. */
export const errorOf = ({ drawn, added }: Noises, outcome: number): number =>
  drawn[(outcome * 61 + 13) % DOTS]! + added[outcome]!;

/** The two curves of a shape, from 0 to 1 over the errors: of sampling, and of privacy. */
export function curvesOf(
  { n, law, sd }: Noises,
  shape: 'densities' | 'totals'
): [(error: number) => number, (error: number) => number] {
  if (shape === 'totals') {
    return [error => normalCdf(error / sd), error => cdf(law, Math.floor(error * n + 1e-9))];
  }
  // a law on whole rows as a density of the share: its mass at the row, n rows to one
  const high = Math.max(normalDensity(0) / sd, pmf(law, 0) * n);
  return [
    error => normalDensity(error / sd) / sd / high,
    error => (pmf(law, Math.round(error * n)) * n) / high
  ];
}

/** How many people without privacy noise would be as accurate, rounded down. */
export const effective = ({ n, law, sd }: Noises): number =>
  Math.floor(effectiveSize(n, sd * sd, variance(law) / (n * n)));

/** An error of a share: from 1 on it may be any. */
const about = (error: number): string => (error < 1 ? `about ± ${halfWidth(error)}` : 'any share');

const far = (error: number, sd: number): string =>
  Math.abs(error) < 1 ? `${error < 0 ? '−' : '+'}${halfWidth(Math.abs(error) || sd)}` : '1 or more';

export function sentence({ n, law, sd, added }: Noises, error: number): string {
  const larger =
    variance(law) / (n * n) > sd * sd ? 'privacy noise is the larger' : 'sampling noise is the larger';
  return (
    `Sampling alone is off by ${about(1.96 * sd)}, privacy alone by ${about(Math.max(added[97]!, 1e-12))}: ` +
    `${larger}. This hypothetical release is off by ${far(error, sd)}.`
  );
}

/** Both noises at both ends of the numbers of people, and where they are alike. */
export interface Crossing {
  readonly sampling: readonly [number, number];
  readonly privacy: readonly [number, number];
  readonly alike: number;
  /** Whether they are alike at a number of people that can be set. */
  readonly inside: boolean;
}

export function crossingOf({ law, share }: NoisesFacts, epsilon: number): Crossing {
  const noise = Math.sqrt(variance(lawAt(law, epsilon)));
  const alike = crossing(law, epsilon, share);
  const spread = (n: number): number => Math.sqrt((share * (1 - share)) / n);
  const { low, high } = SIZES;
  return {
    sampling: [spread(low), spread(high)],
    privacy: [noise / low, noise / high],
    alike,
    inside: alike >= low && alike <= high
  };
}

/** The number of people at which both noises are alike, rounded up. */
export const alikeWords = ({ alike }: Crossing): string => number(Math.ceil(alike));
