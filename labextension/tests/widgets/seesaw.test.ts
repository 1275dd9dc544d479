import { describe, expect, it } from 'vitest';
import {
  balanceAt,
  cellFor,
  isBalance,
  lossOf,
  named,
  narrowest,
  neighbours,
  peopleTyped,
  widthForPeople,
  widthOf,
  type SeesawFacts
} from '../../src/widgets/seesaw/model';

const facts = {
  name: 'waits',
  verb: '',
  kind: 'epsilon' as const,
  left: 3,
  start: 1,
  curve: { loss: [0.01, 10], width: [2, 0.002] },
  register: []
};

describe('the cell that releases a question', () => {
  it('has the loss under the hand on its magic line, and the name of the notebook', () => {
    expect(cellFor(facts, 0.1234)).toBe('%%dp epsilon=0.123\nwaits');
    expect(cellFor({ ...facts, kind: 'rho' }, 0.0001)).toBe('%%dp rho=0.0001\nwaits');
  });
  it('says that it releases where cells stop at their plan', () => {
    expect(cellFor({ ...facts, verb: 'release' }, 1)).toBe('%%dp release epsilon=1\nwaits');
  });
  it('is none where nothing has a name', () => {
    expect(cellFor({ ...facts, name: '' }, 1)).toBeNull();
    expect(cellFor({ kind: 'epsilon' }, 1)).toBeNull();
  });
});

it('an answer is drawn where it has a curve, what is left, and whether there is a name', () => {
  expect(isBalance(facts)).toBe(true);
  for (const wrong of [
    null,
    3,
    {},
    { ...facts, name: undefined },
    { ...facts, kind: 'delta' },
    { ...facts, left: null },
    { ...facts, start: '1' },
    { ...facts, curve: { loss: [1], width: [1] } },
    { ...facts, curve: { loss: [0.01, 10], width: [2, null] } },
    { ...facts, curve: { loss: [0.01, 1, 10], width: [2, 1] } },
    { ...facts, register: null }
  ]) {
    expect(isBalance(wrong)).toBe(false);
  }
});

describe('ε and ± of one question', () => {
  const seesaw: SeesawFacts = {
    ...facts,
    question: 'hiv.got.mean()',
    dataset: 'hiv',
    symbol: 'ε',
    curve: { loss: [0.01, 0.1, 1, 10], width: [2, 0.2, 0.02, 0.002] },
    law: null,
    unit: '',
    size: { planned: null, asked: false },
    domain: [0, 1],
    people: { n: 1000, sampling: 0.00025, noise: [1, 0.1, 0.01, 0.001] },
    problem: ''
  };
  const rows: SeesawFacts = {
    ...seesaw,
    law: { kind: 'discrete-laplace', scale: 1, unit: 1 },
    unit: 'rows',
    people: null
  };
  it('are read from the curve, one from the other', () => {
    expect(widthOf(seesaw, 1)).toBeCloseTo(0.02, 12);
    expect(lossOf(seesaw, 0.02)).toBe(1);
    expect(lossOf(seesaw, 1e-9)).toBe(10);
    expect([narrowest(seesaw), narrowest(rows)]).toEqual([0.002, 1]);
  });
  it('are told in the unit of the question', () => {
    expect(named(seesaw, 0.01234)).toBe('± 0.012');
    expect(named(rows, 3.2)).toBe('± 3 rows');
  });
  it('say what would be left, or that it would be refused', () => {
    expect(balanceAt(seesaw, 1)).toMatchObject({
      fits: true,
      releases: true,
      price: 'ε 1',
      left: 'ε 2 would be left in hiv',
      cell: '%%dp epsilon=1\nwaits'
    });
    expect(balanceAt(seesaw, 5)).toMatchObject({
      fits: false,
      releases: false,
      left: 'only ε 3 is left: this would be refused'
    });
    expect(balanceAt({ ...seesaw, left: 0 }, 0.01).releases).toBe(false);
    expect(balanceAt({ ...seesaw, problem: 'no such question' }, 1).releases).toBe(false);
  });
  it('tell of people where they are known', () => {
    expect(balanceAt(seesaw, 1).people).toBe('714 of 1,000');
    expect(balanceAt(rows, 1).people).toBeNull();
    expect(balanceAt(rows, 1).description).not.toContain('people');
  });
  it('find the ± of so many people, and of as many as there are none', () => {
    expect(widthForPeople(seesaw, 714)).toBeCloseTo(0.02, 4);
    expect(widthForPeople(seesaw, 1000)).toBeNull();
    expect(widthForPeople(seesaw, 1e-12)).toBeNull();
    expect(widthForPeople(rows, 10)).toBeNull();
  });
});

it('a number of people is a whole number above 0', () => {
  expect(['1,200', ' 7 ', '0', '-3', '1.5', '', 'many', '1e300'].map(peopleTyped)).toEqual([
    1200,
    7,
    ...Array<null>(6).fill(null)
  ]);
});

it('the published losses nearest below and above are named', () => {
  const register = [1, 2, 4].map(epsilon => ({ epsilon, words: `study ${epsilon}` }));
  expect(neighbours(register, 2)).toBe('Published by others: ε 2 (study 2); ε 4 (study 4).');
  expect(neighbours(register, 0.5)).toBe('Published by others: ε 1 (study 1).');
  expect(neighbours(register, 9)).toBe('Published by others: ε 4 (study 4).');
  expect(neighbours([], 1)).toBe('');
});
