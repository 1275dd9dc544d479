import { expect, it } from 'vitest';
import { paid, tagOf } from '../../src/lab/cells/badges';

const RELEASE = 'application/vnd.dpnb.release+json';

it('a saved loss is read exactly, and nothing else is read as one', () => {
  expect(paid({ measure: 'pure', amount: '0.25', delta: '0' })).toBe('ε 0.25');
  expect(paid({ measure: 'zcdp', amount: '1/3', delta: '0' })).toBe('ρ 0.3333');
  expect(paid(null)).toBeNull();
  expect(paid({ measure: 'pure', amount: 'much' })).toBeNull();
});

it.each([
  null,
  0,
  'x',
  [],
  {},
  { charged: 1 },
  { charged: { measure: 1, amount: 2 } },
  { charged: { amount: {} } }
])('a saved card that is %j leaves the other cells their prices', card => {
  expect(tagOf([{ [RELEASE]: card }])).toBeNull();
});

it('a cell wears what its card says that it paid', () => {
  expect(tagOf([])).toBeNull();
  expect(tagOf([{ 'text/plain': 'ε 9' }])).toBeNull();
  expect(tagOf([{ [RELEASE]: { charged: { measure: 'pure', amount: '0.5' } } }])).toBe('ε 0.5');
  expect(tagOf([{ [RELEASE]: { charged: { measure: 'pure', amount: '0' } } }])).toBe('stored · ε 0');
  expect(tagOf([{ 'application/vnd.dpnb.plan+json': {} }])).toBe('plan · nothing spent');
});
