import { describe, expect, it } from 'vitest';
import type { PlanFacts, PlannedQuestion } from '../../src/widgets/plan/model';
import {
  canReserve,
  costWords,
  equal,
  even,
  included,
  isFree,
  percentOf,
  rangeOf,
  remembered,
  reserving,
  reshared,
  standingOf,
  startOf,
  sum,
  toldOf
} from '../../src/widgets/plan/split';

const question = (name: string, more: Partial<PlannedQuestion> = {}): PlannedQuestion => ({
  name,
  text: name,
  state: 'split',
  curve: { loss: [0.01, 10], width: [1, 0.001] },
  unit: '',
  words: '± 0.01',
  at: 0,
  said: null,
  own: 0,
  width: null,
  span: 1,
  rate: 1,
  stored: false,
  held: null,
  law: null,
  nameable: true,
  ...more
});
const plan = (more: Partial<PlanFacts> = {}): PlanFacts => ({
  dataset: 'hiv',
  kind: 'epsilon',
  symbol: 'ε',
  paid: { symbol: 'ε', power: 1 },
  loss: 1,
  left: 2,
  cap: 4,
  shares: [0.5, 0.5],
  questions: [question('a'), question('b')],
  derived: [],
  others: [],
  body: 'a = hiv.got.mean()',
  verb: '',
  rest: '',
  pinned: '',
  problem: '',
  ...more
});

describe('where the losses begin', () => {
  it('as planned, or as they were set last', () => {
    expect(startOf(plan(), {})).toEqual([0.5, 0.5]);
    expect(startOf(plan(), { loss: 2, shares: [0.25, 0.75] })).toEqual([0.5, 1.5]);
    expect(startOf(plan(), { loss: 2 }, [0.1, 0.2])).toEqual([0.1, 0.2]);
  });
  it('as planned where what was set is no split of these questions', () => {
    for (const shares of [[1], [NaN, 1], [-1, 2], [Infinity, 0]]) {
      expect(startOf(plan(), { loss: 1, shares })).toEqual([0.5, 0.5]);
    }
    expect(startOf(plan(), { loss: NaN, shares: [0.25, 0.75] })).toEqual([0.25, 0.75]);
    expect(startOf(plan(), {}, [1])).toEqual([0.5, 0.5]);
    expect(startOf(plan({ shares: [], questions: [] }), {})).toEqual([]);
  });
});

describe('what a hand does to a split', () => {
  it('keeps the total, and what is left out stays out', () => {
    expect(included([0.2, 0, 0.8])).toEqual([0, 2]);
    expect(reshared([0.2, 0, 0.8], [0.5, 0.5])).toEqual([0.5, 0, 0.5]);
    expect(equal([0.2, 0, 0.8])).toEqual([0.5, 0, 0.5]);
    expect(equal([])).toEqual([]);
    expect(equal([0, 0])).toEqual([0, 0]);
    expect(sum(even(plan(), [0.3, 0.7]))).toBeCloseTo(1, 9);
  });
  it('gives back what a question had when it is ticked again', () => {
    expect(remembered([0.4, 0], [0.1, 0.6])).toEqual([0.4, 0.6]);
  });
  it('is told as a total and shares, and as no shares where all is left out', () => {
    expect(toldOf([1, 3])).toEqual({ loss: 4, shares: [0.25, 0.75] });
    expect(toldOf([0, 0])).toEqual({ loss: 0, shares: [0, 0] });
    expect(toldOf([])).toEqual({ loss: 0, shares: [] });
  });
  it('keeps a fifth of the budget, where more than that is left', () => {
    expect(sum(reserving(plan(), [0.5, 0.5]))).toBeCloseTo(2 - 0.2 * 4, 3);
    expect(canReserve(plan())).toBe(true);
    expect(canReserve(plan({ left: 0.8 }))).toBe(false);
    expect(canReserve(plan({ left: NaN }))).toBe(false);
  });
  it('is possible for several questions that the magic line can name', () => {
    expect(isFree(plan())).toBe(true);
    expect(isFree(plan({ pinned: 'the cell says so' }))).toBe(false);
    expect(isFree(plan({ questions: [question('a')], shares: [1] }))).toBe(false);
  });
  it('has a slider that reaches the loss that was asked', () => {
    expect(rangeOf(plan())).toEqual({ low: 0.01, high: 10 });
    expect(rangeOf(plan({ loss: 25 }))).toEqual({ low: 0.01, high: 25 });
    expect(rangeOf(plan({ kind: 'rho', loss: 0 }))).toEqual({ low: 0.0001, high: 10 });
  });
});

describe('a plan as it stands', () => {
  it('costs what its questions cost, and says what is left', () => {
    const found = standingOf(plan(), [0.5, 0.5]);
    expect(found.cost).toBeCloseTo(1, 12);
    expect(found.pieces.map(one => [one.name, one.share, one.free])).toEqual([
      ['a', 0.5, false],
      ['b', 0.5, false]
    ]);
    expect(found.sentence).toBe('This cell would cost ε 1; ε 1 of 4 would be left.');
    expect([found.fits, found.asks, found.remedies, found.line]).toEqual([true, true, [], '%%dp epsilon=1']);
  });
  it('that exceeds the budget says so, and names remedies', () => {
    const found = standingOf(plan(), [2, 2]);
    expect(found.fits).toBe(false);
    expect(found.sentence).toBe('This cell would cost ε 4, and only ε 2 is left: it would be refused.');
    expect(found.remedies.map(one => one.kind)).toEqual(['less', 'stored', 'drop']);
  });
  it('with everything left out asks nothing', () => {
    const found = standingOf(plan(), [0, 0]);
    expect([found.asks, found.cost, found.whole, found.pieces]).toEqual([false, 0, 0, []]);
    expect(found.sentence).toBe('Every question is left out: tick one to ask it.');
  });
  it('with no question at all asks nothing either', () => {
    expect(standingOf(plan({ questions: [], shares: [] }), []).asks).toBe(false);
  });
  it('marks what the store answers, and says what is bought anew', () => {
    const held = { amount: 0.5, words: 'as before', width: 0.01 };
    const stored = plan({ questions: [question('a', { held }), question('b')] });
    expect(standingOf(stored, [0.5, 0.5]).pieces[0]).toMatchObject({ free: true, words: 'a stored, free' });
    expect(standingOf(stored, [0.5, 0.5]).notes).toBe('');
    expect(standingOf(stored, [0.9, 0.5]).notes).toBe(
      'a was answered before at ε 0.5; at a larger share it is bought again in full.'
    );
  });
});

it('a line says what its question costs', () => {
  const now = { width: 1, full: 1, words: '± 1', cost: 0.25, stored: false };
  expect(costWords(question('a'), now, 'ε')).toBe('ε 0.25');
  expect(costWords(question('a'), { ...now, stored: true }, 'ε')).toBe('stored · ε 0');
  expect(costWords(question('a'), { ...now, words: 'left out' }, 'ε')).toBe('–');
  expect(costWords(question('a', { state: 'public' }), now, 'ε')).toBe('public · free');
});

it('a bar is filled between nothing and all', () => {
  expect([
    percentOf(1, 4),
    percentOf(-1, 4),
    percentOf(9, 4),
    percentOf(1, 0),
    percentOf(Infinity, 4)
  ]).toEqual(['25.00%', '0.00%', '100.00%', '0%', '100.00%']);
});
