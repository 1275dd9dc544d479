import { describe, expect, it } from 'vitest';
import type { Lever, Page } from '../../src/widgets/exhibits/facts';
import {
  addressOf,
  ALL,
  beside,
  countOf,
  fitting,
  FLOOR,
  known,
  LEFT,
  lineOf,
  lineThrough,
  marksOf,
  namedIn,
  plotOf,
  RIGHT,
  said,
  settingOf,
  textOf,
  TOP,
  verdictOf,
  W
} from '../../src/widgets/exhibits/model';

const page = (name: string, more: Partial<Page> = {}): Page =>
  ({ name, title: name, theme: 'sampling', claim: '', source: '', why: '', ...more }) as unknown as Page;
const pages = [page('one'), page('two'), page('three')];

describe('pages', () => {
  it('are known by name; any other is the index', () => {
    expect(['two', 'four', ''].map(name => known(pages, name))).toEqual(['two', '', '']);
  });
  it('are turned up to the ends, and not beside the index', () => {
    const to = (open: string, step: 1 | -1): string | undefined => beside(pages, open, step)?.name;
    expect([to('two', 1), to('two', -1), to('one', -1), to('three', 1)]).toEqual([
      'three',
      'one',
      undefined,
      undefined
    ]);
    expect([to('', 1), to('', -1)]).toEqual([undefined, undefined]); // nor to the first or the last one
  });
  it('have an address, which is read as it is written', () => {
    expect(namedIn(addressOf('two'))).toBe('two');
    expect(namedIn('#exhibit=a%20b')).toBe('a b');
    expect([namedIn(''), namedIn('#two')]).toEqual(['', '']);
  });
});

describe('a search', () => {
  const entries = [
    page('hope', { title: 'NaN', theme: 'floats', claim: 'a Clamp' }),
    page('boot', { source: 'Wang' })
  ].map(one => ({ page: one, text: textOf(one) }));
  const found = (typed: string, theme = ALL): string[] =>
    fitting(entries, typed, theme).map(one => one.page.name);
  it('finds pages that have every word, in any case, in a theme or in all', () => {
    expect([found(''), found('clamp NAN'), found('nan wang'), found('sampl')]).toEqual([
      ['hope', 'boot'],
      ['hope'],
      [],
      ['boot']
    ]);
    expect([found('', 'floats'), found('wang', 'floats')]).toEqual([['hope'], []]);
  });
  it('says how many it found, and how to see all again', () => {
    expect(countOf(2, 23)).toBe('2 of 23');
    expect(countOf(0, 23)).toMatch(/Clear the search/);
  });
  it('shows of each what was claimed, and that it was not kept', () => {
    const finding = { unit: 'ε', words: ['1', '4'] as const };
    expect(lineOf(finding as unknown as Page['published'])).toEqual(['ε', '1', '✕ 4']);
  });
});

const lever = (more: Partial<Lever> = {}): Lever => ({
  label: 'n',
  unit: 'ε',
  values: [1, 2, 3],
  at: 1,
  says: '',
  claimed: [1, 1, 1],
  actual: [1, 2, 'inf'],
  corrected: null,
  kept: [true, false, false],
  ...more
});

describe('a lever', () => {
  it('has its settings side by side, and stops at the nearest one that there is', () => {
    const plot = plotOf(lever());
    expect([0, 1, 2].map(plot.x)).toEqual([LEFT, (LEFT + W - RIGHT) / 2, W - RIGHT]);
    expect([0, 1, 2].map(at => plot.under(plot.x(at)))).toEqual([0, 1, 2]);
    expect([-4, 0.4, 0.6, 9].map(at => settingOf(plot, at))).toEqual([0, 0, 1, 2]);
  });
  it('is straight from zero where values are near each other, and infinite is the edge', () => {
    const { y, ends } = plotOf(lever());
    expect(ends).toEqual([0, 2]);
    expect([y(0), y(2), y('inf')]).toEqual([FLOOR, TOP + 6, TOP]);
    expect(y(1)).toBe((FLOOR + TOP + 6) / 2);
  });
  it('is logarithmic where the largest is more than a hundred times the smallest, unless one is zero', () => {
    const steep = plotOf(lever({ actual: [1, 100, 10_000] }));
    expect(steep.ends).toEqual([1, 10_000]);
    expect(steep.y(100)).toBeCloseTo((FLOOR + TOP + 6) / 2, 9);
    expect(plotOf(lever({ actual: [1, 10, 100] })).ends).toEqual([0, 100]);
    expect(plotOf(lever({ actual: [0, 100, 10_000] })).ends).toEqual([0, 10_000]);
    expect(plotOf(lever({ corrected: [1, 1, 1000] })).ends).toEqual([1, 1000]);
  });
  it('draws a line through every setting, a dot where it was kept and a cross where it was not', () => {
    const plot = plotOf(lever());
    expect(lineThrough(plot, [0, 2, 'inf'])).toBe(
      `M${plot.x(0)} ${FLOOR}L${plot.x(1)} ${TOP + 6}L${plot.x(2)} ${TOP}`
    );
    const { dots, crosses } = marksOf(plot, lever());
    expect([dots.match(/M/g)?.length, crosses.match(/M/g)?.length]).toEqual([1, 4]); // a cross is two strokes
  });
  it('says what is claimed and actual at a setting, what is corrected where something is, and how it ends', () => {
    expect(said('inf')).toBe('infinite');
    expect(verdictOf(lever(), 0)).toBe('ε: claimed 1, actual 1. ✓ kept.');
    expect(verdictOf(lever({ corrected: [1, 1, 0.5] }), 2)).toBe(
      'ε: claimed 1, actual infinite, corrected 0.5. ✕ broken.'
    );
  });
});
