import { describe, expect, it } from 'vitest';
import { newest } from '../../src/cards/release';
import { chargeOf } from '../../src/lab/views/record';
import type { Charge } from '../../src/widgets/parts/session_state';

const paid = (entry: number, more: Partial<Charge> = {}): Charge => ({
  entry,
  time: '2026-01-01T00:00:00+00:00',
  kind: 'release',
  loss: 0.5,
  paid: 'ε 0.5',
  questions: ['hiv.got.mean()', 'hiv.age.mean()'],
  mine: true,
  stored: true,
  note: '',
  here: true,
  ...more
});

describe('a question was paid for again', () => {
  it('where a later entry of this session names it', () => {
    expect(newest([paid(3), paid(5), paid(4)], 'hiv.got.mean()', 3)).toBe(5);
  });
  it('not where the entry is the own or an earlier one, of another session, of another question, cost nothing, or has no answer', () => {
    const others = [
      paid(2),
      paid(3),
      paid(4, { here: false }),
      paid(5, { questions: ['hiv.got.mean() * 2'] })
    ];
    expect(
      newest([...others, paid(6, { loss: null }), paid(7, { stored: false })], 'hiv.got.mean()', 3)
    ).toBeNull();
    expect(newest([], 'hiv.got.mean()', 3)).toBeNull();
  });
});

it('a card was charged where its record names a dataset and an entry', () => {
  const record = { format: 1, dataset: 'hiv', entry: 3, lines: [] };
  expect(chargeOf(record)).toEqual({ dataset: 'hiv', entry: 3 });
  for (const other of [
    null,
    3,
    [],
    { ...record, format: 2 },
    { ...record, entry: null },
    { ...record, dataset: 1 }
  ]) {
    expect(chargeOf(other)).toBeNull();
  }
});
