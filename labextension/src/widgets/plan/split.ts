/** The split of a plan: the losses of its questions, how dragging changes them, and all that is said of them. No DOM. */
import { evened } from '../../maths/budget';
import { brief } from '../parts/session_state';
import {
  cellOf,
  chargeOf,
  everyNow,
  splitOf,
  writtenOf,
  type Now,
  type PlanFacts,
  type PlanSet,
  type PlannedQuestion
} from './model';
import { fits, largest, remedies, scaled, type Remedy } from './remedies';

/** The part of a budget that one preset keeps. */
const KEPT = 0.2;

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The losses that were set last, where they are a split of these questions; else as planned. */
export function startOf(facts: PlanFacts, chosen: Partial<PlanSet>, now?: readonly number[]): number[] {
  const { loss, shares } = chosen;
  const good = (x: unknown): boolean => typeof x === 'number' && Number.isFinite(x) && x >= 0;
  const set = Array.isArray(shares) && shares.length === facts.shares.length && shares.every(good);
  const total = good(loss) ? loss! : facts.loss;
  if (!set && now?.length === facts.shares.length) {
    return [...now];
  }
  return (set ? shares : facts.shares).map(share => total * share);
}

/** A split as it is told to the kernel. */
export function toldOf(losses: readonly number[]): PlanSet {
  const total = sum(losses);
  return { loss: total, shares: losses.map(loss => (total === 0 ? 0 : loss / total)) };
}

/** Whether the split can be moved: more than one question, and shares that the magic line can say. */
export const isFree = (facts: PlanFacts): boolean => facts.pinned === '' && splitOf(facts).length > 1;

/** The losses that the slider of a plan reaches. */
export function rangeOf({ kind, loss }: PlanFacts): { low: number; high: number } {
  const low = kind === 'epsilon' ? 0.01 : 0.0001;
  return { low: Math.min(low, loss || low), high: Math.max(10, loss) };
}

/** The places of the questions that are not left out. */
export const included = (losses: readonly number[]): number[] =>
  losses.flatMap((loss, i) => (loss > 0 ? [i] : []));

/** The same total with other shares of the questions that are not left out. */
export function reshared(losses: readonly number[], shares: readonly number[]): number[] {
  const [places, whole] = [included(losses), sum(losses)];
  return losses.map((loss, i) => (places.includes(i) ? whole * shares[places.indexOf(i)]! : loss));
}

/** What each question had when it was asked last: what it gets back when it is ticked again. */
export const remembered = (losses: readonly number[], kept: readonly number[]): number[] =>
  losses.map((loss, i) => (loss > 0 ? loss : kept[i]!));

/** The same total, shared equally by the questions that are not left out. */
export function equal(losses: readonly number[]): number[] {
  const places = included(losses);
  return losses.map(loss => (loss > 0 ? sum(losses) / places.length : 0));
}

/** The split in which every ± is the same part of its public range. */
export function even(facts: PlanFacts, losses: readonly number[]): number[] {
  const split = splitOf(facts);
  return evened(
    split.map(one => one.curve),
    split.map(one => one.span),
    losses
  );
}

/** The largest loss at these shares that leaves a fifth of the whole budget. */
export function reserving(facts: PlanFacts, losses: readonly number[]): number[] {
  const room = facts.left - KEPT * facts.cap;
  return scaled(losses, largest(facts, losses, room, Math.max(sum(losses), 10)));
}

/** Whether more than a fifth of the budget is left. */
export const canReserve = ({ left, cap }: PlanFacts): boolean => left > KEPT * cap * (1 + 1e-9);

/** What a question costs, as its line of the table says it. */
export function costWords({ state }: PlannedQuestion, { words, stored, cost }: Now, symbol: string): string {
  if (words === 'left out') {
    return '–';
  }
  return state === 'public' ? 'public · free' : stored ? `stored · ${symbol} 0` : `${symbol} ${brief(cost)}`;
}

/** A block of the bar that shows the split. */
export interface Piece {
  readonly name: string;
  readonly share: number;
  /** Answered from the store: drawn as an outline. */
  readonly free: boolean;
  /** What it takes, in words. */
  readonly words: string;
}

/** A plan at a split: its questions one by one, what they cost together, and what can be done. */
export interface Standing {
  readonly questions: readonly Now[];
  readonly pieces: readonly Piece[];
  readonly whole: number;
  readonly cost: number;
  /** Whether the cell would be answered. */
  readonly fits: boolean;
  /** Whether it asks anything. */
  readonly asks: boolean;
  readonly sentence: string;
  /** Which stored answers would be bought anew. */
  readonly notes: string;
  readonly remedies: readonly Remedy[];
  /** The magic line of the cell. */
  readonly line: string;
}

function sentence(facts: PlanFacts, cost: number, asks: boolean, fit: boolean): string {
  const { symbol } = facts.paid;
  if (!asks) {
    return 'Every question is left out: tick one to ask it.';
  }
  return fit
    ? `This cell would cost ${symbol} ${brief(cost)}; ${symbol} ${brief(facts.left - cost)} of ${brief(facts.cap)} would be left.`
    : `This cell would cost ${symbol} ${brief(cost)}, and only ${symbol} ${brief(facts.left)} is left: it would be refused.`;
}

function piecesOf(facts: PlanFacts, losses: readonly number[], mine: readonly Now[]): Piece[] {
  const [split, whole] = [splitOf(facts), sum(losses)];
  return included(losses).map(i => {
    const [name, stored] = [split[i]!.name, mine[i]!.stored];
    const words = `${name} ${stored ? 'stored, free' : `${facts.symbol} ${brief(losses[i]!)}`}`;
    return { name, share: losses[i]! / whole, free: stored, words };
  });
}

function notes(facts: PlanFacts, losses: readonly number[], mine: readonly Now[]): string {
  return splitOf(facts)
    .filter((one, i) => one.held !== null && losses[i]! > 0 && !mine[i]!.stored)
    .map(
      one =>
        `${one.name} was answered before at ${facts.symbol} ${brief(one.held!.amount)}; at a larger share it is bought again in full.`
    )
    .join(' ');
}

/** Everything that is shown of a plan at a split. */
export function standingOf(facts: PlanFacts, losses: readonly number[]): Standing {
  const written = writtenOf(facts, losses);
  const questions = everyNow(facts, written.losses);
  const mine = questions.filter((_, i) => facts.questions[i]!.state === 'split');
  const [whole, cost, fit] = [sum(losses), chargeOf(facts, written.losses), fits(facts, written.losses)];
  const asks = whole > 0 || facts.questions.some(one => one.state === 'own');
  return {
    questions,
    pieces: piecesOf(facts, losses, mine),
    whole,
    cost,
    fits: fit,
    asks,
    sentence: sentence(facts, cost, asks, fit),
    notes: notes(facts, losses, mine),
    remedies: fit ? [] : remedies(facts, losses),
    line: cellOf(facts, written).split('\n')[0]!
  };
}

/** The part of a bar that a loss fills, as a width. */
export const percentOf = (loss: number, cap: number): string =>
  `${cap > 0 ? Math.min(Math.max((100 * loss) / cap, 0), 100).toFixed(2) : 0}%`;
