import { describe, expect, it } from 'vitest';
import type { SharedStudies } from '../../src/widgets/coverage/shared_model';
import {
  axisOf,
  bothOf,
  holding,
  marksOf,
  sentence,
  spansAt,
  spanWords,
  truthWords,
  type LectureFacts
} from '../../src/widgets/lecture/model';

/** Two studies at two losses: at the smaller one the second misses .34. */
const shared: SharedStudies = {
  of: 0,
  values: [0.1, 1],
  studies: 2,
  goal: 2,
  first: 0,
  drawn: 2,
  places: 2,
  answers: new Float32Array([0.3, 0.5, 0.3, 0.36]),
  truths: new Float32Array([0.31, 0.36]),
  parameter: 0.34,
  smooth: true,
  rows: [
    {
      name: 'confidence',
      about: 'population',
      ends: new Float32Array([0.1, 0.5, 0.4, 0.6, 0.25, 0.37, 0.3, 0.42]),
      held: new Uint8Array([1, 0, 1, 1])
    },
    {
      name: 'privacy',
      about: 'dataset',
      ends: new Float32Array([0.2, 0.4, 0.45, 0.55, 0.29, 0.31, 0.35, 0.37]),
      held: new Uint8Array([1, 0, 1, 1])
    }
  ]
};
const both = bothOf(shared)!;
const facts: LectureFacts = {
  question: 'How many?',
  n: 200,
  kind: 'epsilon',
  loss: 1,
  level: 0.95,
  percent: true,
  bounds: [0, 1],
  shared: { ...shared, methods: [] },
  problem: ''
};

describe('the lecture', () => {
  it('follows the first study between computed losses', () => {
    const { privacy, confidence } = spansAt(shared, both, Math.sqrt(0.1));
    expect(privacy[0]).toBeCloseTo(0.245, 6);
    expect(confidence[1]).toBeCloseTo(0.435, 6);
  });
  it('counts at the nearest computed loss', () => {
    expect(holding(shared, both, 0.12)).toEqual({ few: '1 of 2', all: '50.0 % of 2 studies hold it' });
    expect(holding(shared, both, 0.9).few).toBe('2 of 2');
  });
  it('has one axis for all losses, inside the bounds of the answer', () => {
    const axis = axisOf(shared, both, facts);
    expect(axis).toEqual(axisOf(shared, both, { ...facts, bounds: [-1, 2] }));
    expect(axisOf(shared, both, { ...facts, bounds: [0.3, 0.35] })).toEqual([0.3, 0.35]);
    expect(axis[0] + axis[1]).toBeCloseTo(0.68, 6);
  });
  it('says shares in percent, with the digits that the interval allows', () => {
    expect(spanWords([0.332, 0.431], true)).toBe('33.2 to 43.1 %');
    expect(spanWords([0.22, 0.44], true)).toBe('22 to 44 %');
    expect(spanWords([16.2, 33.4], false)).toBe('16 to 33');
    expect(truthWords(shared, true)).toBe('truth 34 %; ');
    expect(truthWords({ ...shared, parameter: null }, true)).toBe('');
    expect(marksOf([0, 0.5], true).at(-1)).toEqual([0.5, '50 %']);
  });
  it('is told in one sentence', () => {
    expect(sentence(facts, shared, both, 1)).toBe(
      'At ε 1: 29.0 to 31.0 % of these 200, 25 to 37 % of all. 2 of 2 intervals hold the truth; 100.0 % of 2 studies hold it.'
    );
  });
  it('is nothing without both intervals', () => {
    expect(bothOf({ ...shared, rows: shared.rows.slice(1) })).toBeNull();
  });
});
