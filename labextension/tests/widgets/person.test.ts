import { describe, expect, it } from 'vitest';
import type { Statistic } from '../../src/maths/person';
import {
  changeOf,
  changeWords,
  inside,
  KINDS,
  largestMoves,
  personWords,
  put,
  reachOf,
  sensitivityWords,
  sentence,
  startOf,
  stepOf,
  type Noise,
  type PersonFacts
} from '../../src/widgets/person/model';

const noise = Object.fromEntries(
  KINDS.map(([kind]) => [
    kind,
    { sensitivity: kind === 'mean' ? 2 : null, scale: kind === 'slope' ? null : 2 }
  ])
) as Record<Statistic, Noise>;
const facts: PersonFacts = {
  values: [0, 3, 7],
  arms: [0, 0, 1],
  scores: [0, 0.5, 1],
  low: 0,
  high: 7,
  kind: 'mean',
  noise,
  epsilon: 1,
  problem: ''
};
const now = startOf(facts);

it('a person may go a seventh of the width past each bound', () => {
  expect(reachOf(facts)).toEqual({ low: -1, high: 8 });
  expect(put(facts, now, 0, 99, {}).values).toEqual([8, 3, 7]);
  expect(put(facts, now, 0, -99, { arm: 1, score: 0.25 })).toEqual({
    values: [-1, 3, 7],
    arms: [1, 0, 1],
    scores: [0.25, 0.5, 1]
  });
  expect([-1, 3, 8].map(value => inside(value, facts))).toEqual([0, 3, 7]);
});

describe('the change of a statistic', () => {
  it('is what the moved person does to it, past the bounds no more than at them', () => {
    const far = { ...now, values: [8, 3, 7] };
    expect(changeOf(facts, now).change).toBe(0);
    expect(changeOf(facts, far).change).toBeCloseTo(7 / 3, 12);
    expect(changeOf(facts, { ...now, values: [7, 3, 7] })).toEqual(changeOf(facts, far));
  });
  it('is none where a table has no such statistic', () => {
    const empty = { ...now, kind: 'difference' as const, arms: [0, 0, 0] };
    expect(changeOf(facts, empty)).toMatchObject({ to: null, change: null });
    expect(changeWords(null)).toBe('undefined');
    expect(sentence(facts, empty, 3, null)).toBe(
      'This table has no difference of two arms: an arm is empty, or nobody has a pair.'
    );
  });
  it('is told with its sign', () => {
    expect([0, 0.5, -0.5].map(changeWords)).toEqual(['0', '+0.50', '−0.50']);
  });
  it('is at most the largest move, which is found once', () => {
    const largest = largestMoves(facts);
    expect(largest('mean')).toBe(largest('mean'));
    expect(Math.abs(largest('mean').change)).toBeCloseTo(7 / 3, 12);
    expect(largest('mean')).not.toBe(largest('sum'));
  });
});

describe('what is said', () => {
  it('of the noise: its scale at this loss, and the factor that stays', () => {
    expect(sentence(facts, { ...now, epsilon: 2 }, 3, 1)).toBe(
      'Noise of scale 1 hides it. From a released answer nobody can tell the two tables apart by more than a factor of 7.39.'
    );
    expect(sentence(facts, { ...now, kind: 'sum' }, 3, 1)).toMatch(/^In some tables .* as if by scale 2\./);
    expect(sentence(facts, { ...now, kind: 'slope' }, 3, 1)).toMatch(/noised, never the slope\.$/);
  });
  it('of somebody past the bounds: what they count as', () => {
    expect(sentence(facts, now, 8, 1)).toMatch(/ They are past the bounds and counted as 7\.$/);
    expect(personWords(facts, { ...now, values: [8, 3, 7] }, 0)).toBe('at 8, counted as 7');
  });
  it('of somebody with an arm and a score', () => {
    expect(personWords(facts, now, 1)).toBe('at 3');
    expect(personWords(facts, { ...now, kind: 'difference' }, 2)).toBe('at 7, arm 2');
    expect(personWords(facts, { ...now, kind: 'matched' }, 1)).toBe('at 3, arm 1, score 0.5');
    expect(personWords(facts, { ...now, kind: 'slope' }, 1)).toBe('at 3, score 0.5');
  });
  it('of the sensitivity, where there is one', () => {
    expect((['mean', 'slope', 'median'] as const).map(kind => sensitivityWords(facts, kind))).toEqual([
      '2',
      'no bound',
      'the whole range'
    ]);
  });
});

describe('a key', () => {
  it('moves the person across by a fiftieth of the reach', () => {
    expect(stepOf(facts, now, 1, 1, 0)).toEqual({ value: 3 + 9 / 50, upward: {} });
  });
  it('goes from person to person, round the end, by pages, and upward in a stack', () => {
    expect(stepOf(facts, now, 2, 10, 0)).toEqual({ person: 0 });
    expect(stepOf(facts, now, 0, -10, 0)).toEqual({ person: 2 });
    expect(stepOf(facts, now, 0, 0, 1)).toEqual({ person: 1 });
  });
  it('of somebody alone stays with them', () => {
    const alone = { ...now, values: [1], arms: [0], scores: [0] };
    expect(stepOf(facts, alone, 0, 10, 0)).toEqual({ person: 0 });
  });
  it('moves upward by a score that stays between its ends, or to the other arm', () => {
    expect(stepOf(facts, { ...now, kind: 'slope' }, 2, 0, 1)).toMatchObject({ upward: { score: 1 } });
    expect(stepOf(facts, { ...now, kind: 'slope' }, 1, 0, -1)).toMatchObject({ upward: { score: 0.46 } });
    expect(stepOf(facts, { ...now, kind: 'difference' }, 0, 0, 1)).toMatchObject({ upward: { arm: 1 } });
    expect(stepOf(facts, { ...now, kind: 'difference' }, 0, 1, 0)).toMatchObject({ upward: { arm: 0 } });
  });
});
