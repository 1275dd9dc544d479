import { expect, it } from 'vitest';
import { methodsOf } from '../../src/widgets/parts/session';

it('a paragraph is taken as it is; without one the kernel says why, and silence is said too', () => {
  expect(methodsOf({ is: 'methods', text: 'Results are …' })).toEqual({ text: 'Results are …', problem: '' });
  expect(methodsOf({ is: 'refusal', problem: 'Nothing is released.' }).problem).toBe('Nothing is released.');
  expect(methodsOf(null)).toEqual({ text: '', problem: 'The kernel did not answer. Try again.' });
  expect(methodsOf({ text: 3, problem: {} }).problem).toMatch(/did not answer/);
});
