/** What a plan is: its questions and derived values, and what a split of its loss costs. Pure functions; twin of nothing but `src/maths`. */
import { costOf, covers, lineWeights, type Rate } from '../../maths/budget';
import { widthAt, type Curve } from '../../maths/curve';
import { halfWidth, significant, number } from '../../maths/digits';
import { words, type Forecast, type Law } from '../../maths/forecast';

/** What is known at increasing losses. */
type Spoken = readonly (readonly [number, string])[];

const NUMBER = /(\d[\d,]*(?:\.\d+)?)/;
const CLOSE = 1e-9;

const valueOf = (text: string): number => Number(text.replaceAll(',', ''));

/** A number between two that are written; whole where both are. Between two positive ones it lies on a power law. */
function numberBetween(a: string, b: string, share: number): string {
  const [from, to] = [valueOf(a), valueOf(b)];
  if (from === to) {
    return a;
  }
  const found = from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share;
  return number(a.includes('.') || b.includes('.') ? found : Math.round(found));
}

/** A sentence between two that differ in their numbers alone; the first of them where they differ in words. */
function between(a: string, b: string, share: number): string {
  const [from, to] = [a.split(NUMBER), b.split(NUMBER)];
  const alike = from.length === to.length && from.every((part, i) => i % 2 === 1 || part === to[i]);
  const found = from.map((part, i) => (i % 2 === 0 ? part : numberBetween(part, to[i]!, share)));
  return alike ? found.join('') : a;
}

/** What is known at a loss; null below the smallest one. */
export function spokenAt(said: Spoken, loss: number): string | null {
  const above = said.findIndex(([at]) => at > loss * (1 + CLOSE));
  if (said.length === 0 || above === 0) {
    return null;
  }
  const [low, words] = said.at(above === -1 ? -1 : above - 1)!;
  if (above === -1 || loss <= low * (1 + CLOSE)) {
    return words;
  }
  const [high, next] = said[above]!;
  return between(words, next, Math.log(loss / low) / Math.log(high / low));
}

/** The stored answer of a question: the largest loss that it covers, and its own accuracy. */
export interface Held {
  readonly amount: number;
  readonly words: string;
  readonly width: number | null;
  /** Where the number of rows behind it is private: its ± if all public rows count. */
  readonly full?: number | null;
}

export interface PlannedQuestion {
  readonly name: string;
  readonly text: string;
  /** Takes its share from the magic line, has a loss of its own in the cell, or is public. */
  readonly state: 'split' | 'own' | 'public';
  /** ± by loss; null where public facts do not give it. */
  readonly curve: Curve | null;
  /** What follows the number: `rows in each bin`. */
  readonly unit: string;
  /** What is known, and the loss for which the kernel said so. */
  readonly words: string;
  readonly at: number;
  /** Without a ±: what is known by loss. */
  readonly said: Spoken | null;
  /** The loss that the cell gives it. */
  readonly own: number;
  readonly width: number | null;
  /** Where the number of rows behind it is private: its ± by loss if all public rows count, and as it is planned. */
  readonly full?: Curve | null;
  readonly full_width?: number | null;
  /** `if all 4,820 rows count`. */
  readonly given?: string;
  /** The length of its public range. */
  readonly span: number | null;
  /** What a loss of one costs in the budget's measure, or its events where that is no power of the loss. */
  readonly rate: Rate;
  /** Whether it is answered from the store as it is planned. */
  readonly stored: boolean;
  readonly held: Held | null;
  readonly law: Law | null;
  /** Whether the magic line can name it in weights=. */
  readonly nameable: boolean;
}

export interface PlanFacts {
  readonly dataset: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  /** How a loss is charged: the budget's symbol, and the power of what was asked. */
  readonly paid: { readonly symbol: string; readonly power: number };
  readonly loss: number;
  readonly left: number;
  readonly cap: number;
  readonly shares: readonly number[];
  readonly questions: readonly PlannedQuestion[];
  readonly derived: readonly { readonly name: string; readonly text: string; readonly forecast: Forecast }[];
  /** Released answers under derived values. */
  readonly others: readonly {
    readonly name: string;
    readonly law: Law | null;
    readonly width: number | null;
  }[];
  /** The body of the cell that asks this. */
  readonly body: string;
  readonly verb: string;
  readonly rest: string;
  /** Why the split cannot be written on the magic line; empty where it can. */
  readonly pinned: string;
  readonly problem: string;
}

export interface PlanSet {
  loss: number;
  shares: number[];
}

export const splitOf = (facts: PlanFacts): PlannedQuestion[] =>
  facts.questions.filter(one => one.state === 'split');

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The largest loss that the stored answer of a question covers, if there is one. */
export const heldOf = (one: PlannedQuestion): number | null => one.held?.amount ?? null;

/** What the losses that the cell itself gives to some questions add up to. */
export function owned(facts: PlanFacts): number {
  return sum(facts.questions.map(one => (one.state === 'own' ? one.own : 0)));
}

function ownCost(facts: PlanFacts): number {
  return sum(
    facts.questions.map(one =>
      one.state === 'own' && !one.stored ? costOf(one.own, heldOf(one), one.rate, facts.paid.power) : 0
    )
  );
}

/** A loss as the magic line says it: three digits. */
export const said3 = (loss: number): number => Number(significant(loss, 3));

/** A split as the magic line says it: the loss in three digits, whole weights, and the losses that these give. */
export interface Written {
  readonly total: number;
  readonly weights: readonly number[];
  readonly losses: readonly number[];
}

/** Round a split to what the magic line can say. */
export function writtenOf(facts: PlanFacts, losses: readonly number[]): Written {
  const total = said3(sum(losses));
  if (facts.pinned !== '') {
    const whole = sum(facts.shares);
    return { total, weights: losses.map(() => 1), losses: facts.shares.map(s => (total * s) / whole) };
  }
  const weights = lineWeights(losses, splitOf(facts).map(heldOf), total);
  const whole = sum(weights);
  return { total, weights, losses: weights.map(w => (whole === 0 ? 0 : (total * w) / whole)) };
}

/** What a cell with these losses is charged, in the budget's measure. */
export function chargeOf(facts: PlanFacts, losses: readonly number[]): number {
  const { power } = facts.paid;
  return (
    ownCost(facts) + sum(splitOf(facts).map((one, i) => costOf(losses[i]!, heldOf(one), one.rate, power)))
  );
}

/** The cell that releases a plan as it is written: the loss and the weights on the magic line, the body untouched. */
export function cellOf(facts: PlanFacts, { total, weights }: Written): string {
  const split = splitOf(facts);
  const equal = weights.every(weight => weight === weights[0]);
  const named = split.map((one, i) => `${one.name}:${weights[i]!}`).join(',');
  const loss = significant(total + owned(facts), 3);
  const parts = [
    '%%dp',
    facts.verb,
    split.length === 0 && owned(facts) === 0 ? '' : `${facts.kind}=${loss}`,
    equal || facts.pinned !== '' ? '' : `weights=${named}`,
    facts.rest
  ];
  return `${parts.filter(Boolean).join(' ')}\n${facts.body}`;
}

/** A question at a loss: its ± where there is one, what it says, what it costs. */
export interface Now {
  readonly width: number | null;
  /** The ± that values derived from it are told with: of all public rows, where their number is private. */
  readonly full: number | null;
  readonly words: string;
  readonly cost: number;
  readonly stored: boolean;
}

/** Whether a loss is the one that the kernel priced itself: what it said is exact there. */
const priced = (one: PlannedQuestion, loss: number): boolean =>
  one.at > 0 && Math.abs(loss - one.at) <= 1e-6 * loss;

function told(one: PlannedQuestion, loss: number): string {
  if (priced(one, loss)) {
    return one.words;
  }
  if (one.curve !== null) {
    return `± ${halfWidth(widthAt(one.curve, loss))}${one.unit}`;
  }
  if (one.full) {
    return `± ${halfWidth(widthAt(one.full, loss))} ${one.given ?? ''}`;
  }
  return spokenAt(one.said ?? [], loss) ?? one.words;
}

/** One question as it stands at a loss; a stored answer shows its own accuracy. */
function nowOf(facts: PlanFacts, one: PlannedQuestion, loss: number): Now {
  if (one.state === 'public') {
    return { width: 0, full: 0, words: one.words, cost: 0, stored: false };
  }
  if (one.state === 'own') {
    const cost = one.stored ? 0 : costOf(one.own, heldOf(one), one.rate, facts.paid.power);
    const full = one.width ?? one.full_width ?? null;
    return { width: one.width, full, words: one.words, cost, stored: cost === 0 };
  }
  if (loss === 0) {
    return { width: null, full: null, words: 'left out', cost: 0, stored: false };
  }
  if (one.held !== null && covers(one.held.amount, loss)) {
    const { width, full = width, words } = one.held;
    return { width, full: width ?? full, words, cost: 0, stored: true };
  }
  const width = one.curve === null ? null : widthAt(one.curve, loss);
  return {
    width,
    full: width ?? (one.full ? widthAt(one.full, loss) : null),
    words: told(one, loss),
    cost: costOf(loss, null, one.rate, facts.paid.power),
    stored: false
  };
}

/** Every question at the losses of a split. */
export function everyNow(facts: PlanFacts, losses: readonly number[]): Now[] {
  let next = 0;
  return facts.questions.map(one => nowOf(facts, one, one.state === 'split' ? losses[next++]! : 0));
}

/** What is known of a derived value, the questions standing as they do. */
export function derivedWords(facts: PlanFacts, place: number, now: readonly Now[]): string {
  const { forecast } = facts.derived[place]!;
  const widths = [...now.map(one => one.full), ...facts.others.map(one => one.width)];
  const laws = [...facts.questions.map(one => one.law), ...facts.others.map(one => one.law)];
  const names = [...facts.questions, ...facts.others].map(one => one.name);
  const used = new Set([
    ...forecast.points.flatMap(point => point.map(([q]) => q)),
    ...forecast.middle.map(([q]) => q),
    ...(forecast.of >= 0 ? [forecast.of] : [])
  ]);
  const missing = [...used].find(q => widths[q] === null || widths[q] === undefined);
  if (missing !== undefined) {
    return `not known: ${names[missing]} is left out`;
  }
  // a stored answer takes nothing for granted, until more is paid than it covers
  const given = [...used].map(q => (now[q]?.stored === false ? facts.questions[q]!.given : '')).find(Boolean);
  return words({ ...forecast, given: forecast.given || (given ?? '') }, laws, widths, names);
}

const NAME = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)?$/u;

/** Whether what a record writes on the magic line is one line of options, and nothing else. */
function written(one: Partial<PlanFacts>): boolean {
  const rest = typeof one.rest === 'string' && /^(assume_n=\d+)?( ?fresh)?$/.test(one.rest);
  const names = (one.questions ?? [])
    .filter(question => question.state === 'split')
    .map(question => question.name);
  return (
    rest &&
    /^(sql)?( ?release)?$/.test(one.verb ?? '-') &&
    typeof one.body === 'string' &&
    typeof one.pinned === 'string' &&
    (one.pinned !== '' || names.length < 2 || names.every(name => NAME.test(name)))
  );
}

/** Whether a record's facts are those of a plan that this version draws. */
export function isPlanFacts(x: unknown): x is PlanFacts {
  const one = x as Partial<PlanFacts> | null | undefined;
  return (
    typeof one === 'object' &&
    one !== null &&
    (one.kind === 'epsilon' || one.kind === 'rho') &&
    [one.loss, one.left, one.cap].every(Number.isFinite) &&
    [one.questions, one.derived, one.others, one.shares].every(Array.isArray) &&
    one.questions!.every(question => typeof (question as PlannedQuestion | null)?.name === 'string') &&
    written(one)
  );
}
