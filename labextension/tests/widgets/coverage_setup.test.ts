import { describe, expect, it } from 'vitest';
import type { CoverageFacts, CoverageSetup, Method } from '../../src/widgets/coverage/facts';
import {
  barsOf,
  bootstrapped,
  grouped,
  idle,
  switched,
  withResampled
} from '../../src/widgets/coverage/setup';

const method = (name: string, resampled: boolean, unfit = ''): Method => ({
  name,
  words: '',
  resampled,
  unfit
});
const methods = [
  method('naive', false),
  method('confidence', false),
  ...['normal', 'unbiased', 'conservative', 'deconvolved'].map(name => method(name, true))
];
const setup = { statistic: 'variance', kind: 'epsilon', loss: 2, n: 100 } as unknown as CoverageSetup;

type Known = Parameters<typeof idle>[0];
const known = (more: Partial<CoverageFacts> = {}): Known => ({
  setup,
  view: 'studies',
  methods,
  shown: ['naive'],
  sliders: [],
  ...more
});

describe('the bootstrap', () => {
  it('is of a mean or a proportion, in ρ, and keeps a ρ that was set', () => {
    expect(bootstrapped(known()).setup).toMatchObject({ statistic: 'mean', kind: 'rho', loss: 0.5, n: 100 });
    const share = { ...setup, statistic: 'proportion', kind: 'rho' } as CoverageSetup;
    expect(bootstrapped(known({ setup: share })).setup).toMatchObject({ statistic: 'proportion', loss: 2 });
  });
  it('shows its first three intervals behind those that are shown, each once', () => {
    expect(bootstrapped(known({ shown: ['naive', 'normal'] })).shown).toEqual([
      'naive',
      'normal',
      'unbiased',
      'conservative'
    ]);
    expect(withResampled(methods, [])).toEqual(['normal', 'unbiased', 'conservative']);
  });
});

it('a method is switched on in its own place, and the last one stays', () => {
  const shown = { methods, shown: ['unbiased', 'naive'] };
  expect(switched(shown, 'confidence', true)).toEqual(['naive', 'confidence', 'unbiased']);
  expect(switched(shown, 'naive', false)).toEqual(['unbiased']);
  expect(switched({ methods, shown: ['naive'] }, 'naive', false)).toBeNull();
});

describe('a control has nothing to set', () => {
  const hidden = (more: Partial<CoverageFacts> = {}): string[] =>
    Object.entries(idle(known(more)))
      .filter(([, one]) => one)
      .map(([name]) => name);
  const shapes = ['skew', 'outliers', 'share', 'effect'];
  it('where the loss is in the other measure, no resample is shown, or the population has no such shape', () => {
    expect(hidden()).toEqual(['rho', 'k', 'compare', 'repaired', ...shapes]);
    expect(hidden({ sliders: ['skew', 'share'] })).toEqual([
      'rho',
      'k',
      'compare',
      'repaired',
      'outliers',
      'effect'
    ]);
    expect(hidden({ shown: ['normal'], setup: { ...setup, kind: 'rho' } })).toEqual([
      'epsilon',
      'compare',
      ...shapes
    ]);
  });
  it('where it is what a sweep goes over', () => {
    expect(hidden({ view: 'loss' })).toEqual(['epsilon', 'rho', 'k', 'compare', 'repaired', ...shapes]);
    expect(hidden({ view: 'n' })).toEqual(['rho', 'n', 'k', 'compare', 'repaired', ...shapes]);
    expect(hidden({ view: 'k', shown: ['normal'] })).toEqual([
      'rho',
      'k',
      'kind',
      'statistic',
      'compare',
      ...shapes
    ]);
  });
  it('of the bootstrap where it cannot be computed: it is offered as another study', () => {
    const unfit = [method('naive', false), method('normal', true, 'only of a mean')];
    expect(hidden({ methods: unfit })).toEqual(['rho', 'k', 'boot', 'repaired', ...shapes]);
  });
});

it('choices stand in their groups, in the order in which these come', () => {
  const choice = (key: string, group?: string): { key: string; label: string; group?: string } => ({
    key,
    label: key,
    ...(group === undefined ? {} : { group })
  });
  const found = grouped([choice('a', 'one'), choice('b'), choice('c', 'one')]);
  expect(found.map(([group, members]) => [group, members.map(one => one.key)])).toEqual([
    ['one', ['a', 'c']],
    ['', ['b']]
  ]);
});

it('bars stand side by side on their line, up or down', () => {
  expect(barsOf([0.5, 1], 40, 36, 1)).toBe('M0.00 40v-18.0h90.00V40ZM100.00 40v-36.0h90.00V40Z');
  expect(barsOf([0.25], 40, -36, 0.5)).toBe('M0.00 40v18.0h180.00V40Z');
  expect(barsOf([], 40, 36, 1)).toBe('');
});
