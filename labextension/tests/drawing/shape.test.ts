/** State is data: what is not of its kind's shape is not drawn, and no name of a notebook's reaches code that is not in the table. */
import { describe, expect, it } from 'vitest';
import { kinds, moduleOf } from '../../src/drawing/kinds';
import { fits, fitting, type Fields, type Shape } from '../../src/drawing/shape';

const SHAPE: Shape = {
  all: {
    name: 'string',
    at: { row: ['number', 'number'] },
    kind: { is: ['epsilon', 'rho'] },
    rows: { list: 'number' }
  },
  some: { note: { one: ['null', 'string'] } }
};
const GOOD = { name: 'a', at: [1, 2], kind: 'rho', rows: [1, 2, 3] };

describe('a shape', () => {
  it('admits what dpnb writes, and what it will write besides', () => {
    expect(fits(GOOD, SHAPE)).toBe(true);
    expect(fits({ ...GOOD, note: null, later: { more: [true] } }, SHAPE)).toBe(true);
    expect(fits({ a: 1, b: 2 }, { each: 'number' })).toBe(true);
  });

  it.each([
    ['no object', 'text'],
    ['null', null],
    ['a list', [GOOD]],
    ['a field that is missing', { ...GOOD, name: undefined }],
    ['another type', { ...GOOD, name: 7 }],
    ['a number as text', { ...GOOD, rows: ['1'] }],
    ['a row that is longer', { ...GOOD, at: [1, 2, 3] }],
    ['another word', { ...GOOD, kind: 'constructor' }],
    ['no finite number', { ...GOOD, rows: [Infinity] }],
    ['NaN', { ...GOOD, at: [NaN, 0] }],
    ['an optional field of another type', { ...GOOD, note: 3 }],
    ['an object with a prototype of its own', Object.assign(Object.create({ polluted: 1 }), GOOD)],
    ['a field that is only inherited', { ...GOOD, __proto__: { name: 'a' }, name: undefined }],
    ['a list that is too long', { ...GOOD, rows: new Array(2001).fill(0) }],
    ['a list that nobody reads, and is far too long', { ...GOOD, more: new Array(60_000).fill(0) }],
    ['a text that is too long', { ...GOOD, name: 'x'.repeat(60_000) }],
    ['too many characters in all', { ...GOOD, more: new Array(25).fill('x'.repeat(45_000)) }],
    [
      'too many values in all, in a field that nobody reads',
      { ...GOOD, more: new Array(40).fill(new Array(20_000).fill(0)) }
    ],
    ['a function', { ...GOOD, more: () => 1 }]
  ])('refuses %s', (_, value) => {
    expect(fits(value, SHAPE)).toBe(false);
  });

  it('admits a list as long as its shape says', () => {
    expect(fits(new Array(2000).fill(0), { list: 'number' })).toBe(true);
    expect(fits(new Array(9000).fill(0), { list: 'number', most: 9000 })).toBe(true);
    expect(fits(new Array(9001).fill(0), { list: 'number', most: 9000 })).toBe(false);
    expect(fits(Object.fromEntries(new Array(2001).fill(0).map((_, i) => [i, 0])), { each: 'number' })).toBe(
      false
    );
  });

  it('refuses what is nested without end', () => {
    let deep: unknown = 0;
    for (let i = 0; i < 100_000; i++) {
      deep = [deep];
    }
    expect(fits({ ...GOOD, more: deep }, SHAPE)).toBe(false);
  });

  it('takes of the settings those that have their shape', () => {
    const set: Fields = { all: { epsilon: 'number', shape: { is: ['densities', 'totals'] } } };
    expect(
      fitting(
        JSON.parse(
          '{"epsilon": "1", "shape": "totals", "__proto__": {"polluted": 1}, "constructor": 2, "more": 2}'
        ),
        set
      )
    ).toEqual({
      shape: 'totals'
    });
    expect(fitting('text', set)).toEqual({});
    expect(fitting(null, set)).toEqual({});
  });
});

describe('the table of kinds', () => {
  it.each([
    '',
    'Seesaw',
    'constructor',
    '__proto__',
    'toString',
    '../lab/index',
    'data:text/javascript,1',
    7,
    null,
    ['odds']
  ])('has no code for %j', async kind => {
    expect(await moduleOf(kind)).toBeNull();
  });

  it('has code for every one of its names', async () => {
    for (const kind of kinds()) {
      expect(typeof (await moduleOf(kind))?.render).toBe('function');
    }
  });
});

it('the last entries of a row may be left out where its type says so', () => {
  const shape: Shape = { all: { event: { row: ['string', 'number', { list: 'number' }], least: 2 } } };
  expect(fits({ event: ['gaussian', 1] }, shape)).toBe(true);
  expect(fits({ event: ['laplace', 1, [2]] }, shape)).toBe(true);
  for (const event of [['laplace'], ['laplace', 1, 2], ['laplace', 1, [2], 3]]) {
    expect(fits({ event }, shape)).toBe(false);
  }
});
