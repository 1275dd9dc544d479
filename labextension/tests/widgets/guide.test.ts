import { describe, expect, it } from 'vitest';
import {
  boughtBy,
  cellOf,
  columnsOf,
  comparisonsOf,
  groupsFor,
  isLast,
  lossOf,
  missing,
  planOf,
  SCREENS,
  screenOf,
  type GuideFacts
} from '../../src/widgets/guide/model';

type Plan = NonNullable<GuideFacts['plan']>;

const plan = (more: Partial<Plan> = {}): Plan => ({
  goal: 'average',
  column: 'age',
  by: '',
  code: 'hiv.age.mean()',
  refused: '',
  kind: 'epsilon',
  symbol: 'ε',
  left: 2,
  ...more
});
const facts = (more: Partial<GuideFacts> = {}): GuideFacts => ({
  dataset: 'HIV',
  handle: 'hiv',
  goals: [
    { id: 'average', words: 'the average', compares: false, columns: ['age', 'got'] },
    { id: 'test', words: 'a difference', compares: true, columns: ['age'] }
  ],
  columns: [
    { name: 'age', label: 'age', words: 'from 15 to 90' },
    { name: 'got', label: 'got the result', words: '0 or 1' },
    { name: 'male', label: 'is a man', words: '0 or 1' }
  ],
  groups: ['got', 'male', 'age'],
  unit: 'one person',
  mode: '',
  plan: null,
  problem: '',
  ...more
});

describe('a screen', () => {
  it('is one of the five', () => {
    expect([{}, { screen: 3 }, { screen: -2 }, { screen: 99 }].map(screenOf)).toEqual([0, 3, 0, 4]);
    expect(SCREENS.map((_, i) => isLast(i))).toEqual([false, false, false, false, true]);
  });
  it('is left when what it asks is chosen', () => {
    expect(missing(facts(), {}, 0)).toBe('Choose what you want to know.');
    expect(missing(facts(), { goal: 'average' }, 0)).toBe('');
    expect(missing(facts(), { goal: 'average', column: 'male' }, 1)).toBe('Choose a column.');
    expect(missing(facts(), { goal: 'test', column: 'age' }, 1)).toMatch(/defines the two groups/);
    expect(missing(facts(), { goal: 'test', column: 'age', by: 'age' }, 1)).toMatch(/two groups/);
    expect(missing(facts(), { goal: 'test', column: 'age', by: 'male' }, 2)).toBe('');
  });
  it('needs a price from the fourth on, and says where to get one', () => {
    const chosen = { goal: 'average', column: 'age' };
    expect(missing(facts(), chosen, 3)).toMatch(/run this cell again/);
    expect(missing(facts(), chosen, 3, false)).toMatch(/%dp guide hiv$/);
    expect(missing(facts({ plan: plan() }), chosen, 3)).toBe('');
    expect(missing(facts({ plan: plan({ refused: 'Too dear.' }) }), chosen, 3)).toBe('Too dear.');
  });
});

describe('what is offered', () => {
  it('is the columns of the goal, with their name where the label is another', () => {
    expect(columnsOf(facts(), { goal: 'average' })).toEqual([
      { id: 'age', words: 'age', note: 'from 15 to 90' },
      { id: 'got', words: 'got the result', note: 'got: 0 or 1' }
    ]);
    expect(columnsOf(facts(), {})).toEqual([]);
  });
  it('is two groups only for a goal that compares, and never the column itself', () => {
    expect(comparisonsOf(facts(), { goal: 'average', column: 'age' })).toBeNull();
    expect(comparisonsOf(facts(), { goal: 'test', column: 'age' })).toEqual([
      { id: 'got', words: 'got the result', note: 'got' },
      { id: 'male', words: 'is a man', note: 'male' }
    ]);
    expect(groupsFor(facts(), { column: 'got' })).toEqual(['male', 'age']);
  });
});

describe('a plan', () => {
  it('is that of the question that is chosen now, from the kernel or from the page', () => {
    const other = plan({ column: 'got' });
    const known = facts({ plan: plan(), plans: [other] });
    expect(planOf(known, { goal: 'average', column: 'age', by: 'left over' })).toEqual(plan());
    expect(planOf(known, { goal: 'average', column: 'got' })).toEqual(other);
    expect(planOf(known, { goal: 'test', column: 'age' })).toBeNull();
  });
  it('begins at half a unit, and at no more than is left', () => {
    expect([lossOf(plan(), {}), lossOf(plan({ left: 0.2 }), {}), lossOf(plan(), { loss: 1.5 })]).toEqual([
      0.5, 0.2, 1.5
    ]);
  });
  it('says what a loss buys and leaves, and that more than is left is too much', () => {
    expect(boughtBy(plan({ words: 'a share' }), 0.5)).toBe('ε 0.5 buys a share; ε 1.5 would be left.');
    expect(boughtBy(plan({ words: 'a share' }), 2)).toBe('ε 2 buys a share; ε 0 would be left.');
    expect(boughtBy(plan(), 2.1)).toBe('Only ε 2 is left: choose a smaller loss.');
    const curve = { loss: [0.1, 1, 10], width: [40, 4, 0.4] };
    expect(boughtBy(plan({ curve }), 1)).toBe('ε 1 buys ± 4.0 (95 % privacy interval); ε 1 would be left.');
  });
  it('becomes the cell that asks it, in its own measure', () => {
    expect(cellOf(plan(), 0.12345)).toBe('%%dp epsilon=0.123\nhiv.age.mean()');
    expect(cellOf(plan({ kind: 'rho' }), 0.5)).toMatch(/^%%dp rho=0.5\n/);
  });
});

describe('what a loss buys', () => {
  const known = {
    goal: 'share',
    column: 'got',
    by: '',
    code: 'share_got = hiv.got.mean()',
    refused: '',
    symbol: 'ε',
    curve: { loss: [0.1, 1], width: [0.01, 0.001] },
    given: 'for about 2,890 people',
    left: 3
  };
  it('is told for the size that is planned with', () => {
    expect(boughtBy(known, 1)).toBe(
      'ε 1 buys ± 0.0010 for about 2,890 people (95 % privacy interval); ε 2 would be left.'
    );
  });
  it('is nothing where the answer is stored, even where nothing is left', () => {
    expect(boughtBy({ ...known, held: 0.5, left: 0 }, 0.5)).toBe(
      'This is stored, released at ε 0.5: the cell is free.'
    );
    expect(boughtBy({ ...known, held: 0.5, stored: '± 0.0019' }, 0.5)).toBe(
      'This is stored with ± 0.0019, released at ε 0.5: the cell is free.'
    );
    expect(boughtBy({ ...known, held: 0.5 }, 1)).toContain('ε 2 would be left');
  });
});
