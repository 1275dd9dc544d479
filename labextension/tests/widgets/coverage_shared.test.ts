import { describe, expect, it } from 'vitest';
import {
  alongLosses,
  between,
  sharedOf,
  countAt,
  drawnOf,
  endsAt,
  heldAt,
  nearestLoss,
  reachAt,
  runningAt,
  studyWords
} from '../../src/widgets/coverage/shared_model';

const packed = (values: readonly number[]): DataView => new DataView(new Float32Array(values).buffer);
/** Three losses, two drawn of three studies; the second study misses at the first loss, the third always. */
const facts = {
  ...{ of: 0, values: [0.1, 1, 10], studies: 3, goal: 3, first: 0, parameter: 0, smooth: true },
  methods: [{ name: 'confidence', about: 'population' as const }]
};
const arrays = new Map([
  ['answers', packed([5, -4, 1, -1, 0.5, 0])],
  ['truths', packed([0.5, -0.5])],
  ['confidence/ends', packed([-3, 13, -7, -1, -1, 3, -3, 1, 0, 1, -1, 1])],
  ['confidence/held', new DataView(Uint8Array.from([1, 0, 0, 1, 1, 0, 1, 1, 2]).buffer)]
]);
const shared = sharedOf(facts, arrays)!;
const row = shared.rows[0]!;

describe('ends between two computed losses', () => {
  it('are those of the nearest for a selection', () => {
    const picked = sharedOf({ ...facts, smooth: false }, arrays)!;
    const drawn = [0.1, 0.3, 0.33, 0.99, 1, 3].map(loss => endsAt(picked, picked.rows[0]!, loss, 0));
    expect(drawn).toEqual([...[0, 1].map(() => [-3, 13]), ...[2, 3, 4, 5].map(() => [-1, 3])]);
  });

  it('are those of the nearest where an interval is a point, or has no end, on one side', () => {
    const raw = packed([0, 0, -5, 5, -4, 4, -Infinity, Infinity, 0, 0, -3, 3]);
    const some = sharedOf(facts, new Map([...arrays, ['confidence/ends', raw]]))!;
    expect([0.3, 0.33].map(loss => endsAt(some, some.rows[0]!, loss, 0))).toEqual([
      [0, 0],
      [-4, 4]
    ]);
    expect([0.3, 0.33].map(loss => endsAt(some, some.rows[0]!, loss, 1))).toEqual([
      [-5, 5],
      [-Infinity, Infinity]
    ]);
    expect([3, 3.3].map(loss => endsAt(some, some.rows[0]!, loss, 0))).toEqual([
      [-4, 4],
      [0, 0]
    ]);
  });
});

describe('studies at many losses', () => {
  it('are not drawn from arrays of another length, as a notebook of a stranger may hold them', () => {
    for (const name of arrays.keys()) {
      expect(sharedOf(facts, new Map([...arrays, [name, new DataView(new ArrayBuffer(7))]]))).toBeNull();
      expect(sharedOf(facts, new Map([...arrays].filter(([other]) => other !== name)))).toBeNull();
    }
    expect(sharedOf({ ...facts, studies: 1e12 }, arrays)).toBeNull();
    expect(sharedOf({ ...facts, first: 2 }, arrays)).toBeNull();
  });

  it('are drawn between two computed losses, in the logarithm', () => {
    expect(between(shared.values, Math.sqrt(0.1)).share).toBeCloseTo(0.5);
    expect(endsAt(shared, row, Math.sqrt(0.1), 0)[0]).toBeCloseTo(-2);
    expect(endsAt(shared, row, Math.sqrt(0.1), 0)[1]).toBeCloseTo(8);
    expect(endsAt(shared, row, 1, 0)).toEqual([-1, 3]);
    expect(endsAt(shared, row, 99, 1)).toEqual([-1, 1]);
    expect(endsAt(shared, row, 1e-9, 1)).toEqual([-7, -1]);
  });

  it('further down are known by their numbers among all', () => {
    const later = sharedOf({ ...facts, first: 1 }, arrays)!;
    expect(drawnOf(later)).toEqual([1, 2]);
    expect(endsAt(later, later.rows[0]!, 1, 2)).toEqual([-3, 1]);
    expect(heldAt(later, later.rows[0]!, 0, 1)).toBe(false);
    expect(countAt(later, later.rows[0]!, 0, 'drawn')).toEqual([2, 0]);
    expect(studyWords(later, later.rows[0]!, 0, 1, 'ε')).toContain('Study 2 at ε 0.1: released 5');
  });

  it('are counted at the nearest computed loss', () => {
    expect([0.2, 0.4, 4, 400].map(loss => nearestLoss(shared.values, loss))).toEqual([0, 1, 2, 2]);
    expect(heldAt(shared, row, 0, 1)).toBe(false);
    expect(heldAt(shared, row, 1, 1)).toBe(true);
    expect(heldAt(shared, row, 2, 2)).toBeNull();
    expect([0, 1, 2].map(at => countAt(shared, row, at))).toEqual([
      [3, 1],
      [3, 2],
      [2, 2]
    ]);
    expect(countAt(shared, row, 1, 'drawn')).toEqual([2, 2]);
  });

  it('have a coverage along the losses and a running one that ends in it', () => {
    const along = alongLosses(shared, row);
    expect(along.map(one => one.share)).toEqual([1 / 3, 2 / 3, 1]);
    const running = runningAt(shared, row, 0);
    expect(running.map(one => one.x)).toEqual([1, 2, 3]);
    expect(running.at(-1)!.share).toBe(along[0]!.share);
    expect(running.at(-1)!.low).toBe(along[0]!.low);
    expect(along[0]!.low).toBeLessThan(1 / 3);
    expect(along[0]!.high).toBeGreaterThan(1 / 3);
  });

  it('are put into words one by one', () => {
    expect(studyWords(shared, row, 0, 1, 'ε')).toBe(
      'Study 2 at ε 0.1: released -4, interval -7 to -1; the truth of the population is 0. It misses. ' +
        'The noise moved the answer by -3.5, the draw of the people by -0.5; the interval reaches 3 to each side. Most of it was the noise.'
    );
    expect(studyWords(shared, row, 2, 0, 'ε')).toContain('It holds.');
    expect(reachAt(shared, row, 10)).toBeGreaterThanOrEqual(1);
  });
});
