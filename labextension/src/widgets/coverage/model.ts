/** A simulation as it comes in: what is asked for next, and what is said of it. No DOM. */
import { number } from '../../maths/digits';
import type { CoverageFacts, CoverageSet } from './facts';
import { findingsAt, whereOf } from './table';

/** Where a simulation is. */
export interface Play {
  /** Whether studies go on coming. */
  going: boolean;
  /** The last block that was asked for. */
  asked: number;
  /** How often it was begun anew. */
  reset: number;
  /** The studies that were here, and what was simulated, as one text. */
  seen: number;
  setup: string;
}

const setupOf = ({ setup, view }: CoverageFacts): string => JSON.stringify([setup, view]);

export function startOf(facts: CoverageFacts, chosen: Partial<CoverageSet>): Play {
  return {
    going: false,
    asked: facts.pulled,
    reset: chosen.reset ?? 0,
    seen: facts.studies,
    setup: setupOf(facts)
  };
}

/** The numbers that a hand drags: a run that was there is run again when it lets one go. */
const DRAGGED = new Set(['loss', 'n', 'k', 'skew', 'outliers', 'share', 'effect']);

/** Whether what was simulated is to be simulated again: one of those numbers is another, and nothing else. */
export function begunAnew(play: Play, facts: CoverageFacts): boolean {
  const rest = (setup: string): string =>
    JSON.stringify(JSON.parse(setup), (name, value: unknown) => (DRAGGED.has(name) ? null : value));
  const [before, now] = [play.setup, setupOf(facts)];
  return play.seen > 0 && before !== now && rest(before) === rest(now);
}

/** Take in what the kernel told. */
export function takeIn(play: Play, facts: CoverageFacts): void {
  [play.setup, play.seen] = [setupOf(facts), facts.studies];
}

export const isDone = ({ studies, reps }: CoverageFacts): boolean => studies >= reps;

/** What comes next: another block, or nothing; or the kernel is waited for. */
export function nextOf(play: Play, facts: CoverageFacts): 'ask' | 'end' | 'wait' {
  if (!play.going) {
    return 'wait';
  }
  if (isDone(facts) || facts.problem !== '') {
    return 'end';
  }
  return facts.pulled >= play.asked ? 'ask' : 'wait';
}

/** What is on the buttons that start and stop it. */
export function buttonsOf(
  { going }: Play,
  facts: CoverageFacts
): { readonly start: string; readonly cancel: string } {
  const done = isDone(facts);
  const resting = done ? 'Again' : facts.studies > 0 ? 'Resume' : 'Start';
  return { start: going ? 'Pause' : resting, cancel: done && !going ? 'Clear' : 'Cancel' };
}

/** What the code is good for: the studies that there are. */
export function codeOf({ studies, reps }: CoverageFacts): string {
  if (studies === 0) {
    return 'The code that simulates this';
  }
  return `The code that reproduces ${studies < reps ? `these ${number(studies)} studies` : 'this'}, to the bit`;
}

/** What the picture says, for who hears it. */
export function sentence(facts: CoverageFacts, at: number): string {
  const level = `${number(100 * facts.setup.level)} %`;
  if (facts.studies === 0) {
    return `Press Start: ${number(facts.reps)} studies are simulated, and intervals that claim ${level} are put to the test.`;
  }
  const found = findingsAt(facts, at).flatMap(({ mark, said }) => (mark === '' ? [] : [said]));
  const [where, all] = [
    whereOf(facts, at),
    `${number(facts.studies)} studies, intervals that claim ${level}.`
  ];
  return (where === '' ? [all, ...found] : [where, ...found, all]).join(' ');
}
