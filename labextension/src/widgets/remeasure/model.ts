/** An answer paid for again: the ± to expect of both together, what a wanted ± costs, and what is said of it. No DOM. */
import { combined } from '../../maths/budget';
import { lossFor, widthAt, type Curve } from '../../maths/curve';
import { decimalsFor, halfWidth, number, significant, span } from '../../maths/digits';
import type { Range } from '../../maths/scale';
import type { Scale } from '../parts/track';

export interface RemeasureFacts {
  readonly name: string;
  /** What holds the answer where it is not the name: a figure of a SELECT, which stays as it is. */
  readonly held?: string;
  readonly question: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  readonly value: number;
  /** Which entry of a vector is drawn: its widest one. Empty for a single number. */
  readonly entry?: string;
  /** The privacy intervals so far, oldest first, and what had been paid until then. */
  readonly trail: readonly { readonly low: number; readonly high: number; readonly paid: string }[];
  readonly curve: Curve;
  readonly left: number;
  /** What was paid for all of it together, in the measure that is dragged. */
  readonly paid: number;
  readonly problem: string;
}

export interface RemeasureSet {
  loss: number;
  /** Beside how many answers the loss was set; -1 once it was paid. */
  beside: number;
}

const numbers = (x: unknown): boolean => Array.isArray(x) && x.length > 1 && x.every(Number.isFinite);

/** Whether an answer of the kernel can be drawn. */
export function isFacts(x: unknown): x is RemeasureFacts {
  const found = x as Partial<RemeasureFacts> | null;
  return (
    typeof found === 'object' &&
    found !== null &&
    typeof found.name === 'string' &&
    (found.kind === 'epsilon' || found.kind === 'rho') &&
    [found.left, found.paid, found.value].every(Number.isFinite) &&
    numbers(found.curve?.loss) &&
    numbers(found.curve?.width) &&
    found.curve?.loss.length === found.curve?.width.length &&
    Array.isArray(found.trail) &&
    found.trail.length > 0 &&
    (found.trail as RemeasureFacts['trail']).every(
      one => Number.isFinite(one.low) && Number.isFinite(one.high)
    )
  );
}

/** The losses of a curve. */
export const rangeOf = ({ curve }: Pick<RemeasureFacts, 'curve'>): Range => ({
  low: curve.loss[0]!,
  high: curve.loss.at(-1)!
});

/** Where the slider begins: as much again as was paid, but never more than half of what is left. */
export function startOf(facts: Pick<RemeasureFacts, 'curve' | 'paid' | 'left'>): number {
  const { low, high } = rangeOf(facts);
  return Math.min(Math.max(Number(Math.min(facts.paid, facts.left / 2).toPrecision(2)), low), high);
}

type Interval = Pick<RemeasureFacts['trail'][number], 'low' | 'high'>;

const last = ({ trail }: RemeasureFacts): Interval => trail.at(-1)!;

/** Half of the present interval. */
export const half = (facts: RemeasureFacts): number => (last(facts).high - last(facts).low) / 2;

/** What the next interval is drawn around: the value, where the present interval holds it. */
export function middle(facts: RemeasureFacts): number {
  const { low, high } = last(facts);
  const { value } = facts;
  return value > low && value < high ? value : (low + high) / 2;
}

/** The loss that narrows the interval until it ends at a value: what the answer to add must give beside the one that is there. */
export function lossTo(facts: RemeasureFacts, end: number): number {
  const now = half(facts);
  const wanted = Math.min(Math.abs(end - middle(facts)), now * (1 - 1e-6));
  const width = 1 / Math.sqrt(1 / wanted ** 2 - 1 / now ** 2);
  return Number((lossFor(facts.curve, width) ?? rangeOf(facts).high).toPrecision(2));
}

/** Where the next interval begins at a loss, and the loss for which it begins at a value. */
const start = (facts: RemeasureFacts, loss: number): number =>
  middle(facts) - combined(half(facts), widthAt(facts.curve, loss));

/** From where to where the lower end of the next interval moves, and where it stands at a loss: the track of the slider. */
export function trackOf(facts: RemeasureFacts): Scale & Readonly<Record<'from' | 'to', number>> {
  const { low, high } = rangeOf(facts);
  const [from, to] = [start(facts, low), start(facts, high)];
  return {
    from,
    to,
    share: loss => (start(facts, loss) - from) / (to - from),
    value: share => lossTo(facts, from + share * (to - from))
  };
}

/** The cell that pays again. */
export const cellOf = ({ name, held = name, kind }: RemeasureFacts, loss: number): string =>
  `${name} = ${held}.remeasure(${kind}=${significant(loss, 3)})\n${name}`;

/** What paying so much more would buy. */
export interface Forecast {
  readonly low: number;
  readonly high: number;
  /** The expected ±, and what it is now. */
  readonly width: string;
  readonly note: string;
  readonly paid: string;
  /** What is paid for both answers. */
  readonly together: number;
  readonly fits: boolean;
  readonly cost: string;
  readonly description: string;
}

export function forecastAt(facts: RemeasureFacts, loss: number): Forecast {
  const { symbol, left } = facts;
  const [now, centre] = [half(facts), middle(facts)];
  const expected = combined(now, widthAt(facts.curve, loss));
  const width = `± ${halfWidth(expected)}`;
  const together = facts.paid + loss;
  const fits = loss <= left * (1 + 1e-9);
  const percent = number(100 * (1 - expected / now), 0);
  const { low, high } = last(facts);
  return {
    low: centre - expected,
    high: centre + expected,
    width,
    note: `expected, at 95 %; now ± ${halfWidth(now)}${facts.entry ? `, for ${facts.entry}, the widest` : ''}`,
    paid: `${symbol} ${significant(loss, 3)}`,
    together,
    fits,
    cost: fits
      ? `paid on top: ${symbol} ${significant(together, 3)} for both together`
      : `only ${symbol} ${significant(left, 3)} is left: this would be refused`,
    description: `now ${span(low, high, decimalsFor([now]))}; the next is expected ${percent} % narrower, ${width}`
  };
}
