/** The ± of a derived value from the ± of the questions under it. Twin of `dpnb/planner/forecast.py` and its words in `dpnb/cards/plan.py`. */
import { widthAt } from './curve';
import { halfWidth, number } from './digits';
import { radius as noiseRadius } from './noise_sum';

const LEVEL = 0.05;

/** The shape of a question's noise, its 95 % radius being 1. */
export interface Law {
  readonly normal: number;
  readonly laplace: readonly number[];
}

/** A question, and the coefficients of its entries. */
type Term = readonly [number, readonly number[]];

export interface Forecast {
  readonly kind: 'sum' | 'one' | 'many' | 'none';
  readonly points: readonly (readonly Term[])[];
  readonly middle: readonly Term[];
  readonly of: number;
  /** By the radius of that question: half-widths of the image around the middle, and at most. */
  readonly reach: {
    readonly loss: readonly number[];
    readonly middle: readonly number[];
    readonly worst: readonly number[];
  };
  readonly centre: number;
  readonly why: string;
  readonly each: boolean;
  /** What it takes for granted, in words. */
  readonly given?: string;
}

/** The 95 % radius of a sum of independent noises. */
export function radius(
  terms: readonly Term[],
  laws: readonly (Law | null)[],
  widths: readonly (number | null)[]
): number {
  let variance = 0;
  const scales: number[] = [];
  for (const [place, coefficients] of terms) {
    const law = laws[place]!;
    for (const coefficient of coefficients) {
      const size = Math.abs(coefficient) * widths[place]!;
      variance += (size * law.normal) ** 2;
      scales.push(...law.laplace.map(b => size * b));
    }
  }
  return noiseRadius(variance, scales, LEVEL);
}

/** The half-width in the middle of the ranges and the largest, where there are such. */
export function halfWidths(
  told: Forecast,
  laws: readonly (Law | null)[],
  widths: readonly (number | null)[]
): [number | null, number | null] {
  if (told.kind === 'one') {
    const { loss, middle, worst } = told.reach;
    const width = widths[told.of]!;
    return [widthAt({ loss, width: middle }, width), widthAt({ loss, width: worst }, width)];
  }
  const all = told.points.map(point => radius(point, laws, widths));
  return [
    told.kind === 'many' ? radius(told.middle, laws, widths) : null,
    all.length === 0 ? null : Math.max(...all)
  ];
}

/** What is known of the ± of a derived value. */
export function words(
  told: Forecast,
  laws: readonly (Law | null)[],
  widths: readonly (number | null)[],
  names: readonly string[]
): string {
  if (told.kind === 'none') {
    return told.why;
  }
  const found = inWords(told, laws, widths, names);
  return told.given ? `${found}, ${told.given}` : found;
}

function inWords(
  told: Forecast,
  laws: readonly (Law | null)[],
  widths: readonly (number | null)[],
  names: readonly string[]
): string {
  const [middle, worst] = halfWidths(told, laws, widths);
  const most = worst === null ? '' : `± ${halfWidth(worst)}`;
  if (told.kind === 'sum') {
    return told.each ? `at most ${most} each` : most;
  }
  const about = middle === null ? '' : `± ${halfWidth(middle)}`;
  if (told.kind === 'one') {
    return `${about} if ${names[told.of] ?? ''} is ${number(told.centre)}, at most ${most}`;
  }
  return `about ${about} in the middle of the ranges${most === '' ? `; ${told.why}` : `, at most about ${most}`}`;
}
