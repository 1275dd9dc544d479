import { describe, expect, it } from 'vitest';
import { secrecyOfTheSample } from '../../src/maths/odds';
import {
  equalised,
  keeping,
  lacking,
  looserWords,
  nearness,
  pickedOf,
  pickedWords,
  sampleWords,
  stepOf,
  toggled,
  wordsOf,
  type DepositFacts,
  type Entry,
  type Problem
} from '../../src/widgets/deposit/model';

const entry = (name: string, width: number, span: number): Entry => ({
  name,
  words: name,
  text: `town.${name}()`,
  curve: { loss: [0.01, 0.1, 1, 10], width: [100, 10, 1, 0.1].map(one => one * width) },
  span,
  unit: '',
  problem: ''
});

function facts(more: Partial<DepositFacts> = {}): DepositFacts {
  const budget = {
    kind: 'epsilon',
    symbol: 'ε',
    cap: 2,
    label: 'ε 2',
    unit: '',
    people: 1000,
    chance: 0.05,
    register: []
  } as const;
  const dataset = {
    name: 'town',
    title: '',
    source: 'town.csv',
    adjacency: 'add-remove',
    unit: 'row',
    most: '',
    size: '',
    epsilon: '2',
    delta: '',
    pool: '',
    bounds: ''
  };
  const texts = new Proxy({}, { get: () => '…' }) as DepositFacts['texts'];
  return {
    file: 'town.csv',
    declaration: 'town.dpnb.toml',
    declared: false,
    form: { dataset, columns: [] },
    toml: '',
    problems: [],
    rows: [],
    budget,
    texts,
    catalogue: [
      entry('a', 1, 100),
      entry('b', 1, 10),
      { ...entry('c', 1, 1), curve: null, problem: 'no such question' }
    ],
    planned: 1000,
    public_size: false,
    standing: null,
    released: false,
    problem: '',
    ...more
  };
}

const problem = (column: string, field: string, words = ''): Problem => ({
  column,
  field,
  blank: words === '',
  words
});

describe('what a step lacks', () => {
  it('names what is blank, and how much more', () => {
    const all = ['lower', 'upper', 'values', 'type'].map(field => problem('income', field));
    expect(lacking(facts({ problems: all }), 0)).toBe(
      'Still blank – income: lowest; income: highest; income: values; and 1 more.'
    );
  });
  it('names what is wrong once nothing is blank, and says the words at the field alone', () => {
    const one = facts({ problems: [problem('', 'epsilon', 'epsilon must be above 0')] });
    expect(lacking(one, 1)).toBe('To correct – ε.');
    expect(wordsOf(one, '', 'epsilon')).toBe('epsilon must be above 0');
    expect(wordsOf(one, 'x', 'epsilon')).toBe('');
    expect(lacking(one, 3)).toBe('');
  });
  it('stays among the steps', () => {
    expect([stepOf({}), stepOf({ step: -3 }), stepOf({ step: 9 })]).toEqual([0, 0, 3]);
  });
});

describe('the picks', () => {
  it('leave out what the catalogue does not have, and never exceed the budget', () => {
    const picked = pickedOf(facts(), { picks: ['a', 'gone', 'c', 'b'], shares: [3, 5, 5, 1], loss: 50 });
    expect(picked.entries.map(one => one.name)).toEqual(['a', 'b']);
    expect(picked.shares).toEqual([0.75, 0.25]);
    expect(picked.loss).toBe(2);
  });
  it('share anew when one is added or dropped', () => {
    const one = pickedOf(facts(), toggled(pickedOf(facts(), {}), 'a'));
    const two = pickedOf(facts(), toggled(one, 'b'));
    expect(two.shares).toEqual([0.5, 0.5]);
    expect(toggled(two, 'a')).toEqual({ picks: ['b'], shares: [1] });
  });
  it('can be made equally near, each as a part of its whole', () => {
    const picked = pickedOf(facts(), { picks: ['a', 'b'], shares: [0.5, 0.5] });
    const shares = equalised(picked);
    const parts = picked.entries.map((one, i) => nearness(one, shares[i]! * picked.loss).part);
    expect(parts[0]).toBeCloseTo(parts[1]!, 6);
    expect(shares[1]! / shares[0]!).toBeCloseTo(10, 4);
  });
  it('say what they cost and what stays', () => {
    const picked = pickedOf(facts(), { picks: ['a'], loss: keeping(facts()) });
    expect(pickedWords(facts(), picked)).toBe('1 statistic for ε 1.6 of 2; ε 0.4 stays for analysts.');
    expect(pickedWords(facts(), pickedOf(facts(), {}))).toContain('Tick');
    expect(nearness(entry('a', 1, 100), 1).words).toBe('± 1.0, 1 % of 100');
  });
});

describe('the secrecy of the sample', () => {
  it('is that of the whole budget, once', () => {
    expect(secrecyOfTheSample(10, 0.01)[0]).toBeCloseTo(5.4, 2);
    expect(secrecyOfTheSample(1, 0.1, 1e-5)[1]).toBeCloseTo(1e-6, 12);
    expect(sampleWords('add-remove', { epsilon: 10, delta: 0 }, 0.01, 'coins')).toContain(
      'ε 5.4 – once, for the whole ε 10'
    );
  });
  it('is refused where the adjacency does not go with how it was drawn', () => {
    const loss = { epsilon: 1, delta: 0 };
    expect(sampleWords('change-one', loss, 0.01, 'coins')).toContain('goes with');
    expect(sampleWords('add-remove', loss, 0.01, 'fixed')).toContain('goes with');
    expect(sampleWords('add-remove', loss, 0.01, 'no')).toContain('Nothing changes');
  });
});

describe('what is looser than was promised', () => {
  const standing = {
    state: 'open',
    spent: 1,
    cap: 2,
    words: '',
    promised: [['ada', 'ε 1']],
    looser: []
  } as const;
  it('is said with whom it was promised to, and only where something is', () => {
    expect(looserWords(facts({ standing: null }))).toBe('');
    expect(looserWords(facts({ standing }))).toBe('');
    const said = looserWords(facts({ standing: { ...standing, looser: ['budget: ε 2 → ε 3'] } }));
    expect(said).toBe('budget: ε 2 → ε 3. Answered so far: ada: ε 1. …');
  });
});
