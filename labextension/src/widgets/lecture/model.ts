/** The lecture's words and numbers: one study's intervals at a loss, and how many of all hold the truth. No DOM. */
import { number } from '../../maths/digits';
import { marks } from '../../maths/scale';
import type { SharedFacts } from '../coverage/facts';
import {
  countAt,
  endsAt,
  nearestLoss,
  reachAt,
  type SharedRow,
  type SharedStudies
} from '../coverage/shared_model';

export interface LectureFacts {
  readonly question: string;
  /** The people of a study. */
  readonly n: number;
  readonly kind: 'epsilon' | 'rho';
  readonly loss: number;
  readonly level: number;
  /** Whether an answer is a share, said in percent. */
  readonly percent: boolean;
  /** What an answer lies between, where that is public. */
  readonly bounds: readonly [number, number] | null;
  readonly shared: SharedFacts;
  readonly problem: string;
}

export interface LectureSet {
  loss: number;
  /** How many studies were here when more were asked for. */
  reached: number;
  /** Of which studies which forty are drawn. */
  page: [number, number];
}

/** Both intervals of a study: what noise hides, and what noise and chance hide. */
export interface Both {
  readonly privacy: SharedRow;
  readonly confidence: SharedRow;
}

export function bothOf({ rows }: SharedStudies): Both | null {
  const [privacy, confidence] = ['privacy', 'confidence'].map(name => rows.find(row => row.name === name));
  return privacy === undefined || confidence === undefined ? null : { privacy, confidence };
}

export type Axis = readonly [low: number, high: number];

/** What the picture shows from bottom to top: fixed for all losses by where the handle stood first, and inside the bounds. */
export function axisOf(shared: SharedStudies, { confidence }: Both, { loss, bounds }: LectureFacts): Axis {
  const middle = shared.parameter ?? shared.truths[0]!;
  const reach = 2 * reachAt(shared, confidence, loss);
  const [low, high] = [middle - reach, middle + reach];
  return bounds === null ? [low, high] : [Math.max(low, bounds[0]), Math.min(high, bounds[1])];
}

/** The words at the axis, at most so many. */
export function marksOf([low, high]: Axis, percent: boolean): [number, string][] {
  const size = percent ? 100 : 1;
  const found = marks([size * low, size * high], 6);
  return found.map(([value, words], i) => [
    value / size,
    percent && i === found.length - 1 ? `${words} %` : words
  ]);
}

/** The decimals in which an interval of this width is said. */
const decimalsOf = (width: number): number => Math.min(Math.max(0, 1 - Math.floor(Math.log10(width))), 12);

/** An interval in words: 33 to 43 %. */
export function spanWords([low, high]: readonly [number, number], percent: boolean): string {
  const size = percent ? 100 : 1;
  const decimals = high > low ? decimalsOf(size * (high - low)) : null;
  const [from, to] = [low, high].map(end => number(size * end, decimals));
  return `${from} to ${to}${percent ? ' %' : ''}`;
}

/** What is true, in words. */
export function truthWords({ parameter }: SharedStudies, percent: boolean): string {
  return parameter === null
    ? ''
    : `truth ${number(percent ? 100 * parameter : parameter)}${percent ? ' %' : ''}; `;
}

/** The study that is followed: the first of those that are drawn. */
export const ownOf = ({ first }: SharedStudies): number => first;

/** Both intervals of the study that is followed. */
export function spansAt(shared: SharedStudies, { privacy, confidence }: Both, loss: number) {
  const study = ownOf(shared);
  return {
    privacy: endsAt(shared, privacy, loss, study),
    confidence: endsAt(shared, confidence, loss, study)
  };
}

/** How many of the forty, and of all, hold the truth at the nearest computed loss. */
export function holding(shared: SharedStudies, { confidence }: Both, loss: number) {
  const at = nearestLoss(shared.values, loss);
  const [few, all] = [countAt(shared, confidence, at, 'drawn'), countAt(shared, confidence, at)];
  return {
    few: `${few[1]} of ${few[0]}`,
    all: `${((100 * all[1]) / Math.max(all[0], 1)).toFixed(1)} % of ${number(all[0])} studies hold it`
  };
}

/** The whole picture in one sentence, for who hears it. */
export function sentence(facts: LectureFacts, shared: SharedStudies, both: Both, loss: number): string {
  const symbol = facts.kind === 'epsilon' ? 'ε' : 'ρ';
  const [spans, held] = [spansAt(shared, both, loss), holding(shared, both, loss)];
  const [these, all] = [spans.privacy, spans.confidence].map(one => spanWords(one, facts.percent));
  return `At ${symbol} ${number(loss)}: ${these} of these ${number(facts.n)}, ${all} of all. ${held.few} intervals hold the truth; ${held.all}.`;
}
