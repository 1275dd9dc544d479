import { describe, expect, it } from 'vitest';
import { columnAt, said } from '../../src/lab/cells/hover';
import type { Column, Snapshot } from '../../src/widgets/parts/session_state';

const age: Column = {
  name: 'age',
  label: 'age in years',
  kind: 'integer 0 … 80',
  missing: 'left out',
  numeric: true,
  spoken: 'people.age',
  asks: []
};
const state = {
  protocol: 1,
  version: '0.1.0',
  seq: 1,
  problem: '',
  names: { people: 'hiv', gone: 'closed' },
  datasets: [{ name: 'hiv', columns: [age] }]
} as unknown as Snapshot;

/** What is found where ^ stands in the text. */
function at(marked: string, shown: Snapshot | null = state): string | null {
  const found = columnAt(marked.replace('^', ''), marked.indexOf('^'), shown);
  return found === null ? null : marked.replace('^', '').slice(found.from, found.to);
}

describe('a column is known after the name that the notebook gave its dataset', () => {
  it.each([
    ['%%dp\nq = people.a^ge.mean()', 'people.age'],
    ['%%dp\nq = peo^ple.age.mean()', 'people.age'],
    ['%%dp\nq = people["a^ge"].mean()', 'people["age"]'],
    ["%%dp\nq = people[ 'age^' ].mean()", "people[ 'age' ]"],
    ['%%dp\nq = people[people.ag^e > 3].count()', 'people.age'],
    ['%%dp\nq = people[people.age < 30].ag^e.mean()', 'age'],
    ['%%dp\nq = people[people["age"] < 30]["a^ge"]', '["age"]'],
    ['%%dp\nq = people.by("a)b").ag^e.mean()', 'age'],
    ['%%dp\nyoung = people[people.age < 30]\nq = young.ag^e.mean()', 'young.age'],
    ['%%dp\nolder = young = 3\nfolk = people  # all\nq = folk.ag^e', 'folk.age']
  ])('%j', (marked, text) => {
    expect(at(marked)).toBe(text);
  });

  it.each([
    ['q = people.a^ge.mean()'],
    ['%%dp\nq = people.age.me^an()'],
    ['%%dp\nq = people.hei^ght.mean()'],
    ['%%dp\nq = hiv.a^ge.mean()'],
    ['%%dp\nq = gone.a^ge.mean()'],
    ['%%dp\nq = other.people.a^ge'],
    ['%%dp\npeople = other()\nq = people.a^ge'],
    ['%%dp\nyears = people["age"]\nq = years.a^ge'],
    ['%%dp\nq = people.age.a^ge'],
    ['%%dp\nq = people.a^ge()'],
    ['%%dp\nq = "people.a^ge"'],
    ['%%dp\nq = people[people.age < '.concat('^')],
    ['%%dp\nq = constructor.a^ge'],
    ['%%dp ^epsilon=1'],
    ['^']
  ])('nothing is said at %j', marked => {
    expect(at(marked)).toBeNull();
  });

  it('nothing is said while no kernel has said anything, or one that names nothing', () => {
    expect(at('%%dp\nq = people.a^ge', null)).toBeNull();
    expect(at('%%dp\nq = people.a^ge', { ...state, names: {} })).toBeNull();
  });
});

it('label, bounds and the rule for missing values are said, a label that repeats the name is not', () => {
  expect(said(age)).toEqual({
    label: 'age in years',
    facts: [
      ['type and bounds', 'integer 0 … 80'],
      ['missing values', 'left out']
    ]
  });
  expect(said({ ...age, label: 'age' }).label).toBe('');
});
