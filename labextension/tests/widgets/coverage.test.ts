import { describe, expect, it } from 'vitest';
import type { CoverageFacts, Row, Stack, StudyFacts, Watched } from '../../src/widgets/coverage/facts';
import {
  buttonsOf,
  codeOf,
  isDone,
  isPlayed,
  nextOf,
  rowsOf,
  sentence,
  shownStudies,
  startOf,
  takeIn,
  visible
} from '../../src/widgets/coverage/model';

const stackOf = (from: number, to: number): Stack =>
  Array.from({ length: to - from }, (_, i) => [from + i, from + i + 1, 0, true] as const);
const row = (name: string): Row => ({
  name,
  about: 'population',
  studies: 40,
  held: 38,
  width: 1,
  reason: ''
});
const run = (stack: Stack): StudyFacts => {
  const watched: Watched = { stack, trail: [], errors: [], zero: 0, wide: 0, scores: [] };
  return { rows: [row('plain'), row('confidence')], methods: { confidence: watched }, top: 1, releases: {} };
};
const facts = (more: Partial<CoverageFacts> = {}): CoverageFacts => ({
  question: 'mean',
  from: '',
  statistics: [],
  populations: [],
  sliders: [],
  kind: '',
  shape: null,
  methods: [],
  setup: {
    statistic: 'mean',
    population: 'even',
    n: 100,
    kind: 'epsilon',
    loss: 1,
    reps: 100,
    seed: 0,
    level: 0.95,
    k: 10,
    repaired: false,
    skew: 0,
    outliers: 0,
    share: 0.5,
    effect: 0
  },
  shown: ['confidence', 'plain'],
  view: 'studies',
  studies: 0,
  reps: 100,
  pulled: 0,
  run: null,
  sweep: null,
  shared: null,
  partition: null,
  charge: '',
  compared: '',
  code: '',
  problem: '',
  ...more
});
const playing = (now: CoverageFacts): ReturnType<typeof startOf> => ({ ...startOf(now, {}), going: true });

describe('what comes next', () => {
  it('is nothing while it rests, and another block while it goes on', () => {
    expect(nextOf(startOf(facts(), {}), facts())).toBe('wait');
    expect(nextOf(playing(facts()), facts())).toBe('ask');
  });
  it('is waited for while the kernel has not answered', () => {
    expect(nextOf({ ...playing(facts()), asked: 3 }, facts({ pulled: 2 }))).toBe('wait');
    expect(nextOf({ ...playing(facts()), asked: 3 }, facts({ pulled: 3 }))).toBe('ask');
  });
  it('is a step of the block that is here before another one', () => {
    expect(nextOf({ ...playing(facts()), played: 0 }, facts({ studies: 100 }))).toBe('play');
  });
  it('ends where all are there, or something is wrong', () => {
    expect(nextOf(playing(facts()), facts({ studies: 100 }))).toBe('end');
    expect(nextOf(playing(facts()), facts({ problem: 'no' }))).toBe('end');
    expect([isDone(facts({ studies: 99 })), isDone(facts({ reps: 0 }))]).toEqual([false, true]);
  });
});

describe('what comes in', () => {
  const next = facts({ studies: 40, run: run(stackOf(0, 40)) });
  it('is played where motion is welcome and it goes on', () => {
    const play = playing(facts());
    takeIn(play, next, true);
    expect([play.played, play.seen, shownStudies(play, next)]).toEqual([0, 0, 0]);
    play.played = 10;
    expect(shownStudies(play, next)).toBe(20);
    expect(visible(play, 'confidence')).toEqual(stackOf(0, 20));
    play.played = 20;
    expect([isPlayed(play), shownStudies(play, next)]).toEqual([true, 40]);
    expect(visible(play, 'confidence')).toEqual(stackOf(0, 40));
  });
  it('is drawn at once elsewhere, and in long runs', () => {
    for (const [play, now, moves] of [
      [playing(facts()), next, false],
      [startOf(facts(), {}), next, true],
      [playing(facts({ reps: 1_000_000 })), { ...next, reps: 1_000_000 }, true]
    ] as const) {
      takeIn(play, now, moves);
      expect([play.seen, shownStudies(play, now)]).toEqual([40, 40]);
    }
  });
  it('comes after what was there: the last forty are seen', () => {
    const play = playing(facts());
    takeIn(play, next, false);
    takeIn(play, facts({ studies: 60, run: run(stackOf(40, 60)) }), false);
    expect(visible(play, 'confidence')).toEqual(stackOf(20, 60));
    expect(visible(play, 'another')).toEqual([]);
  });
  it('of another setup, or begun anew, starts again', () => {
    for (const other of [facts({ view: 'n' }), facts({ studies: 0 })]) {
      const play = playing(facts());
      takeIn(play, next, false);
      takeIn(play, other, true);
      expect([play.before, play.latest, play.seen, isPlayed(play)]).toEqual([{}, {}, 0, true]);
    }
  });
});

it('methods stand in the order in which they were chosen', () => {
  expect(rowsOf(facts(), [row('plain'), row('other'), row('confidence')]).map(one => one.name)).toEqual([
    'confidence',
    'plain'
  ]);
  expect(rowsOf(facts({ shown: [] }), [row('plain')])).toEqual([]);
});

it('the buttons say what they do', () => {
  const rest = startOf(facts(), {});
  expect(buttonsOf(rest, facts(), 0)).toEqual({ start: 'Start', cancel: 'Cancel' });
  expect(buttonsOf(rest, facts({ studies: 40 }), 40)).toEqual({ start: 'Resume', cancel: 'Cancel' });
  expect(buttonsOf(rest, facts({ studies: 100 }), 100)).toEqual({ start: 'Again', cancel: 'Clear' });
  expect(buttonsOf({ ...rest, going: true }, facts({ studies: 100 }), 80)).toEqual({
    start: 'Pause',
    cancel: 'Cancel'
  });
});

it('the code says what it reproduces', () => {
  expect([0, 40, 100].map(studies => codeOf(facts({ studies })))).toEqual([
    'The code that simulates this',
    'The code that reproduces these 40 studies, to the bit',
    'The code that reproduces this, to the bit'
  ]);
});

it('what is heard begins with how to begin', () => {
  expect(sentence(facts(), 0, 0)).toBe(
    'Press Start: 100 studies are simulated, and intervals that claim 95 % are put to the test.'
  );
  expect(sentence(facts({ studies: 40, run: run([]), shown: [] }), 0, 40)).toBe(
    '40 studies, intervals that claim 95 %.'
  );
});
