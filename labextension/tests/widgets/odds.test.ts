import { describe, expect, it } from 'vitest';
import {
  after,
  answerAt,
  answers,
  answerWords,
  beliefOf,
  counts,
  permitted,
  ratioWords,
  REACH,
  tableOf,
  type OddsFacts
} from '../../src/widgets/odds/model';
import { manyTimes } from '../../src/maths/digits';

const facts: OddsFacts = {
  prior: 0.25,
  epsilon: 1,
  delta: 0,
  people: 1000,
  chance: 0.05,
  law: { kind: 'discrete-laplace', scale: 1 },
  problem: ''
};
const now = { epsilon: 1, prior: 0.25, delta: 0 };

describe('a belief', () => {
  it('becomes at most what the odds times e^ε make of it', () => {
    const odds = (0.25 / 0.75) * Math.E;
    expect(after(facts, 0.25, 1, 0)).toBeCloseTo(odds / (1 + odds), 12);
    expect(after(facts, 0.25, 1, 1e-6)).toBeGreaterThan(after(facts, 0.25, 1, 0));
  });
  it('is told in percent and in people, rounded up', () => {
    expect(beliefOf(facts, now)).toMatchObject({
      before: 250,
      after: 476,
      bound: '25 % → 47.6 %',
      sentence:
        'An honest 25 % guess becomes at most 47.6 %: of 1,000 people like this, 250 before and at most 476 after.'
    });
  });
  it('of nobody is nobody, and none becomes more than all', () => {
    expect(counts(0.5, 0.9, 0).after).toBeCloseTo(0, 12);
    expect(counts(0.5, 1.5, 10)).toEqual({ before: 5, after: 10 });
    expect(beliefOf({ ...facts, people: 1e15 }, { ...now, epsilon: 10 }).after).toBeLessThanOrEqual(1e15);
    expect(beliefOf(facts, { ...now, epsilon: NaN }).most).toBeNaN();
  });
  it('has its row in the table once', () => {
    expect(tableOf(facts, now).map(row => row.prior)).toEqual([0.01, 0.1, 0.25, 0.5, 0.75]);
    expect(tableOf(facts, { ...now, prior: 0.3 }).map(row => row.prior)).toContain(0.3);
    expect(tableOf(facts, now)[2]!.cells[3]).toBe('47.6 %');
  });
});

it('a δ takes something away from the promise', () => {
  expect(permitted(facts, 0)).toBe('This holds for every answer.');
  expect(permitted(facts, 1e-6)).toBe(
    'With δ it holds for evidence that chance alone gives 5 % of the time; about 1 answer in 1,000,000 may tell everything.'
  );
});

describe('answers in two worlds', () => {
  it('are likeliest at the count of their world', () => {
    const [without, withYou] = [answers(facts, 1, 0), answers(facts, 1, 1)];
    expect(without.length).toBe(2 * REACH + 1);
    expect(without.find(([k]) => k === 0)![1]).toBe(1);
    expect(withYou.find(([k]) => k === 1)![1]).toBe(1);
    withYou.forEach(([, likely], i) => {
      const ratio = likely / without[i]![1];
      expect(Math.max(ratio, 1 / ratio)).toBeLessThanOrEqual(Math.E * (1 + 1e-9));
    });
  });
  it('are no likelier in one world than e^ε', () => {
    expect(ratioWords(facts, 1, 2)).toMatch(
      /2\.72 times as likely with you\. .* e\^ε times as likely, here 2\.72 times\./
    );
    expect(ratioWords(facts, 1, -2)).toMatch(/2\.72 times as likely without you\./);
  });
  it('are whole numbers that are drawn', () => {
    expect([0.4, 2.6, -99, 99].map(answerAt)).toEqual([0, 3, -REACH, REACH]);
    expect([-2, 0, 3].map(answerWords)).toEqual([
      'the true count without you minus 2',
      'the true count without you plus 0',
      'the true count without you plus 3'
    ]);
  });
});

it('very many times are told without powers of ten', () => {
  expect([2.718, 1097, 22026, 4.85e8].map(manyTimes)).toEqual([
    '2.72',
    '1,100',
    '22,000',
    'more than a million'
  ]);
});
