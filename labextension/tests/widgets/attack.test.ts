import { describe, expect, it } from 'vitest';
import {
  between,
  chosenOf,
  drawnOf,
  fallWords,
  heard,
  percent,
  placesOf,
  PRIVATE,
  rangeOf,
  readingOf,
  sentence,
  startOf,
  within,
  type Attack,
  type AttackFacts,
  type Published
} from '../../src/widgets/attack/model';

const one = (key: string, recovered: number[], bound: number[] | null = null): Published => ({
  key,
  label: `as ${key}`,
  note: 'Published as it is.',
  recovered,
  error: recovered.map(() => 0.01),
  bound,
  falls: null
});
const attack: Attack = {
  goal: 'find them',
  guess: 'a coin',
  loss: 'one answer',
  epsilons: [0.1, 1, 10],
  baseline: 0.5,
  done: 3,
  publications: [one('exact', [0.9]), one(PRIVATE, [0.5, 0.6, 0.8], [0.52, 0.7, 0.9, 1])]
};
const facts: AttackFacts = {
  attacks: ['tracing', 'averaging'],
  attack: 'tracing',
  epsilon: 1,
  rng: 0,
  reps: 10,
  pulled: 0,
  run: { tracing: attack },
  code: '',
  problem: ''
};

describe('what was set last', () => {
  it('is taken over', () => {
    expect(startOf(facts, { attack: 'averaging', published: 'exact', epsilon: 3 })).toEqual({
      attack: 'averaging',
      published: 'exact',
      epsilon: 3
    });
  });
  it('is left out where these facts do not know it', () => {
    expect(heard(facts, { attack: 'another' })).toEqual({});
    for (const epsilon of [0, -1, NaN]) {
      expect(heard(facts, { epsilon })).toEqual({});
    }
    expect(startOf(facts, {})).toEqual({ attack: 'tracing', published: PRIVATE, epsilon: 1 });
  });
});

describe('a line between points', () => {
  it('meets its points, is straight between them, and level beyond them', () => {
    const xs = [0, 0.5, 1];
    expect([-1, 0, 0.25, 0.5, 0.75, 1, 2].map(at => between(at, xs, [0, 1, 3]))).toEqual([
      0, 0, 0.5, 1, 2, 3, 3
    ]);
  });
  it('of a single value is that value everywhere', () => {
    expect([-1, 0.3, 9, NaN].map(at => between(at, [0, 1], [0.7]))).toEqual([0.7, 0.7, 0.7, 0.7]);
  });
  it('at a place that is no number ends where the line ends', () => {
    expect(between(NaN, [0, 1], [0.2, 0.4])).toBe(0.4);
  });
});

describe('a publication at a loss', () => {
  it('has the simulated share at a simulated loss, and the bound of its own finer grid', () => {
    const { share, error, bound } = readingOf(attack, attack.publications[1]!, 1);
    expect(share).toBeCloseTo(0.6, 12);
    expect(error).toBeCloseTo(0.01, 12);
    expect(bound).toBeCloseTo(0.8, 12); // half way between the second and the third of four
  });
  it('is read at the nearest end beyond the losses that were run', () => {
    expect(readingOf(attack, attack.publications[1]!, 1e9).share).toBe(0.8);
    expect(readingOf(attack, attack.publications[1]!, 1e-9).bound).toBe(0.52);
  });
  it('without a promise has no bound, and one share at every loss', () => {
    expect(readingOf(attack, attack.publications[0]!, 3)).toEqual({ share: 0.9, error: 0.01, bound: null });
  });
  it('with a bound of one point has it at every loss', () => {
    expect(readingOf(attack, one('flat', [0.5], [0.6]), 3).bound).toBe(0.6);
  });
});

it('losses stand evenly along their logarithms, and one is moved into their range', () => {
  expect(placesOf(attack).map(at => at.toFixed(3))).toEqual(['0.000', '0.500', '1.000']);
  expect([1e-9, 2, 1e9].map(epsilon => within(rangeOf(attack), epsilon))).toEqual([0.1, 2, 10]);
});

it('the chosen publication is read, and the private one drawn where the chosen one has no curve', () => {
  expect(chosenOf(attack, 'exact').key).toBe('exact');
  expect(chosenOf(attack, 'gone').key).toBe(PRIVATE);
  expect(drawnOf(attack, attack.publications[0]!).key).toBe(PRIVATE);
  expect(drawnOf(attack, attack.publications[1]!).key).toBe(PRIVATE);
});

it('a share is told in whole percent, and in two digits where it is small', () => {
  expect([0, 0.00123, 0.0994, 0.0995, 0.5, 1].map(percent)).toEqual([
    '0 %',
    '0.12 %',
    '9.9 %',
    '10 %',
    '50 %',
    '100 %'
  ]);
});

describe('the sentence', () => {
  const dp = attack.publications[1]!;
  const told = (share: number, bound: number | null): string =>
    sentence(dp, { share, error: 0, bound }, 0.5, 1);
  it('says that nothing is promised where there is no bound', () => {
    expect(told(0.9, null)).toBe(
      'Published as it is. The attack recovers 90 % (900 of 1,000); guessing recovers 50 % (500). Nothing is promised, so another attack may recover more.'
    );
  });
  it('names the most that the loss lets through, rounded up', () => {
    expect(told(0.6, 0.70001)).toMatch(
      /At this price \(ε 1\) no attack can expect more than 70\.1 % \(701 of/
    );
  });
  it('says when a loss rules out nothing', () => {
    expect(told(0.6, 0.9951)).toMatch(/no attack is ruled out\.$/);
  });
  it('says when more is recovered than was promised', () => {
    expect(told(0.7401, 0.71)).toMatch(/this noise does not keep its promise\.$/);
    expect(told(0.7399, 0.71)).toMatch(/no attack can expect more/);
  });
  it('of the button names the loss, or that there is none', () => {
    expect(fallWords(0.12345)).toBe('ε 0.123 makes it no better than guessing');
    expect(fallWords(null)).toBe('at every ε shown here it beats guessing');
  });
});
