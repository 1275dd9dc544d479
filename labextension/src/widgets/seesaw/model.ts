/** ε and ± of one question: what a loss buys, what a ± costs, who else is as accurate, and what is said of it. No DOM. */
import { effectiveSize } from '../../maths/budget';
import { lossFor, widthAt, type Curve } from '../../maths/curve';
import { halfWidth, number, significant } from '../../maths/digits';
import { tailRadius, type Law } from '../../maths/laws';
import type { Range } from '../../maths/scale';

export interface SeesawFacts {
  readonly question: string;
  readonly dataset: string;
  readonly symbol: 'ε' | 'ρ';
  readonly kind: 'epsilon' | 'rho';
  readonly curve: Curve;
  /** Where the noise is one law: its scale (or σ) at a loss of 1. */
  readonly law: (Law & { readonly unit: number }) | null;
  readonly unit: string;
  readonly left: number;
  readonly size: { readonly planned: number | null; readonly asked: boolean };
  readonly start: number;
  /** The whole public range of the answer, for comparison. */
  readonly domain: readonly [number, number];
  /** What turns ± into people: sampling variance, and the sd of the noise at each loss of the curve. */
  readonly people: {
    readonly n: number;
    readonly sampling: number;
    readonly noise: readonly number[];
  } | null;
  /** Losses that others published with. */
  readonly register: readonly { readonly epsilon: number; readonly words: string }[];
  readonly problem: string;
  /** In a card: the name by which a cell releases the question, empty where it has none; and the verb of such a cell. */
  readonly name?: string;
  readonly verb?: string;
}

export interface SeesawSet {
  loss: number;
  size: number;
}

const numbers = (x: unknown): boolean => Array.isArray(x) && x.length > 1 && x.every(Number.isFinite);

/** Whether an answer of the kernel can be drawn. */
export function isBalance(x: unknown): x is SeesawFacts {
  const found = x as Partial<SeesawFacts> | null;
  return (
    typeof found === 'object' &&
    found !== null &&
    typeof found.name === 'string' &&
    (found.kind === 'epsilon' || found.kind === 'rho') &&
    [found.left, found.start].every(Number.isFinite) &&
    numbers(found.curve?.loss) &&
    numbers(found.curve?.width) &&
    found.curve?.loss.length === found.curve?.width.length &&
    Array.isArray(found.register)
  );
}

/** The cell that releases the question at a loss; null where the notebook has no name for it. */
export function cellFor(facts: Pick<SeesawFacts, 'kind' | 'name' | 'verb'>, loss: number): string | null {
  const line = ['%%dp', facts.verb ?? '', `${facts.kind}=${significant(loss, 3)}`];
  return facts.name ? `${line.filter(word => word !== '').join(' ')}\n${facts.name}` : null;
}

/** The half-width at a loss: exact where the law is known, read from the priced curve elsewhere. */
export function widthOf(facts: SeesawFacts, loss: number): number {
  if (facts.law === null) {
    return widthAt(facts.curve, loss);
  }
  const shrink = facts.kind === 'epsilon' ? loss : Math.sqrt(loss);
  return facts.law.unit * tailRadius({ kind: facts.law.kind, scale: facts.law.scale / shrink }, 0.05);
}

/** How many people without noise would be as accurate as the answer at a loss, rounded down. */
function effectiveAt(facts: Pick<SeesawFacts, 'people' | 'curve'>, loss: number): number | null {
  if (facts.people === null) {
    return null;
  }
  const sd = widthAt({ loss: facts.curve.loss, width: facts.people.noise }, loss);
  return Math.floor(effectiveSize(facts.people.n, facts.people.sampling, sd * sd));
}

/** The losses of a curve. */
export const rangeOf = ({ curve }: Pick<SeesawFacts, 'curve'>): Range => ({
  low: curve.loss[0]!,
  high: curve.loss.at(-1)!
});

/** The narrowest ± that is drawn: a law on whole rows has none below one step. */
export function narrowest({ curve, law }: Pick<SeesawFacts, 'curve' | 'law'>): number {
  return law === null ? Math.max(curve.width.at(-1)!, curve.width[0]! * 1e-6) : law.unit;
}

/** The ± that can be had, from the narrowest to that of the smallest loss. */
export const widthsOf = (facts: Pick<SeesawFacts, 'curve' | 'law'>): Range => ({
  low: narrowest(facts),
  high: facts.curve.width[0]!
});

/** The loss that buys a ±, in three digits; all of it where none is enough. */
export function lossOf({ curve }: Pick<SeesawFacts, 'curve'>, width: number): number {
  return Number((lossFor(curve, width) ?? rangeOf({ curve }).high).toPrecision(3));
}

/** A ± as its question is answered: in whole rows where the law is one on rows. */
export const written = ({ law }: Pick<SeesawFacts, 'law'>, width: number): string =>
  law === null ? halfWidth(width) : number(Math.round(width));

/** A ± with its unit. */
export const named = (facts: Pick<SeesawFacts, 'law' | 'unit'>, width: number): string =>
  `± ${written(facts, width)}${facts.unit === '' ? '' : ` ${facts.unit}`}`;

/** A number of people as it was typed; null where it is none. */
export function peopleTyped(typed: string): number | null {
  const people = Number(typed.trim().replaceAll(',', ''));
  return Number.isSafeInteger(people) && people > 0 ? people : null;
}

/** The ± at which so many people without noise are as accurate; null where no loss of the curve gives it. */
export function widthForPeople(facts: SeesawFacts, people: number): number | null {
  const { curve, people: known } = facts;
  if (known === null || people >= known.n) {
    return null;
  }
  const sd = Math.sqrt(known.sampling * (known.n / people - 1));
  const loss = lossFor({ loss: curve.loss, width: known.noise }, sd);
  return loss === null || sd > known.noise[0]! ? null : widthOf(facts, loss);
}

/** The published losses nearest below and above, in a line. */
export function neighbours(register: SeesawFacts['register'], loss: number): string {
  const below = register.filter(one => one.epsilon <= loss).at(-1);
  const above = register.find(one => one.epsilon > loss);
  const told = [below, above].filter(one => one !== undefined);
  return told.length === 0
    ? ''
    : `Published by others: ${told.map(one => `ε ${one.epsilon} (${one.words})`).join('; ')}.`;
}

/** A question at a loss. */
export interface Balance {
  readonly loss: number;
  readonly width: number;
  /** The ±, and the loss, as they are told. */
  readonly named: string;
  readonly price: string;
  /** `1,378 of 2,834`; null where people cannot be told. */
  readonly people: string | null;
  readonly fits: boolean;
  /** What would be left, or that it would be refused. */
  readonly left: string;
  /** Whether the cell of this loss would be answered. */
  readonly releases: boolean;
  readonly cell: string | null;
  readonly description: string;
}

const AFFORDS = 1 + 1e-9;

export function balanceAt(facts: SeesawFacts, loss: number): Balance {
  const { symbol, left, dataset } = facts;
  const width = widthOf(facts, loss);
  const effective = effectiveAt(facts, loss);
  const people =
    effective === null || facts.people === null ? null : `${number(effective)} of ${number(facts.people.n)}`;
  const fits = loss <= left * AFFORDS;
  const price = `${symbol} ${significant(loss, 3)}`;
  const words = named(facts, width);
  return {
    loss,
    width,
    named: words,
    price,
    people,
    fits,
    left: fits
      ? `${symbol} ${significant(Math.max(left - loss, 0), 3)} would be left in ${dataset}`
      : `only ${symbol} ${significant(left, 3)} is left: this would be refused`,
    releases: Number(significant(loss, 3)) <= left * AFFORDS && facts.problem === '',
    cell: cellFor(facts, loss),
    description: `${words} at ${price}${people === null ? '' : `, as accurate as ${people} people`}`
  };
}
