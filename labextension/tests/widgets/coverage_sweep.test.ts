import { expect, it } from 'vitest';
import { lowest } from '../../src/widgets/coverage/curves';
import { along, brief, linesOf, nearest, widthsOf } from '../../src/widgets/coverage/sweep_model';

const rows = [
  { name: 'naive', coverage: [0.8, 0.9], low: [0.7, 0.8], high: [0.9, 0.95], width: [20, 2] },
  { name: 'confidence', coverage: [0.95, null], low: [0.9, null], high: [0.97, null], width: [30, null] }
];
const swept = { over: 'n' as const, values: [10, 100, 1000], rows, at: 0, notes: [] };

it('the lines of a sweep are those of the methods that are shown, where something is known', () => {
  const [one, ...others] = linesOf(swept, ['confidence', 'other']);
  expect(others).toEqual([]);
  expect(one).toEqual({
    name: 'confidence',
    points: [{ x: 0, share: 0.95, low: 0.9, high: 0.97 }],
    widths: [[0, 30]]
  });
  const lines = linesOf(swept, ['naive', 'confidence']);
  expect([lowest(lines, 0.95), lowest(lines, 0.5), lowest([], 0.95)]).toEqual([0.7, 0.5, 0.95]);
});

it('the axis of widths is logarithmic, thinned where it would be crowded, and written short', () => {
  const { at, marks } = widthsOf(linesOf(swept, ['naive', 'confidence']));
  expect([at(2 * 0.9), at(30 * 1.1), at(0)]).toEqual([0, 1, 0]);
  expect(at(Math.sqrt(1.8 * 33))).toBeCloseTo(0.5, 12);
  expect(marks).toEqual([2, 5, 10, 20]);
  const wide = { name: 'a', points: [], widths: [[0, 0.01] as const, [1, 100] as const] };
  expect(widthsOf([wide]).marks).toEqual([0.01, 0.1, 1, 10, 100]);
  expect(widthsOf([]).marks).toEqual([]);
  expect([2, 9999, 20_000, 2e6].map(brief)).toEqual(['2', '9,999', '20 k', '2 M']);
});

it('the cursor goes to the value that lies nearest', () => {
  const x = (i: number): number => 100 * along(swept.values)(i);
  expect([0, 24, 26, 80, 500].map(from => nearest(3, x, from))).toEqual([0, 0, 1, 2, 2]);
});
