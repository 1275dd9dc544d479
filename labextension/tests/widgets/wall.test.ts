import { describe, expect, it } from 'vitest';
import { marks } from '../../src/maths/scale';
import { isCut, ordered, place, said, verdict, type Answer } from '../../src/widgets/wall/model';

const answer = (who: string, value: number, held: boolean | null = true): Answer => ({
  who,
  value,
  low: value - 1,
  high: value + 1,
  held,
  words: String(value),
  span: `${value - 1} to ${value + 1}`,
  paid: 'ε 1'
});

describe('a class wall', () => {
  const [ada, ben, cleo] = [answer('ada', 3), answer('ben', 1), answer('cleo', 2)];
  it('stands as the answers came, or by value, and changes nothing that it was given', () => {
    const given = [ada, ben, cleo];
    expect(ordered(given, 'came').map(one => one.who)).toEqual(['ada', 'ben', 'cleo']);
    expect(ordered(given, 'value').map(one => one.who)).toEqual(['ben', 'cleo', 'ada']);
    expect(given[0]).toBe(ada);
  });
  it('keeps what reaches beyond its axis at the ends, and says that it is cut', () => {
    expect([-5, 0, 1, 2, 9].map(value => place([0, 2], value))).toEqual([0, 0, 0.5, 1, 1]);
    expect(place([1, 1], 1)).toBe(0.5);
    expect(isCut([0, 2], ada)).toBe(true);
    expect(isCut([0, 9], ada)).toBe(false);
  });
  it('has round values along its axis, none twice, and at most as many as there is room for', () => {
    expect(marks([0.5288, 0.5329], 7).map(([, words]) => words)).toEqual([
      '0.529',
      '0.530',
      '0.531',
      '0.532'
    ]);
    expect(marks([-20, 130], 4).map(([, words]) => words)).toEqual(['0', '50', '100']);
    expect(marks([0.66, 9.84], 4).map(([, words]) => words)).toEqual(['2', '4', '6', '8']);
    expect(marks([0, 50_000], 5).map(([, words]) => words)).toContain('20,000');
    for (const [low, high] of [
      [0, 1],
      [-3e-7, 2e-7],
      [1e15, 1e15 + 8],
      [-1e300, 1e300]
    ] as const) {
      const found = marks([low, high], 6);
      expect(found.length).toBeLessThanOrEqual(6);
      expect(new Set(found.map(([, words]) => words)).size).toBe(found.length);
    }
  });
  it('has no marks where its ends are one or no numbers', () => {
    expect(marks([1, 1], 5)).toEqual([]);
    expect(marks([NaN, 1], 5)).toEqual([]);
    expect(marks([-Infinity, Infinity], 5)).toEqual([]);
  });
  it('speaks of the truth only where it is known', () => {
    expect(said(ada)).toBe('ada: 3, 2 to 4, contains the truth, ε 1');
    expect(said(answer('ben', 1, false))).toContain('misses the truth');
    expect(said(answer('ben', 1, null))).toBe('ben: 1, 0 to 2, ε 1');
    expect([true, false, null].map(held => verdict(answer('x', 1, held)))).toEqual([
      'inside',
      '✕ missed',
      ''
    ]);
  });
});
