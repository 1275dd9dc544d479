import { describe, expect, it } from 'vitest';
import { named } from '../../src/widgets/panel/columns';
import { part, power, verdict } from '../../src/widgets/parts/comparison';
import { entriesOf, listed } from '../../src/widgets/parts/ledger';
import { dropped, placed, without, writtenOf } from '../../src/widgets/panel/regression';
import { methodsOf, notice } from '../../src/widgets/panel/view';
import { clock, type Charge, type Column, type Snapshot } from '../../src/widgets/parts/session_state';
import { compared } from '../../src/maths/composition';

it('a paragraph is taken as it is; without one the kernel says why, and silence is said too', () => {
  expect(methodsOf({ is: 'methods', text: 'Results are …' })).toEqual({ text: 'Results are …', problem: '' });
  expect(methodsOf({ is: 'refusal', problem: 'Nothing is released.' }).problem).toBe('Nothing is released.');
  expect(methodsOf(null)).toEqual({ text: '', problem: 'The kernel did not answer. Try again.' });
  expect(methodsOf({ text: 3, problem: {} }).problem).toMatch(/did not answer/);
});

const charge = (entry: number, loss: number | null, more: Partial<Charge> = {}): Charge => ({
  entry,
  time: '2026-01-02T03:04:05+00:00',
  kind: loss === null ? 'reset' : 'charge',
  loss,
  paid: loss === null ? '' : `ε ${loss}`,
  questions: loss === null ? [] : [`hiv.c${entry}.mean()`],
  mine: true,
  note: loss === null ? 'a new budget period' : '',
  here: false,
  stored: true,
  ...more
});

describe('the ledger', () => {
  const rows = [charge(1, 0.5), charge(2, null), charge(3, 0.1, { here: true }), charge(4, 0.3)];
  const order = (...asked: [string, Parameters<typeof listed>[2], boolean]): number[] =>
    listed(rows, ...asked).map(row => row.entry);

  it('is sorted by time and by loss, both ways', () => {
    expect(order('', 'newest', false)).toEqual([4, 3, 2, 1]);
    expect(order('', 'oldest', false)).toEqual([1, 2, 3, 4]);
    expect(order('', 'dearest', false)).toEqual([1, 4, 3, 2]);
    expect(order('', 'cheapest', false)).toEqual([3, 4, 1, 2]);
  });
  it('is found by every word of question, loss, kind and note, in any case', () => {
    expect(order('C3 MEAN', 'newest', false)).toEqual([3]);
    expect(order('period', 'newest', false)).toEqual([2]);
    expect(order('c3 c4', 'newest', false)).toEqual([]);
  });
  it('is narrowed to what this session asked', () => {
    expect(order('', 'newest', true)).toEqual([3]);
  });
  it('takes every entry from a kernel that has them, and nothing from one that refuses', () => {
    expect(entriesOf({ is: 'ledger', rows })).toHaveLength(4);
    expect(entriesOf({ is: 'refusal', problem: 'no' })).toBeNull();
    expect(entriesOf(null)).toBeNull();
  });
});

describe('a model', () => {
  const none = { y: '', x: [] };
  it('holds one y, several x, and each column once', () => {
    const first = placed(placed(placed(none, 'y', 'got'), 'x', 'age'), 'x', 'any');
    expect(first).toEqual({ y: 'got', x: ['age', 'any'] });
    expect(placed(first, 'x', 'got')).toEqual({ y: '', x: ['age', 'any', 'got'] });
    expect(placed(first, 'y', 'age')).toEqual({ y: 'age', x: ['any'] });
    expect(placed(first, 'x', 'age')).toEqual({ y: 'got', x: ['any', 'age'] });
    expect(without(first, 'age')).toEqual({ y: 'got', x: ['any'] });
    expect(without(first, 'got')).toEqual({ y: '', x: ['age', 'any'] });
  });
  it('takes what is dropped only where it is a number of this dataset', () => {
    const column = (name: string, numeric: boolean): Column => ({ name, numeric }) as unknown as Column;
    const hiv = { name: 'hiv', columns: [column('age', true), column('town', false)] };
    expect(dropped('["hiv","age"]', hiv)).toBe('age');
    for (const data of ['["hiv","town"]', '["other","age"]', '["hiv","no"]', 'hello', '', '3']) {
      expect(dropped(data, hiv), data).toBeNull();
    }
  });
  it('says what the kernel said, or that it said nothing', () => {
    expect(writtenOf({ cell: 'c', cost: 'ε 1', words: 'w', free: false, problem: '' }).cell).toBe('c');
    expect(writtenOf({ is: 'refusal', problem: 'no column' })).toMatchObject({
      cell: '',
      problem: 'no column'
    });
    expect(writtenOf(null).problem).toMatch(/did not answer/);
  });
});

describe('zCDP v adding', () => {
  it('names δ as people write it, and more than the whole as how many times it', () => {
    expect([1e-6, 5e-7, 1e-5].map(power)).toEqual(['10⁻⁶', '5·10⁻⁷', '10⁻⁵']);
    expect([0.25, 2.5, null].map(part)).toEqual(['25 %', '2.5 times the budget', '–']);
  });
  it('names the tighter way, whichever it is, and the δ that it needs', () => {
    const small = compared(4, null, [['pure', 0.01, 0, 100]], 1e-6);
    const large = compared(4, null, [['pure', 1, 0, 1]], 1e-6);
    expect(verdict({ kept: 'adding', whole: true }, small, 1e-6)[0]).toMatch(
      /^zCDP is the tighter.* instead of 25 %/
    );
    expect(verdict({ kept: 'adding', whole: true }, large, 1e-6)[0]).toMatch(
      /^Adding is the tighter.*25 % instead of/
    );
    expect(verdict({ kept: 'adding', whole: true }, large, 1e-6).join(' ')).toContain('δ = 10⁻⁶');
    expect(verdict({ kept: 'zcdp', whole: true }, compared(null, 0.5, [], 1e-6), 1e-6)[0]).toMatch(
      /nothing to compare/
    );
    expect(verdict({ kept: 'adding', whole: false }, small, 1e-6).join(' ')).toContain('your own charges');
    expect(verdict({ kept: 'zcdp', whole: false }, compared(null, 0.5, [], 1e-6), 1e-6)).toEqual([
      'No charge here is yours: of others you see the total alone.'
    ]);
    expect(verdict({ kept: 'adding', whole: true }, compared(0.0001, null, [], 1e-300), 1e-300)[0]).toMatch(
      /no ρ/
    );
  });
});

it('a picture that no kernel keeps in step says so, and from when it is', () => {
  const state = { at: '2026-01-02T03:04:05+00:00', datasets: [] } as unknown as Snapshot;
  expect(notice('gone', state)).toMatch(
    /No kernel keeps this in step: run its cell again in a notebook. This is how it stood at 2026-01-02/
  );
  expect(notice('no kernel', null)).toMatch(/no kernel/);
  const gone = { ...state, curator: 'gone', protocol: 1 } as unknown as Snapshot;
  expect(notice('live', gone)).toMatch(/curator has ended.*This is how it stood at 2026-01-02/);
});

it('a time of today is an hour, another day has its date, and what is no time is left as it is', () => {
  const now = new Date('2026-01-02T12:00:00');
  expect(clock('2026-01-02T09:05:00', now)).toBe('09:05');
  expect(clock('2026-01-01T09:05:00', now)).toBe('2026-01-01 09:05');
  expect(clock('long ago', now)).toBe('long ago');
});

it('columns are found by every word of name, meaning and kind', () => {
  const column = { name: 'tinc', label: 'total incentive', kind: 'number', asks: [] } as unknown as Column;
  expect(named([column], 'INCENTIVE number')).toHaveLength(1);
  expect(named([column], 'age')).toHaveLength(0);
});
