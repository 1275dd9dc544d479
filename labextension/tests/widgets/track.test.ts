import { describe, expect, it } from 'vitest';
import {
  ARROWS,
  FULL,
  neighbour,
  placeOf,
  typedValue,
  valueOf,
  type Track
} from '../../src/widgets/parts/track';

const LOSS: Track = { range: { low: 0.01, high: 100 } };
const SHARE: Track = { range: { low: -0.9, high: 0.9 }, step: 0.05 };

describe('a place', () => {
  it('is logarithmic without a step, and straight with one', () => {
    expect([0.01, 1, 100].map(value => placeOf(LOSS, value))).toEqual([0, FULL / 2, FULL]);
    expect([-0.9, 0, 0.45].map(value => placeOf(SHARE, value))).toEqual([0, 500, 750]);
  });
  it('is counted from the other end where larger values are to the left', () => {
    const left = { ...LOSS, reversed: true };
    expect([0.01, 10, 100].map(value => placeOf(left, value))).toEqual([FULL, 250, 0]);
    expect([0, 250, FULL].map(at => valueOf(left, at))).toEqual([100, 10, 0.01]);
  });
  it('lies on the track, whatever the value', () => {
    expect([1e-9, 1e9].map(value => placeOf(LOSS, value))).toEqual([0, FULL]);
    expect([-7, 7].map(value => placeOf(SHARE, value))).toEqual([0, FULL]);
    expect([-7, 7].map(value => placeOf({ ...SHARE, reversed: true }, value))).toEqual([FULL, 0]);
  });
});

describe('a value', () => {
  it('has two digits on a logarithmic track, and is a multiple of the step on a straight one', () => {
    expect([0, 500, 537].map(at => valueOf(LOSS, at))).toEqual([0.01, 1, 1.4]);
    expect([0, 500, 511, 777].map(at => valueOf(SHARE, at))).toEqual([-0.9, 0, 0, 0.5]);
    expect(valueOf(SHARE, 583)).toBe(0.15); // not 0.15000000000000002
  });
  it('comes back from its own place', () => {
    for (const value of [-0.9, -0.35, 0, 0.05, 0.3, 0.9]) {
      expect(valueOf(SHARE, placeOf(SHARE, value))).toBeCloseTo(value, 12);
    }
    for (const value of [0.01, 0.035, 0.5, 2, 47, 100]) {
      expect(valueOf(LOSS, placeOf(LOSS, value))).toBe(value);
    }
  });
});

describe('a key', () => {
  it('moves by one in the last of two digits, or by the step, up to the ends', () => {
    expect([neighbour(LOSS, 1, 1), neighbour(LOSS, 1, -1)]).toEqual([1.1, 0.99]);
    expect([neighbour(LOSS, 0.01, -1), neighbour(LOSS, 100, 1)]).toEqual([0.01, 100]);
    expect([neighbour(SHARE, 0.1, 1), neighbour(SHARE, 0.1, -1)]).toEqual([0.15, 0.05]);
    expect([neighbour(SHARE, 0.9, 1), neighbour(SHARE, -0.9, -1)]).toEqual([0.9, -0.9]);
  });
  it('goes to the right, which is down where larger values are to the left', () => {
    expect(neighbour({ ...LOSS, reversed: true }, 1, 1)).toBe(0.99);
    expect(neighbour({ ...SHARE, reversed: true }, 0.1, ARROWS.ArrowLeft!)).toBe(0.15);
    expect(ARROWS.a).toBeUndefined();
  });
});

describe('a typed text', () => {
  it('is a number of the track, with a point or a comma', () => {
    expect([' 0.5 ', '0,5', '1e-2', '100'].map(text => typedValue(LOSS, text))).toEqual([
      0.5, 0.5, 0.01, 100
    ]);
  });
  it('is nothing where it is no number, or lies beyond an end', () => {
    for (const text of ['', ' ', 'half', '1,000.5', 'Infinity', 'NaN', '0', '0.009', '101', '-1']) {
      expect(typedValue(LOSS, text), text).toBeNull();
    }
  });
  it('may be 0 where the lower end stands for none', () => {
    expect(typedValue({ ...LOSS, none: true }, '0')).toBe(0.01);
    expect(typedValue({ ...LOSS, none: true }, '')).toBeNull();
  });
});
