/** What to do when a plan exceeds the budget, as splits that its magic line can say. Twin of `dpnb/widgets/kinds/budget.py`. */
import { costOf, covers, largestLoss } from '../../maths/budget';
import { significant } from '../../maths/digits';
import { cellOf, chargeOf, heldOf, owned, splitOf, writtenOf, type PlanFacts } from './model';

/** One remedy: the losses that it gives to the questions of the split, and the cell that asks for them; both empty where there is none. */
export interface Remedy {
  readonly kind: 'less' | 'stored' | 'drop';
  readonly label: string;
  readonly why: string;
  readonly losses: readonly number[];
  readonly cell: string;
}

const LABELS = { less: 'Ask less', stored: 'Use a stored answer', drop: 'Leave a statistic out' };

type Kind = Remedy['kind'];

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const none = (kind: Kind, why: string): Remedy => ({ kind, label: LABELS[kind], why, losses: [], cell: '' });

function remedy(facts: PlanFacts, kind: Kind, label: string, why: string, losses: readonly number[]): Remedy {
  return { kind, label, why, losses, cell: cellOf(facts, writtenOf(facts, losses)) };
}

/** Whether a cell with these losses is charged at most what is left. */
export function fits(facts: PlanFacts, losses: readonly number[]): boolean {
  return chargeOf(facts, losses) <= facts.left * (1 + 1e-9);
}

const asks = (facts: PlanFacts, losses: readonly number[]): boolean =>
  fits(facts, writtenOf(facts, losses).losses);

/** The losses that keep their shares and add up to another total. */
export function scaled(losses: readonly number[], total: number): number[] {
  const whole = sum(losses);
  return losses.map(loss => (whole === 0 ? total / losses.length : (loss * total) / whole));
}

/** The largest loss, at these shares and at most `top`, that is charged at most so much. */
export function largest(facts: PlanFacts, losses: readonly number[], room: number, top: number): number {
  const whole = sum(losses);
  if (whole === 0) {
    return 0;
  }
  const split = splitOf(facts);
  const fixed = chargeOf(
    facts,
    losses.map(() => 0)
  );
  return largestLoss(
    losses.map(loss => loss / whole),
    split.map(heldOf),
    split.map(one => one.rate),
    facts.paid.power,
    room - fixed,
    top
  );
}

function less(facts: PlanFacts, losses: readonly number[]): Remedy {
  const most = largest(facts, losses, facts.left, sum(losses));
  const found = scaled(losses, most);
  if (!(most > 0) || !asks(facts, found)) {
    return none('less', 'the budget cannot pay for any of this cell');
  }
  const total = writtenOf(facts, found).total + owned(facts);
  const why = `the most that fits, split as planned${source(facts, total, found)}`;
  return remedy(facts, 'less', `Ask ${facts.symbol} ${significant(total, 3)}`, why, found);
}

/** Where a loss comes from that is larger than what is left. */
function source(facts: PlanFacts, total: number, losses: readonly number[]): string {
  if (total <= facts.left * (1 + 1e-9) && facts.symbol === facts.paid.symbol) {
    return '';
  }
  const asked = writtenOf(facts, losses).losses;
  const free = splitOf(facts).flatMap((one, i) =>
    asked[i]! > 0 && one.held !== null && covers(one.held.amount, asked[i]!) ? [one.name] : []
  );
  const are = free.length === 1 ? 'is' : 'are';
  const words = free.length === 0 ? '' : `; ${listed(free)} ${are} stored and free`;
  return `${words}: ${cost(facts, losses)}`;
}

function stored(facts: PlanFacts, losses: readonly number[]): Remedy {
  const held = splitOf(facts).flatMap((one, i) =>
    one.held !== null && one.held.amount > 0 && losses[i]! > 0 && !covers(one.held.amount, losses[i]!)
      ? [{ i, name: one.name, ...one.held }]
      : []
  );
  if (held.length === 0) {
    return none('stored', 'none of these questions has a stored answer that would cost less');
  }
  if (fixed(facts, losses)) {
    return none('stored', facts.pinned);
  }
  const found = losses.map((loss, i) => held.find(one => one.i === i)?.amount ?? loss);
  if (!asks(facts, found)) {
    return none('stored', 'the questions that are not stored still cost too much');
  }
  const words = held.length === 1 ? ` (${held[0]!.words})` : '';
  const label = `Use the stored ${listed(held.map(one => one.name))}`;
  return remedy(facts, 'stored', label, `as released before${words}: ${cost(facts, found)}`, found);
}

function drop(facts: PlanFacts, losses: readonly number[]): Remedy {
  const split = splitOf(facts);
  const costs = split.map((one, i) => costOf(losses[i]!, heldOf(one), one.rate, facts.paid.power));
  const paying = costs.flatMap((one, i) => (one > 0 ? [i] : [])).sort((a, b) => costs[a]! - costs[b]!);
  const own = facts.questions.filter(one => one.state === 'own');
  if (losses.filter(loss => loss > 0).length + own.length < 2) {
    return none('drop', 'this plan asks one question alone');
  }
  if (fixed(facts, losses)) {
    return none('drop', facts.pinned);
  }
  for (const dropped of candidates(paying)) {
    const found = losses.map((loss, i) => (dropped.includes(i) ? 0 : loss));
    if (found.some(loss => loss > 0) && asks(facts, found)) {
      const names = split.flatMap((one, i) => (dropped.includes(i) ? [one.name] : []));
      const label = `Leave out ${listed(names)}`;
      return remedy(facts, 'drop', label, `the rest keeps its ±: ${cost(facts, found)}`, found);
    }
  }
  return none('drop', 'even one question alone costs too much');
}

/** Whether the shares cannot be written on the magic line, and there is more than one. */
const fixed = (facts: PlanFacts, losses: readonly number[]): boolean =>
  facts.pinned !== '' && losses.length > 1;

/** What to leave out: the cheapest question that is enough, else the dearest ones together. */
function candidates(paying: readonly number[]): number[][] {
  const together = paying.map((_, i) => paying.slice(paying.length - 1 - i)).slice(1);
  return [...paying.map(one => [one]), ...together];
}

function cost(facts: PlanFacts, losses: readonly number[]): string {
  const paid = chargeOf(facts, writtenOf(facts, losses).losses);
  return paid > 0 ? `the cell costs ${facts.paid.symbol} ${significant(paid, 4)}` : 'the cell is free';
}

/** Some names as the label of a button, which names three at most. */
const listed = (names: readonly string[]): string =>
  (names.length <= 3 ? names : [names.slice(0, 2).join(', '), `${names.length - 2} more`]).join(' and ');

/** The three remedies of a split that does not fit. */
export function remedies(facts: PlanFacts, losses: readonly number[]): Remedy[] {
  const asked = writtenOf(facts, losses).losses;
  return [less(facts, asked), stored(facts, asked), drop(facts, asked)];
}
