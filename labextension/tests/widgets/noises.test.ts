import { describe, expect, it } from 'vitest';
import {
  alikeWords,
  crossingOf,
  curvesOf,
  effective,
  errorOf,
  nextOutcome,
  noisesAt,
  sentence,
  type NoisesFacts
} from '../../src/widgets/noises/model';

const facts: NoisesFacts = {
  question: 'hiv.got.mean()',
  share: 0.5,
  n: 100,
  epsilon: 1,
  law: { kind: 'discrete-laplace', scale: 1 },
  problem: ''
};
const at = (epsilon: number, n: number) => noisesAt(facts, { epsilon, n, shape: 'dots' });

describe('two noises', () => {
  it('of a share: sampling by the root of n, privacy by n', () => {
    const [small, large] = [at(1, 100), at(1, 10_000)];
    expect([small.sd, large.sd]).toEqual([0.05, 0.005]);
    expect(large.added.at(-1)! / small.added.at(-1)!).toBeCloseTo(0.01, 12);
    expect(small.drawn.length).toBe(100);
    expect(small.drawn[0]).toBeCloseTo(-small.drawn[99]!, 9);
  });
  it('of nobody reach as far as a share can, and of a share of nothing have no sampling error', () => {
    expect(at(1, 0).reach).toBe(1);
    expect(noisesAt({ ...facts, share: 0 }, { epsilon: 1, n: 10, shape: 'dots' }).sd).toBe(0);
    expect(at(NaN, 100).reach).toBeNaN();
  });
  it('are drawn between 0 and 1, and end at 1 as totals', () => {
    for (const shape of ['densities', 'totals'] as const) {
      const noises = at(1, 100);
      for (const curve of curvesOf(noises, shape)) {
        const heights = noises.drawn.map(curve);
        expect(Math.min(...heights)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...heights)).toBeLessThanOrEqual(1);
      }
    }
    expect(curvesOf(at(1, 100), 'totals').map(curve => curve(1).toFixed(6))).toEqual([
      '1.000000',
      '1.000000'
    ]);
  });
  it('make the answer as accurate as fewer people', () => {
    expect(effective(at(1, 10))).toBeLessThan(10);
    expect(effective(at(10, 100_000))).toBeGreaterThan(99_000);
  });
});

it('a hundred outcomes come, none twice', () => {
  const seen = new Set<number>();
  let outcome = 0;
  for (let i = 0; i < 100; i++) {
    seen.add(outcome);
    outcome = nextOutcome(outcome);
  }
  expect([seen.size, outcome]).toEqual([100, 0]);
  expect([...seen].every(one => Number.isFinite(errorOf(at(1, 100), one)))).toBe(true);
});

describe('where the noises are alike', () => {
  it('is where their spreads are equal', () => {
    const { alike, sampling, privacy, inside } = crossingOf(facts, 0.1);
    expect(inside).toBe(true);
    // the sampling spread at n is that at 10 people by √(10 / n), the privacy spread by 10 / n
    expect(sampling[0] * Math.sqrt(10 / alike)).toBeCloseTo((privacy[0] * 10) / alike, 12);
  });
  it('is told rounded up, also beyond the people that can be set', () => {
    expect(crossingOf(facts, 10).inside).toBe(false);
    expect(crossingOf(facts, 1e-6).inside).toBe(false);
    expect(alikeWords({ ...crossingOf(facts, 1), alike: 7.01 })).toBe('8');
  });
});

it('the sentence names both noises, the larger one, and this release', () => {
  expect(sentence(at(1, 10_000), -0.01)).toMatch(
    /^Sampling alone is off by about ± 0\.0098, privacy alone by about ± 0\.0003\d*: sampling noise is the larger\. This hypothetical release is off by −0\.010\.$/
  );
  expect(sentence(at(0.01, 100), 0.5)).toMatch(/privacy noise is the larger.*off by \+0\.50\.$/);
  const any = sentence(at(0.01, 100), 2.9);
  expect(any).toMatch(/privacy alone by any share: .*off by 1 or more\.$/);
  expect(any).not.toMatch(/[1-9]\.\d/);
});
