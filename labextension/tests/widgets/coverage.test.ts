import { describe, expect, it } from 'vitest';
import type { CoverageFacts, CoverageSetup } from '../../src/widgets/coverage/facts';
import { buttonsOf, codeOf, nextOf, sentence, startOf } from '../../src/widgets/coverage/model';

const facts = (more: Partial<CoverageFacts> = {}): CoverageFacts =>
  ({
    setup: { kind: 'epsilon', level: 0.95 } as CoverageSetup,
    ...{ view: 'studies', studies: 0, reps: 100, pulled: 0, sweep: null, findings: [], problem: '', ...more }
  }) as CoverageFacts;
const going = (now: CoverageFacts): ReturnType<typeof startOf> => ({ ...startOf(now, {}), going: true });

describe('what comes next', () => {
  it.each([
    ['wait', 'it rests', startOf(facts(), {}), facts()],
    ['ask', 'it goes on', going(facts()), facts()],
    ['wait', 'the kernel has not answered', { ...going(facts()), asked: 3 }, facts({ pulled: 2 })],
    ['ask', 'it has', { ...going(facts()), asked: 3 }, facts({ pulled: 3 })],
    ['end', 'all are there', going(facts()), facts({ studies: 100 })],
    ['end', 'something is wrong', going(facts()), facts({ problem: 'no' })]
  ] as const)('is %s where %s', (next, _, play, now) => {
    expect(nextOf(play, now)).toBe(next);
  });
});

it('the buttons and the code say what they do', () => {
  const rest = startOf(facts(), {});
  const found = [0, 40, 100].map(studies => buttonsOf(rest, facts({ studies })));
  expect(found.map(one => `${one.start} ${one.cancel}`)).toEqual([
    'Start Cancel',
    'Resume Cancel',
    'Again Clear'
  ]);
  expect(buttonsOf({ ...rest, going: true }, facts())).toEqual({ start: 'Pause', cancel: 'Cancel' });
  expect([0, 40, 100].map(studies => codeOf(facts({ studies })))).toEqual([
    'The code that simulates this',
    'The code that reproduces these 40 studies, to the bit',
    'The code that reproduces this, to the bit'
  ]);
});

it('what is heard begins with how to begin, then says what was found at the value of a sweep', () => {
  expect(sentence(facts(), 0)).toBe(
    'Press Start: 100 studies are simulated, and intervals that claim 95 % are put to the test.'
  );
  const finding = { name: 'naive', mark: '✕', said: 'naive: 9 missed.', cells: [] };
  const swept = { over: 'n', values: [10, 20], rows: [], at: 0, notes: [] } as const;
  const now = facts({ studies: 40, sweep: swept, findings: [[], [finding]] });
  expect([0, 1].map(at => sentence(now, at))).toEqual([
    'At n 10 nothing is simulated yet: go on, or move the cursor below. 40 studies, intervals that claim 95 %.',
    'At n 20: naive: 9 missed. 40 studies, intervals that claim 95 %.'
  ]);
});
