import { describe, expect, it } from 'vitest';
import { part, power, verdict } from '../../src/widgets/parts/comparison';
import {
  costOf,
  dropped,
  foundOf,
  methodsOf,
  named,
  notice,
  placed,
  prompt,
  questionOf,
  standing,
  usable,
  without,
  widthWords,
  writtenOf
} from '../../src/widgets/panel/model';
import { clock, type Column, type Snapshot } from '../../src/widgets/parts/session_state';
import { compared } from '../../src/maths/composition';

it('a paragraph is taken as it is; without one the kernel says why, and silence is said too', () => {
  expect(methodsOf({ is: 'methods', text: 'Results are …' })).toEqual({ text: 'Results are …', problem: '' });
  expect(methodsOf({ is: 'refusal', problem: 'Nothing is released.' }).problem).toBe('Nothing is released.');
  expect(methodsOf(null)).toEqual({ text: '', problem: 'The kernel did not answer. Try again.' });
  expect(methodsOf({ text: 3, problem: {} }).problem).toMatch(/did not answer/);
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
  it('has an empty side while no column stands there', () => {
    expect([standing(none, 'y'), standing(none, 'x')]).toEqual([[], []]);
    expect([standing({ y: 'got', x: ['a', 'b'] }, 'y'), standing({ y: 'got', x: ['a', 'b'] }, 'x')]).toEqual([
      ['got'],
      ['a', 'b']
    ]);
    expect([prompt('y', []), prompt('x', []), prompt('y', ['a']), prompt('x', ['a'])]).toEqual([
      'drop or choose …',
      'drop or choose …',
      'another …',
      'and …'
    ]);
  });
  it('is asked of the kernel when both sides are filled, with the loss as it was typed', () => {
    const full = { y: 'got', x: ['age'] };
    expect(questionOf('hiv', full, ' 0.5 ')).toEqual({
      ask: 'model',
      dataset: 'hiv',
      y: 'got',
      x: ['age'],
      loss: '0.5'
    });
    expect([
      questionOf(undefined, full, ''),
      questionOf('hiv', { ...full, y: '' }, ''),
      questionOf('hiv', { ...full, x: [] }, '')
    ]).toEqual([null, null, null]);
  });
  it('uses columns of numbers only', () => {
    const columns = [
      { name: 'age', numeric: true },
      { name: 'town', numeric: false }
    ] as unknown as Column[];
    expect(usable({ columns }).map(one => one.name)).toEqual(['age']);
    expect(usable(null)).toEqual([]);
  });
  it('says what it costs before what the kernel adds', () => {
    expect(costOf({ cost: 'ε 1', words: 'Then free.' })).toBe('Cost: ε 1. Then free.');
    expect([costOf({ cost: '', words: 'w' }), costOf({ cost: 'free', words: '' })]).toEqual([
      'w',
      'Cost: free.'
    ]);
  });
});

describe('zCDP compared with adding up', () => {
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
      'No charge here is yours: for others you see only the total.'
    ]);
    expect(verdict({ kept: 'adding', whole: true }, compared(0.0001, null, [], 1e-300), 1e-300)[0]).toMatch(
      /no ρ/
    );
  });
});

it('a picture that no kernel keeps in step says so, and from when it is', () => {
  const state = { at: '2026-01-02T03:04:05+00:00', datasets: [] } as unknown as Snapshot;
  expect(notice('gone', state)).toMatch(
    /No kernel updates this: run its cell again in a notebook. This was the state at 2026-01-02/
  );
  expect(notice('no kernel', null)).toMatch(/no kernel/);
  const gone = { ...state, curator: 'gone', protocol: 1 } as unknown as Snapshot;
  expect(notice('live', gone)).toMatch(/curator has ended.*This was the state at 2026-01-02/);
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

it('says how many columns are not drawn, and that none was found', () => {
  expect([0, 1, 40, 41, 140].map(foundOf)).toEqual([
    'No column matches.',
    '',
    '',
    '1 more: type to find one.',
    '100 more: type to find one.'
  ]);
});

describe('what is expected of coefficients before they are bought', () => {
  it('is a ± each, or that nothing would bound it', () => {
    const coefficients = [{ name: 'age', width: 0.0026 }, { name: 'any', width: null }, { width: 3 }];
    const found = writtenOf({ coefficients, given: 'for about 2,890 people', warning: 'In 100 % …' });
    expect(found.coefficients.map(widthWords)).toEqual(['± 0.0026', 'unbounded']);
    expect([found.given, found.warning]).toEqual(['for about 2,890 people', 'In 100 % …']);
    expect(writtenOf({ coefficients: 'no list' }).coefficients).toEqual([]);
  });
});
