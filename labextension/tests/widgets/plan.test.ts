/** What a plan's card and a dataset's card may write into cells: one magic line over the same body, one line as it looks. */
import { describe, expect, it } from 'vitest';
import { rewrites, withLine } from '../../src/lab/cells/magic';
import { renamed } from '../../src/widgets/attach/view';
import { isLine } from '../../src/widgets/parts/insert';
import { derivedWords, everyNow, isPlanFacts, spokenAt, type PlanFacts } from '../../src/widgets/plan/model';

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

const RANK = (loss: number): string =>
  `rank within ± ${Number((15.22 / loss).toPrecision(4))} rows of the target`;
const said = [0.1, 0.178, 0.316, 0.562, 1].map(loss => [loss, RANK(loss)] as const);

describe('accuracy in words between two losses', () => {
  it('follows the true curve of a quantile, 15.22 / ε, and is no staircase', () => {
    for (let loss = 0.1; loss < 1; loss *= 1.03) {
      const told = Number(/± ([\d.]+)/.exec(spokenAt(said, loss)!)![1]);
      expect(told / (15.22 / loss)).toBeCloseTo(1, 3);
    }
  });
  it('is what the kernel said where the kernel said it', () => {
    expect(spokenAt(said, 0.316)).toBe(RANK(0.316));
    expect(spokenAt(said, 7)).toBe(RANK(1));
    expect(spokenAt(said, 0.05)).toBeNull();
    expect(spokenAt([], 1)).toBeNull();
  });
  it('leaves numbers that do not move, and keeps whole ones whole', () => {
    const words = (sd: string, rows: string): string =>
      `noise of sd ${sd} rows; needs about ${rows} rows (95 %)`;
    const moments = [
      [0.1, words('84.85', '8,000')],
      [0.4, words('21.21', '2,000')]
    ] as const;
    expect(spokenAt(moments, 0.2)).toBe(words('42.42', '4,000'));
  });
  it('says the smaller loss where the words change', () => {
    const changed = [
      [0.1, 'nothing can be said'],
      [0.4, 'about 3 bins']
    ] as const;
    expect(spokenAt(changed, 0.2)).toBe('nothing can be said');
  });
});

describe('a value derived from a stored answer', () => {
  const [normal, full] = [
    { normal: 0.51, laplace: [] },
    { loss: [0.1, 1], width: [10, 1] }
  ];
  const one = { ...FACTS.questions[0], said: [], full, given: 'if 40 people count', law: normal };
  const held = { amount: 0.5, words: '± 3, as stored', width: 3 };
  const forecast = { kind: 'sum', points: [[[0, [1]]]], middle: [], of: -1, given: '' };
  const facts = {
    ...FACTS,
    paid: { symbol: 'ε', power: 1 },
    shares: [1],
    questions: [{ ...one, curve: null, held, rate: 1 }],
    derived: [{ name: 'd', text: 'a - 1', forecast }]
  } as unknown as PlanFacts;
  const told = (loss: number): string => derivedWords(facts, 0, everyNow(facts, [loss]));
  it('has the ± of that answer, and of all rows where more is paid than it covers', () => {
    expect(told(0.5)).toBe('± 3.0');
    expect(told(1)).toBe('± 1.00, if 40 people count');
  });
});
