/** A simulation as it comes in: what is asked for next, how much of it is on the screen, and what is said of it. No DOM. */
import { missed } from '../../maths/coverage';
import { number } from '../../maths/digits';
import { LAST } from './intervals';
import { countsOf, whereOf } from './table';
import type { CoverageFacts, CoverageSet, Row, Stack } from './facts';

/** In so many steps a block of studies is played where motion is welcome. */
const STEPS = 20;
/** Long runs are not played: each block is drawn when it comes. */
const PLAYED = 5000;

type Stacks = Readonly<Record<string, Stack>>;

/** Where a simulation is. */
export interface Play {
  /** Whether studies go on coming. */
  going: boolean;
  /** The last block that was asked for. */
  asked: number;
  /** How often it was begun anew. */
  reset: number;
  /** The studies before the last block, and the steps of it that were played. */
  seen: number;
  played: number;
  /** What is simulated, as one text. */
  setup: string;
  before: Stacks;
  latest: Stacks;
}

const setupOf = ({ setup, view }: CoverageFacts): string => JSON.stringify([setup, view]);

const stacksOf = ({ run }: CoverageFacts): Stacks =>
  Object.fromEntries(Object.entries(run?.methods ?? {}).map(([name, one]) => [name, one.stack]));

export function startOf(facts: CoverageFacts, chosen: Partial<CoverageSet>): Play {
  return {
    going: false,
    asked: facts.pulled,
    reset: chosen.reset ?? 0,
    seen: facts.studies,
    played: STEPS,
    setup: setupOf(facts),
    before: {},
    latest: stacksOf(facts)
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

/** Take in what the kernel told: the next block is played where `moves` says that motion is welcome, and drawn at once elsewhere. */
export function takeIn(play: Play, facts: CoverageFacts, moves: boolean): void {
  const setup = setupOf(facts);
  if (setup !== play.setup || facts.studies < play.seen || facts.studies === 0) {
    play.setup = setup;
    [play.before, play.latest] = [{}, stacksOf(facts)];
    [play.seen, play.played] = [facts.studies, STEPS];
  } else if (facts.run !== null && facts.studies > play.seen) {
    play.before = play.latest;
    play.latest = stacksOf(facts);
    play.played = play.going && moves && facts.reps <= PLAYED ? 0 : STEPS;
  }
  if (play.played >= STEPS) {
    play.seen = facts.studies;
  }
}

export const isDone = ({ studies, reps }: CoverageFacts): boolean => studies >= reps;

/** Whether the last block is all on the screen. */
export const isPlayed = ({ played }: Play): boolean => played >= STEPS;

/** What comes next: a step of the block that is here, another block, or nothing; or the kernel is waited for. */
export function nextOf(play: Play, facts: CoverageFacts): 'play' | 'ask' | 'end' | 'wait' {
  if (!play.going) {
    return 'wait';
  }
  if (!isPlayed(play)) {
    return 'play';
  }
  if (isDone(facts) || facts.problem !== '') {
    return 'end';
  }
  return facts.pulled >= play.asked ? 'ask' : 'wait';
}

/** How many studies are on the screen: those before the last block, and the part of it that was played. */
export function shownStudies(play: Play, { studies }: CoverageFacts): number {
  const part = play.played / STEPS;
  return isPlayed(play) ? studies : Math.round(play.seen + (studies - play.seen) * part);
}

/** The methods that are seen, in the order in which they were chosen. */
export const rowsOf = ({ shown }: CoverageFacts, rows: readonly Row[]): Row[] =>
  rows.filter(row => shown.includes(row.name)).sort((a, b) => shown.indexOf(a.name) - shown.indexOf(b.name));

/** The last intervals of a method that are on the screen. */
export function visible({ before, latest, played }: Play, name: string): Stack {
  const newest = latest[name] ?? [];
  const upto = Math.round(newest.length * Math.min(played / STEPS, 1));
  return [...(before[name] ?? []), ...newest.slice(0, upto)].slice(-LAST);
}

/** What is on the buttons that start and stop it. */
export function buttonsOf(
  { going }: Play,
  facts: CoverageFacts,
  now: number
): { readonly start: string; readonly cancel: string } {
  const done = isDone(facts);
  const resting = done && now >= facts.reps ? 'Again' : now > 0 ? 'Resume' : 'Start';
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
export function sentence(facts: CoverageFacts, at: number, now: number): string {
  const level = `${number(100 * facts.setup.level)} %`;
  if (now === 0) {
    return `Press Start: ${number(facts.reps)} studies are simulated, and intervals that claim ${level} are put to the test.`;
  }
  const found = facts.shown.flatMap(name => {
    const one = countsOf(facts, name, at, now);
    return one === null || one.studies === 0 ? [] : [missed(name, one.held, one.studies, facts.setup.level)];
  });
  const where = whereOf(facts, at);
  const words = [where, ...found, `${number(now)} studies, intervals that claim ${level}.`];
  return (where === '' ? [words.at(-1), ...found] : words).join(' ');
}
