import { describe, expect, it } from 'vitest';
import {
  binned,
  clampedAt,
  daleOf,
  groundOf,
  movedBound,
  valley,
  type ClampFacts
} from '../../src/widgets/clamp/model';

const facts: ClampFacts = {
  values: [9, 1, 2, 3, 100],
  low: 0,
  high: 10,
  epsilon: 1,
  noise: 0.1,
  declared: null,
  problem: ''
};
const ground = groundOf(facts);
const now = { low: 0, high: 10, epsilon: 1 };

describe('the ground of the bounds', () => {
  it('reaches a little beyond the values and the bounds', () => {
    expect(ground.range.low).toBeCloseTo(0 - 0.05 * 99, 9);
    expect(ground.range.high).toBeCloseTo(100 + 0.05 * 99, 9);
    expect(ground.gap).toBeCloseTo((ground.range.high - ground.range.low) / 100, 12);
  });
  it('has room around one value alone', () => {
    const one = groundOf({ ...facts, values: [5], low: 5, high: 5 });
    expect(one.range).toEqual({ low: 4.95, high: 5.05 });
    expect(binned(one, 10).reduce((a, b) => a + b, 0)).toBe(1);
  });
  it('holds every value in a bin', () => {
    expect(binned(ground, 60).reduce((a, b) => a + b, 0)).toBe(5);
    expect(binned(ground, 1)).toEqual([5]);
  });
});

describe('a bound under the hand', () => {
  it('stays in the range, and off the other bound', () => {
    expect(movedBound(ground, now, 'low', -1e9)).toEqual({ low: ground.range.low });
    expect(movedBound(ground, now, 'low', 99)).toEqual({ low: 10 - ground.gap });
    expect(movedBound(ground, now, 'high', 1e9)).toEqual({ high: ground.range.high });
    expect(movedBound(ground, now, 'high', -99)).toEqual({ high: 0 + ground.gap });
    expect(movedBound(ground, now, 'high', 7)).toEqual({ high: 7 });
  });
});

describe('two bounds', () => {
  it('bias the mean by what they cut off, and add noise by the room between them', () => {
    const found = clampedAt(facts, ground, now);
    expect(found.bias).toBeCloseTo((9 + 1 + 2 + 3 + 10) / 5 - 115 / 5, 12);
    expect(found.noise).toBeCloseTo(1, 12);
    expect(found.biasWords).toBe('−18');
    expect(found.sentence).toBe('1 of 5 values are clamped. Bias is the larger: move the bounds apart.');
    expect(clampedAt(facts, ground, { ...now, epsilon: 0.5 }).noise).toBeCloseTo(2, 12);
  });
  it('around every value bias nothing', () => {
    expect(clampedAt(facts, ground, { ...now, high: 100 })).toMatchObject({
      biasWords: '0',
      sentence: '0 of 5 values are clamped. Noise is the larger: tighter bounds would add less.'
    });
  });
});

describe('the valley', () => {
  it('has its least error where it says', () => {
    const found = valley(high => (high - 3) ** 2, 0, 10, 11);
    expect([found.at[found.best], found.error[found.best]]).toEqual([3, 0]);
  });
  it('of these values is no deeper than where the bound stands', () => {
    const dale = daleOf(facts, ground, now);
    expect(dale.least).toBeLessThanOrEqual(dale.current);
    expect(dale.least).toBe(Math.min(...dale.error));
    expect(dale.top).toBeGreaterThanOrEqual(dale.current);
    expect(dale.at.length).toBe(160);
  });
  it('without noise around equal values has a top above nothing', () => {
    const flat = { ...facts, values: [5, 5], noise: 0 };
    expect(daleOf(flat, groundOf(flat), now).top).toBeGreaterThan(0);
  });
});
