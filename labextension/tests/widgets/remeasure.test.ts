import { describe, expect, it } from 'vitest';
import {
  cellOf,
  forecastAt,
  half,
  isFacts,
  lossTo,
  middle,
  startOf,
  type RemeasureFacts
} from '../../src/widgets/remeasure/model';

const facts: RemeasureFacts = {
  name: 'collected',
  question: 'hiv.got.mean()',
  kind: 'epsilon',
  symbol: 'ε',
  value: 0.5,
  trail: [
    { low: 0.2, high: 0.8, paid: 'ε 0.5' },
    { low: 0.4, high: 0.6, paid: 'ε 1' }
  ],
  curve: { loss: [0.01, 0.1, 1, 10], width: [10, 1, 0.1, 0.01] },
  left: 2,
  paid: 1,
  problem: ''
};

describe('what paying more would buy', () => {
  it('is a narrower interval: as much again makes it √2 narrower', () => {
    const next = forecastAt(facts, 1);
    expect((next.high - next.low) / 2).toBeCloseTo(0.1 / Math.SQRT2, 9);
    expect(next).toMatchObject({
      width: '± 0.071',
      note: 'expected, at 95 %; now ± 0.10',
      paid: 'ε 1',
      together: 2,
      fits: true,
      cost: 'paid on top: ε 2 for both together'
    });
    expect(next.description).toBe('now 0.40 to 0.60; the next is expected 29 % narrower, ± 0.071');
  });
  it('is refused where more is asked than is left', () => {
    expect(forecastAt(facts, 5)).toMatchObject({
      fits: false,
      cost: 'only ε 2 is left: this would be refused'
    });
    expect(forecastAt({ ...facts, left: 0 }, 0.01).fits).toBe(false);
  });
  it('of a vector is told of its widest entry', () => {
    expect(forecastAt({ ...facts, entry: 'age 40' }, 1).note).toMatch(/, for age 40, the widest$/);
  });
});

describe('the interval', () => {
  it('is around the value where it holds it, else around its own middle', () => {
    expect(half(facts)).toBeCloseTo(0.1, 12);
    expect(middle({ ...facts, value: 0.45 })).toBe(0.45);
    expect(middle({ ...facts, value: 9 })).toBeCloseTo(0.5, 12);
    expect(middle({ ...facts, value: NaN })).toBeCloseTo(0.5, 12);
  });
  it('that ends where it is wanted costs the loss that narrows it so far', () => {
    const end = middle(facts) + 0.1 / Math.SQRT2;
    expect(lossTo(facts, end)).toBeCloseTo(1, 9);
    expect(lossTo(facts, middle(facts))).toBe(10); // no answer is exact: all of the curve
    expect(lossTo(facts, 99)).toBeLessThanOrEqual(0.02); // no wider than it is
  });
});

it('the slider begins with as much again, and never with more than half of what is left', () => {
  expect(startOf(facts)).toBe(1);
  expect(startOf({ ...facts, left: 0.2468 })).toBe(0.12);
  expect(startOf({ ...facts, left: 0 })).toBe(0.01);
  expect(startOf({ ...facts, paid: 99, left: 99 })).toBe(10);
});

it('the cell pays again under the same name', () => {
  expect(cellOf(facts, 0.12345)).toBe('collected = collected.remeasure(epsilon=0.123)\ncollected');
  // a figure of a SELECT stays in its answer
  expect(cellOf({ ...facts, name: 'by_n', held: "by['n']" }, 1)).toBe(
    "by_n = by['n'].remeasure(epsilon=1)\nby_n"
  );
});

it('an answer that cannot be drawn is none', () => {
  expect(isFacts(facts)).toBe(true);
  for (const wrong of [
    null,
    {},
    { ...facts, trail: [] },
    { ...facts, left: NaN },
    { ...facts, curve: { loss: [1], width: [1] } },
    { ...facts, trail: [{ low: 0, high: Infinity, paid: '' }] }
  ]) {
    expect(isFacts(wrong)).toBe(false);
  }
});
