import { describe, expect, it } from 'vitest';
import { leaves, partAt, partsOf, rangeOf, toldAt, type CompareFacts } from '../../src/widgets/compare/model';
import { apart } from '../../src/widgets/parts/line_names';

const share = {
  name: 'got',
  unit: '',
  given: 'for 2,890',
  curve: { loss: [0.01, 10], width: [0.5, 0.0005] },
  span: 1
};
const rank = {
  name: 'age',
  unit: 'rows of rank',
  given: '',
  curve: { loss: [0.1, 20], width: [152.2, 0.761] },
  span: 4820
};
const facts: CompareFacts = {
  dataset: 'hiv',
  kind: 'epsilon',
  symbol: 'ε',
  questions: [share, rank],
  left: 3,
  start: 1,
  problem: ''
};

describe('several questions at one loss', () => {
  it('has the losses that every curve has', () => {
    expect(rangeOf(facts)).toEqual({ low: 0.1, high: 10 });
    expect(partsOf(facts).high).toBeCloseTo(0.05);
  });
  it('tells each in its own unit, and draws parts of ranges', () => {
    expect(toldAt(share, 1)).toBe('± 0.0050 for 2,890');
    expect(toldAt(rank, 1)).toMatch(/^± 15 rows of rank$/);
    expect(partAt(rank, 1)).toBeCloseTo(15.22 / 4820, 6);
    expect(partAt({ ...share, span: 0.001 }, 0.01)).toBe(1);
  });
  it('says what all of them would leave', () => {
    expect(leaves(facts, 1)).toBe('All 2 at this loss cost at most ε 2; ε 1 would be left.');
    expect(leaves(facts, 2)).toContain('only ε 3 is left');
  });
  it('keeps labels apart and inside', () => {
    expect(apart([10, 12, 50], 15, 100)).toEqual([10, 25, 50]);
    expect(apart([95, 99], 15, 100)).toEqual([85, 100]);
  });
});
