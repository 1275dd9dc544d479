import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shown } from '../../src/lab/plugins/settings';

const schema = JSON.parse(readFileSync('schema/session.json', 'utf8')) as {
  properties: Record<string, { type: string; default: boolean }>;
};

it('everything is shown until it is switched off', () => {
  expect(shown({})).toEqual({ gauge: true, price: true, plan: true });
  expect(shown({ gauge: false })).toEqual({ gauge: false, price: true, plan: true });
  expect(shown({ price: false, plan: false })).toEqual({ gauge: true, price: false, plan: false });
  expect(shown({ gauge: 'no', price: null })).toEqual({ gauge: true, price: true, plan: true });
});

it('the schema offers exactly the settings that are read, with the same defaults', () => {
  const defaults = Object.entries(schema.properties).map(([name, one]) => [name, one.default]);
  expect(Object.fromEntries(defaults)).toEqual(shown({}));
  expect(Object.values(schema.properties).map(one => one.type)).toEqual(['boolean', 'boolean', 'boolean']);
});
