import { describe, expect, it } from 'vitest';
import {
  lossNote,
  pairsOf,
  pairWords,
  sentence,
  sigmaOf,
  standingOf,
  startOf,
  type SyntheticFacts
} from '../../src/widgets/synthetic/model';

const facts: SyntheticFacts = {
  dataset: '10,000 people',
  columns: [
    { name: 'age', levels: 6 },
    { name: 'educ', levels: 5 },
    { name: 'married', levels: 2 }
  ],
  asked: [true, true, true],
  n: 10_000,
  kind: 'rho',
  loss: 0.0244,
  law: { kind: 'discrete-gaussian', scale: 1 },
  gates: { full: 5, least: 1.5, tables: 190 },
  problem: ''
};
const now = startOf(facts);

it('pairs are those of the rows of a matrix, of at most twenty columns', () => {
  expect(pairsOf(3)).toEqual([
    [0, 1],
    [0, 2],
    [1, 2]
  ]);
  expect(pairsOf(10_000)).toHaveLength(190);
});

describe('the noise of a cell', () => {
  it('grows with the root of the tables where ρ is counted, and with their number where ε is', () => {
    expect(sigmaOf(facts, 4, 1)).toBeCloseTo(2, 6);
    expect(sigmaOf(facts, 4, 0.01)).toBeCloseTo(20, 6);
    const pure: SyntheticFacts = { ...facts, kind: 'epsilon', law: { kind: 'discrete-laplace', scale: 2 } };
    expect(sigmaOf(pure, 10, 1)).toBeCloseTo(20 * Math.SQRT2, 1);
  });
});

describe('what a loss keeps', () => {
  it('is every table where the signal is strong', () => {
    const found = standingOf(facts, now);
    expect(found).toMatchObject({ tables: 3, cells: 30, level: 'full' });
    expect(found.g).toBeCloseTo(10_000 / (30 * Math.sqrt(3 / 0.0244)), 6);
    expect(sentence(found)).toBe('3 tables measured, intervals of 95 %.');
  });
  it('loses the largest tables first, until the rest is strong enough', () => {
    const found = standingOf({ ...facts, n: 400 }, now);
    expect(found.states).toEqual(['weak', 'measured', 'measured']);
    expect(found.g).toBeGreaterThanOrEqual(1.5);
    expect(found.g).toBeCloseTo(400 / (12 * Math.sqrt(2 / 0.0244)), 6);
    expect(sentence(found)).toBe(
      '2 tables measured, intervals of about 90 %. 1 table must go (crossed out).'
    );
  });
  it('is no more tables than a pure ε may have', () => {
    const few = { ...facts, gates: { ...facts.gates, tables: 1 } };
    expect(standingOf(few, { ...now, loss: 1 }).states).toEqual(['weak', 'weak', 'measured']);
  });
  it('is nothing at a loss so small', () => {
    const found = standingOf(facts, { ...now, loss: 1e-6 });
    expect(found).toMatchObject({ tables: 0, level: 'none', g: 0, sigma: 0 });
    expect(sentence(found)).toMatch(/^No table is strong enough/);
  });
  it('is what was chosen: a column that is left out takes its tables along', () => {
    expect(standingOf(facts, { ...now, columns: [1, 1, 0] }).states).toEqual(['measured', 'out', 'out']);
    expect(standingOf(facts, { ...now, pairs: [0, 1, 1] }).states[0]).toBe('unasked');
    expect(sentence(standingOf(facts, { ...now, pairs: [0, 0, 0] }))).toBe(
      'Choose at least one pair of columns.'
    );
  });
  it('is said of each pair', () => {
    expect(pairWords(facts, [0, 1], 'weak')).toBe('age by educ, 6 × 5 cells: too weak at this loss');
  });
});

it('a ρ is told as an ε, an ε needs no note', () => {
  expect(lossNote(facts, 0.0244)).toBe('ε 1 at δ = 10⁻⁶');
  expect(lossNote({ ...facts, kind: 'epsilon' }, 1)).toBe('');
});
