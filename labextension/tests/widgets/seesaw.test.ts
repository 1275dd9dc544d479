import { describe, expect, it } from 'vitest';
import { cellFor, isBalance } from '../../src/widgets/seesaw/view';

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
