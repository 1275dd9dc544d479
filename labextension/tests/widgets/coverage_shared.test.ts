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
/** Ends in whole steps from -100. */
const ends = (values: readonly number[]): DataView =>
  new DataView(Uint16Array.from(values.map(value => value + 102)).buffer);
/** Rows of at most eight flags, each as what differs from the row before. */
const bits = (rows: readonly (readonly number[])[]): DataView => {
  const bytes = rows.map(row => row.reduce((sum, on, i) => sum + on * 2 ** i, 0));
  const changes = bytes.map((byte, i) => byte ^ (bytes[i - 1] ?? 0));
  return new DataView(Uint8Array.from(changes.flatMap(one => (one === 0 ? [0] : [1, one]))).buffer);
};

/** Three losses, two drawn of three studies; the second study misses at the first loss, the third always. */
const facts = {
  ...{ of: 0, values: [0.1, 1, 10], studies: 3, goal: 3, first: 0, parameter: 0, smooth: true },
  methods: [{ name: 'confidence', about: 'population' as const }]
};
const arrays = new Map([
  ['answers', packed([5, -4, 1, -1, 0.5, 0])],
  ['truths', packed([0.5, -0.5])],
  ['confidence/ends', ends([-3, 13, -7, -1, -1, 3, -3, 1, 0, 1, -1, 1])],
  ['confidence/scale', packed([-100, 1, -100, 1, -100, 1])],
  [
    'confidence/missed',
    bits([
      [0, 1, 1],
      [0, 0, 1],
      [0, 0, 0]
    ])
  ],
  [
    'confidence/unknown',
    bits([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 1]
    ])
  ]
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
    const raw = new Uint16Array([102, 102, 97, 107, 98, 106, 1, 65535, 102, 102, 99, 105]);
    const some = sharedOf(facts, new Map([...arrays, ['confidence/ends', new DataView(raw.buffer)]]))!;
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

  it('have ends that are none, or reach as far as there is', () => {
    const codes = new DataView(Uint16Array.from([0, 0, 1, 65535, ...Array<number>(8).fill(2)]).buffer);
    const some = sharedOf(facts, new Map([...arrays, ['confidence/ends', codes]]))!;
    expect(endsAt(some, some.rows[0]!, 0.1, 0)).toEqual([NaN, NaN]);
    expect(endsAt(some, some.rows[0]!, 0.1, 1)).toEqual([-Infinity, Infinity]);
    expect(endsAt(some, some.rows[0]!, 1, 1)).toEqual([-100, -100]);
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
    expect(running.at(-1)!.band).toEqual(along[0]!.band);
    expect(along[0]!.band[0]).toBeLessThan(1 / 3);
    expect(along[0]!.band[1]).toBeGreaterThan(1 / 3);
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
