import { describe, expect, it } from 'vitest';
import {
  asPlan,
  isProtected,
  isSql,
  isStatement,
  marks,
  rewrites,
  withLine
} from '../../src/lab/cells/magic';

describe('a %%dp cell is known by its first line', () => {
  it.each(['%%dp', '%%dp epsilon=1\nx', '\n  %%dp plan\nx'])('%j is one', source => {
    expect(isProtected(source)).toBe(true);
  });
  it.each(['', '%dp budget', '%%dpx', 'x\n%%dp', '# %%dp', '%%time\n%%dp'])('%j is none', source => {
    expect(isProtected(source)).toBe(false);
    expect(marks(source)).toBeNull();
    expect(asPlan(source)).toBeNull();
  });
});

it('only the magic line is marked, each mark on its word', () => {
  const source = '%%dp plan epsilon=1 weights=a:2\nq = hiv.age.mean(x=1)';
  const words = marks(source)?.marks.map(mark => source.slice(mark.from, mark.to));
  expect(words).toEqual(['%%dp', 'plan', 'epsilon', 'weights']);
});

it('a cell becomes its plan, whatever it said before, and nothing else changes', () => {
  expect(asPlan('%%dp epsilon=1\nx')).toBe('%%dp plan epsilon=1\nx');
  expect(asPlan('%%dp release epsilon=1\nx')).toBe('%%dp plan epsilon=1\nx');
  expect(asPlan('%%dp plan\nx')).toBe('%%dp plan\nx');
  expect(asPlan('%%dp\nplan = 1')).toBe('%%dp plan\nplan = 1');
  expect(asPlan('%%dp planned=1')).toBe('%%dp plan planned=1');
});

describe('a %%dp sql cell is known by its magic line', () => {
  it.each(['%%dp sql', '\n %%dp sql epsilon=1\nSELECT', '%%dp plan epsilon=1 sql\nSELECT'])(
    '%j is one',
    source => {
      expect(isSql(source)).toBe(true);
    }
  );
  it.each(['%%dp\nsql', '%%dp sqlite', '%dp sql people', 'sql\n%%dp', '%%dp weights=sql:1'])(
    '%j is none',
    source => {
      expect(isSql(source)).toBe(false);
    }
  );
  it('its magic line is coloured and planned as any other', () => {
    const source = '%%dp sql plan epsilon=1\nn << SELECT COUNT(*) FROM people';
    const words = marks(source)?.marks.map(mark => source.slice(mark.from, mark.to));
    expect(words).toEqual(['%%dp', 'sql', 'plan', 'epsilon']);
    expect(asPlan('%%dp sql epsilon=1\nx')).toBe('%%dp sql plan epsilon=1\nx');
    expect(asPlan('%%dp sql release epsilon=1\nx')).toBe('%%dp sql plan epsilon=1\nx');
    expect(asPlan('%%dp release sql\nx')).toBe('%%dp plan sql\nx');
  });
  it('its plan is released in place', () => {
    expect(rewrites('%%dp sql plan epsilon=1\nx', '%%dp sql epsilon=1\nx')).toBe(true);
  });
});

it('a line of blanks without end is read once, not once for each of its places', () => {
  const blanks = ' '.repeat(2_000_000);
  expect(marks(`%%dp${blanks}x`)?.marks).toHaveLength(1); // hours, where each place looks back
  expect(marks(`%%dp${blanks}plan`)?.marks).toHaveLength(2);
});

it('a plan that is released is the same cell by its magic line alone', () => {
  expect(rewrites('%%dp plan epsilon=1\nx', '%%dp epsilon=1\nx')).toBe(true);
  expect(rewrites('  %%dp epsilon=1\nx', '%%dp release epsilon=1\nx')).toBe(true);
  expect(rewrites('%%dp epsilon=1\nx', '%%dp epsilon=2\nx')).toBe(false);
  expect(rewrites('%%dp plan\nx', '%%dp\ny')).toBe(false);
});

describe('a ready question', () => {
  it.each(['m = hiv.got.mean()', 'größe_2 = hiv["x"].mean()'])('%j is a statement', text => {
    expect(isStatement(text)).toBe(true);
  });
  it.each(['hiv.age', 'hiv["a = b"]', '2 = 3', ' m = 1', 'm == 1'])(
    '%j goes where the cursor stands',
    text => {
      expect(isStatement(text)).toBe(false);
    }
  );
  it('is put on a line of its own', () => {
    expect(withLine('x = hiv.tinc.mean()', 'd = hiv.vct.mean()')).toBe(
      'x = hiv.tinc.mean()\nd = hiv.vct.mean()'
    );
    expect(withLine('%%dp\nif True:\n    x = 1\n\n', 'd = 2')).toBe('%%dp\nif True:\n    x = 1\nd = 2');
  });
});
