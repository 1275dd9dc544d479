import { expect, it } from 'vitest';
import { quantile, tailRadius } from '../../src/maths/laws';
import { ticks } from '../../src/maths/scale';
import { dots } from '../../src/widgets/odds/model';

const laws = (['discrete-laplace', 'discrete-gaussian'] as const).flatMap(kind =>
  [-1, -1e300, 0, 2 ** 60, 1e300, NaN, Infinity].map(scale => ({ kind, scale }))
);

it.each(laws)(
  'what a saved state calls noise, $kind of $scale, is given up and not searched without end',
  law => {
    expect(tailRadius(law, 0.05)).toBeNaN();
    expect(quantile(law, 0.975)).toBeNaN();
  }
);

it('the widest noise that there is has its quantiles', () => {
  for (const kind of ['discrete-laplace', 'discrete-gaussian'] as const) {
    expect(tailRadius({ kind, scale: 2 ** 48 }, 0.05)).toBeGreaterThan(2 ** 48);
    expect(quantile({ kind, scale: 2 ** 48 }, 0.975)).toBeGreaterThan(2 ** 48);
  }
});

it.each([0, 1, NaN, -1, 2])('the level %d has no quantile, and ends', p => {
  expect(quantile({ kind: 'discrete-laplace', scale: 1 }, p)).toBeNaN();
});

it.each([
  [0, 1],
  [-1, 1],
  [1, Infinity],
  [NaN, 1],
  [1, NaN]
])('a range from %d to %d has no ticks, and ends', (low, high) => {
  expect(ticks({ low, high })).toEqual([]);
});

it('more people than a picture holds are not all drawn', () => {
  expect(dots(0, 3, 2, 10)).toBe('M5 5h0M15 5h0M5 15h0');
  expect(dots(0, 1e15, 50, 10).length).toBeLessThan(1e6);
  expect(dots(-5e14, -5e14 + 2, 50, 10).length).toBeLessThan(100);
  expect(dots(1e15, 2e15, 50, 10)).toBe('');
});
