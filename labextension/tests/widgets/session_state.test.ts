import { describe, expect, it } from 'vitest';
import { blocks, drawn } from '../../src/widgets/parts/bar';
import {
  advice,
  gauge,
  isSnapshot,
  newer,
  type Dataset,
  type Snapshot
} from '../../src/widgets/parts/session_state';

const charge = (entry: number, loss: number): Dataset['ledger'][number] => ({
  entry,
  time: '2026-01-02T03:04:05+00:00',
  kind: 'charge',
  loss,
  paid: `ε ${loss}`,
  questions: ['hiv.got.mean()'],
  mine: true,
  note: '',
  here: true,
  stored: true
});

const hiv: Dataset = {
  name: 'hiv',
  title: 'HIV',
  badge: 'GUARD-RAIL',
  sentence: '',
  unit: 'one row',
  symbol: 'ε',
  cap: 4,
  spent: 1,
  left: 3,
  used: 0.25,
  words: 'spent ε 1 · ε 3 of 4 left',
  own: '',
  handle: 'hiv',
  entries: 2,
  columns: [],
  counting: { kept: 'adding', epsilon: 4, rho: null, delta: null, deltas: [1e-6], events: [], whole: true },
  ledger: [charge(3, 0.5), charge(5, 0.5)]
};

const state = (datasets: Dataset[], more: Partial<Snapshot> = {}): Snapshot => ({
  protocol: 1,
  version: '0.1.0',
  seq: 1,
  at: '2026-01-02T03:04:05+00:00',
  datasets,
  problem: '',
  ...more
});

describe('the gauge says the truth in every state', () => {
  it.each([
    ['no kernel', null, 'dp: no kernel'],
    ['not loaded', null, 'dp: not loaded'],
    ['restarted', state([hiv]), 'dp: restarted'],
    ['live', state([]), 'dp: no dataset'],
    ['live', state([], { problem: 'The curator cannot be reached.' }), 'dp: curator ended'],
    ['busy', null, 'dp: kernel busy'],
    ['no connection', null, 'dp: no connection'],
    ['live', state([hiv], { curator: 'gone' }), 'dp: curator ended'],
    ['live', state([hiv]), 'hiv: ε 1 of 4'],
    ['live', state([{ ...hiv, left: 0.1, used: 0.975 }]), 'hiv: ε 3.9 of 4 · low'],
    ['live', state([hiv], { protocol: 9 }), 'dp: versions differ']
  ] as const)('%s: %#', (link, shown, text) => {
    expect(gauge(link, shown).text).toBe(text);
  });

  it('of several datasets, the one that was charged last is shown', () => {
    const other = { ...hiv, name: 'nhefs', ledger: [charge(9, 0.1)] };
    expect(gauge('live', state([hiv, other])).text).toMatch(/^nhefs/);
    expect(gauge('live', state([other, hiv])).text).toMatch(/^nhefs/);
  });
});

it('versions that do not match say which is older, and what to type where', () => {
  const later = state([hiv], { protocol: 2, version: '0.9' });
  const older = state([hiv], { protocol: 0, version: '0.0.1' });
  expect(advice('versions differ', later)).toMatch(/0\.9, which is newer .* pip install dpnb==0\.9.*reload/);
  expect(advice('live', older)).toMatch(/0\.0\.1, which is older .*%pip install --upgrade dpnb.*restart/);
  expect(advice('versions differ', null)).toContain('unknown version');
  for (const one of [later, older]) {
    expect(gauge('versions differ', one)).toMatchObject({ text: 'dp: versions differ', used: null });
    expect(gauge('live', one).text).toBe('dp: versions differ');
  }
});

it('a state that was overtaken is dropped, and what is no state is none', () => {
  expect(newer(state([], { seq: 5 }), state([hiv], { seq: 4 })).seq).toBe(5);
  expect([null, 3, {}, { seq: 1 }].map(isSnapshot)).toEqual([false, false, false, false]);
});

describe('the blocks of the bar', () => {
  it('add up to what is spent, one for each charge', () => {
    const found = blocks(hiv);
    expect(found.map(block => block.share)).toEqual([0.125, 0.125]);
    expect(found[1]?.from).toBe(0.125);
  });
  it('show what is not listed as one block in front', () => {
    const found = blocks({ ...hiv, left: 1 });
    expect(found.map(block => block.share)).toEqual([0.5, 0.125, 0.125]);
  });
  it('leave out charges of an earlier budget period', () => {
    expect(blocks({ ...hiv, left: 3.5 }).map(block => block.share)).toEqual([0.125]);
    expect(blocks({ ...hiv, left: 4 })).toEqual([]);
  });
});

it('charges too thin to be pointed at are drawn together, and add up to the same', () => {
  const many = Array.from({ length: 1000 }, (_, i) => charge(i + 1, 0.001));
  const one = { ...hiv, left: 3, ledger: many };
  const found = drawn(one);
  expect(found.length).toBeLessThan(130);
  expect(found[0]?.title).toMatch(/small releases/);
  expect(found.reduce((sum, block) => sum + block.share, 0)).toBeCloseTo(0.25, 9);
});
