import { describe, expect, it } from 'vitest';
import { wilson } from '../../src/maths/coverage';
import { pathThrough } from '../../src/widgets/coverage/axes';
import type { SweepFacts } from '../../src/widgets/coverage/facts';
import {
  along,
  brief,
  known,
  linesOf,
  lowest,
  nearest,
  strideOf,
  widthsOf
} from '../../src/widgets/coverage/sweep_model';

const swept: SweepFacts = {
  over: 'n',
  values: [10, 100, 1000],
  rows: [
    { name: 'naive', studies: [100, 50, 0], held: [80, 45, 0], width: [20, 2, null] },
    { name: 'confidence', studies: [100, 0, 0], held: [95, 0, 0], width: [30, null, null] }
  ],
  at: 0,
  notes: []
};

describe('the lines of a sweep', () => {
  it('are those of the methods that are shown', () => {
    expect(linesOf(swept, ['confidence', 'other']).map(one => one.name)).toEqual(['confidence']);
  });
  it('have a coverage and its band where studies are, and nothing elsewhere', () => {
    const [naive] = linesOf(swept, ['naive']);
    expect(naive!.coverage).toEqual([0.8, 0.9, null]);
    expect(naive!.band).toEqual([wilson(80, 100), wilson(45, 50), null]);
    expect(known(naive!.width, (width, i) => [i, width])).toEqual([
      [0, 20],
      [1, 2]
    ]);
  });
  it('reach down to the lowest band, which is never above the level', () => {
    const lines = linesOf(swept, ['naive', 'confidence']);
    expect(lowest(lines, 0.95)).toBe(wilson(80, 100)![0]);
    expect([lowest(lines, 0.5), lowest([], 0.95)]).toEqual([0.5, 0.95]);
  });
  it('run through their points', () => {
    expect(pathThrough([[1, 2.06] as const, [3, 4] as const])).toBe('M1.0 2.1L3.0 4.0');
    expect(pathThrough([])).toBe('');
  });
});

describe('the axis of widths', () => {
  it('is logarithmic, with a little room at both ends', () => {
    const { at, marks } = widthsOf(linesOf(swept, ['naive', 'confidence']));
    expect([at(2 * 0.9), at(30 * 1.1), at(0)]).toEqual([0, 1, 0]);
    expect(at(Math.sqrt(1.8 * 33))).toBeCloseTo(0.5, 12);
    expect(marks).toEqual([2, 5, 10, 20]);
  });
  it('has a third of its marks where they would be many, and none where nothing is known', () => {
    const wide = linesOf(
      { ...swept, rows: [{ name: 'a', studies: [1, 1], held: [1, 1], width: [0.01, 100] }] },
      ['a']
    );
    expect(widthsOf(wide).marks).toEqual([0.01, 0.1, 1, 10, 100]);
    expect(widthsOf([]).marks).toEqual([]);
  });
  it('is written short', () => {
    expect([2, 9999, 20_000, 2e6].map(brief)).toEqual(['2', '9,999', '20 k', '2 M']);
  });
});

describe('the cursor', () => {
  it('goes to the value that lies nearest', () => {
    const x = (i: number): number => 100 * along(swept.values)(i);
    expect([0, 24, 26, 80, 500].map(from => nearest(3, x, from))).toEqual([0, 0, 1, 2, 2]);
  });
  it('is moved by arrows, and to the ends', () => {
    expect(['ArrowRight', 'ArrowDown', 'Home', 'End', 'a'].map(key => strideOf(key, 5))).toEqual([
      1,
      -1,
      -5,
      5,
      undefined
    ]);
  });
});
