/** What a plan's card and a dataset's card may write into cells: one magic line over the same body, one line as it looks. */
import { describe, expect, it } from 'vitest';
import { rewrites, withLine } from '../../src/lab/cells/magic';
import { renamed } from '../../src/widgets/attach/view';
import { isLine } from '../../src/widgets/parts/insert';
import { isPlanFacts } from '../../src/widgets/plan/model';

const FACTS = {
  kind: 'epsilon',
  loss: 1,
  left: 4,
  cap: 4,
  shares: [0.5, 0.5],
  questions: [
    { name: 'a', state: 'split' },
    { name: 'b', state: 'split' }
  ],
  derived: [],
  others: [],
  body: 'a = hiv.got.mean()\nb = hiv.any.mean()',
  pinned: '',
  rest: 'assume_n=40 fresh',
  verb: ''
};

describe('a plan is released in its cell', () => {
  const plan = '%%dp plan epsilon=1\na = hiv.got.mean()\n';
  it('where the magic line alone differs', () => {
    expect(rewrites(plan, '%%dp epsilon=0.5 weights=a:2\na = hiv.got.mean()')).toBe(true);
    expect(rewrites(plan.replace(' plan', ''), '%%dp release epsilon=1\na = hiv.got.mean()')).toBe(true);
  });
  it('and nowhere else', () => {
    expect(rewrites(plan, '%%dp epsilon=0.5\nimport os')).toBe(false);
    expect(rewrites(plan, '%%dp epsilon=0.5\nimport os\na = hiv.got.mean()')).toBe(false);
    expect(rewrites(plan.replace(' plan', ''), '%%dp epsilon=0.5\na = hiv.got.mean()')).toBe(false);
    expect(rewrites('hiv.got.mean()', '%%dp epsilon=0.5\nhiv.got.mean()')).toBe(false);
  });
});

describe('the record of a plan', () => {
  it('is drawn as the kernel writes it', () => expect(isPlanFacts(FACTS)).toBe(true));
  it.each([
    ['nothing', null],
    ['no questions', { ...FACTS, questions: [null] }],
    ['a loss that is none', { ...FACTS, loss: NaN }],
    ['a line break among the options', { ...FACTS, rest: 'fresh\nimport os' }],
    ['an option of its own', { ...FACTS, rest: 'fresh=1' }],
    ['another verb', { ...FACTS, verb: 'release\nimport os' }],
    ['a name that is none', { ...FACTS, questions: [...FACTS.questions, { name: 'c\nd', state: 'split' }] }]
  ])('is left alone with %s', (_, facts) => expect(isPlanFacts(facts)).toBe(false));
});

describe('a question that is taken', () => {
  it('is one line as it looks', () => {
    expect(isLine('m = hiv["größe"].mean()')).toBe(true);
    expect(['', 'a\nb', 'a\u2028b', 'a\u202eb', 'a\u0007'].some(isLine)).toBe(false);
  });
  it('is added to a cell, or begins a plan', () => {
    expect(withLine('%%dp epsilon=1\na = 1\n', 'b = 2')).toBe('%%dp epsilon=1\na = 1\nb = 2');
    expect(withLine(null, 'b = 2')).toBe('%%dp plan epsilon=0.5\nb = 2');
  });
  it("is asked under the notebook's own name", () => {
    const called = { was: 'hiv', is: 'mine' };
    expect(renamed('m = hiv.age.mean()', called)).toBe('m = mine.age.mean()');
    expect(renamed('m = hiv["my age"].mean()', called)).toBe('m = mine["my age"].mean()');
    expect(renamed('m = hiv2.age.mean()', called)).toBe('m = hiv2.age.mean()');
  });
});
