import { describe, expect, it } from 'vitest';
import {
  askedOf,
  countOf,
  entriesOf,
  fetchOf,
  listed,
  sortOf,
  summaryOf,
  type Order
} from '../../src/widgets/parts/ledger_rows';
import type { Charge } from '../../src/widgets/parts/session_state';

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
  it('says with each heading how it is sorted', () => {
    const sorts = (first: Order, second: Order): string[] =>
      (['newest', 'oldest', 'dearest', 'cheapest'] as const).map(one => sortOf(one, first, second));
    expect(sorts('newest', 'oldest')).toEqual(['descending', 'ascending', 'none', 'none']);
    expect(sorts('dearest', 'cheapest')).toEqual(['none', 'none', 'descending', 'ascending']);
  });
  it('says how many are seen only where that is not all', () => {
    expect(countOf(0, 0, 0, true)).toBe('');
    expect(countOf(70, 70, 70, false)).toBe('');
    expect(countOf(70, 70, 50, false)).toBe('50 of 70');
    expect(countOf(70, 4, 4, true)).toBe('4 of 4 found');
    expect(countOf(70, 0, 0, true)).toBe('No entry matches.');
  });
  it('counts what is not told: of one entry as of many', () => {
    expect([1, 12].map(fetchOf)).toEqual(['Fetch 1 older entry', 'Fetch 12 older entries']);
  });
  it('is called by its charges, and by its entries where not all of them are here', () => {
    expect(summaryOf({ entries: 4, ledger: rows })).toBe('Ledger: 3 charges');
    expect(summaryOf({ entries: 1, ledger: [charge(1, 0.5)] })).toBe('Ledger: 1 charge');
    expect(summaryOf({ entries: 1, ledger: [charge(1, null)] })).toBe('Ledger: nothing was charged yet');
    expect(summaryOf({ entries: 9, ledger: rows })).toBe('Ledger: 9 entries');
  });
  it('names an entry by its questions, or by what it is', () => {
    expect(askedOf(charge(1, 0.5, { questions: ['a', 'b'] }))).toBe('a, b');
    expect(askedOf(charge(2, null))).toBe('reset: a new budget period');
    expect(askedOf(charge(2, null, { note: '' }))).toBe('reset');
  });
  it('takes every entry from a kernel that has them, and nothing from one that refuses', () => {
    expect(entriesOf({ is: 'ledger', rows })).toHaveLength(4);
    expect(entriesOf({ is: 'refusal', problem: 'no' })).toBeNull();
    expect(entriesOf(null)).toBeNull();
  });
});
