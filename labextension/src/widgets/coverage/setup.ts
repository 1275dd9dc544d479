/** What is simulated, as it is set: which controls have something to set, and what the ready setups change. No DOM. */
import type { CoverageFacts, CoverageSetup, Method } from './facts';

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly group?: string;
}

export const VIEWS: readonly Choice[] = [
  { key: 'studies', label: 'study by study' },
  { key: 'loss', label: 'sweep over the loss' },
  { key: 'n', label: 'sweep over n' },
  { key: 'k', label: 'bootstrap, over its resamples k' }
];
export const KINDS: readonly Choice[] = [
  { key: 'epsilon', label: 'ε (pure)' },
  { key: 'rho', label: 'ρ (zero-concentrated)' }
];

/** The numbers that shape a population. */
export const SHAPES = ['skew', 'outliers', 'share', 'effect'] as const;
export type Shape = (typeof SHAPES)[number];

/** Something of each name. */
export function byName<Name extends string, T>(
  names: readonly Name[],
  made: (name: Name) => T
): Record<Name, T> {
  return Object.fromEntries(names.map(name => [name, made(name)])) as Record<Name, T>;
}

/** Choices by their group, in the order in which the groups come; those without one have the group ''. */
export function grouped(choices: readonly Choice[]): (readonly [string, readonly Choice[]])[] {
  const groups = [...new Set(choices.map(one => one.group ?? ''))];
  return groups.map(group => [group, choices.filter(one => (one.group ?? '') === group)]);
}

/** The setup of the published table. */
export const PRINT: Partial<CoverageSetup> = {
  statistic: 'mean',
  population: 'publication',
  n: 500,
  kind: 'rho',
  loss: 0.5,
  level: 0.95,
  k: 50,
  repaired: false
};

type Methods = Pick<CoverageFacts, 'methods' | 'shown'>;

/** The first intervals of the bootstrap, behind others; each once. */
export function withResampled(methods: readonly Method[], others: readonly string[]): string[] {
  const resampled = methods.filter(one => one.resampled).slice(0, 3);
  return [...new Set([...others, ...resampled.map(one => one.name)])];
}

/** A study of the bootstrap: of a mean, calibrated in ρ, with some of its intervals. */
export function bootstrapped({ setup, methods, shown }: Methods & Pick<CoverageFacts, 'setup'>) {
  return {
    setup: {
      ...setup,
      statistic: setup.statistic === 'proportion' ? 'proportion' : 'mean',
      kind: 'rho',
      loss: setup.kind === 'rho' ? setup.loss : 0.5
    } satisfies CoverageSetup as CoverageSetup,
    shown: withResampled(methods, shown)
  };
}

/** The methods that are shown when one is switched, in their own order; null where none would be left. */
export function switched({ methods, shown }: Methods, name: string, on: boolean): string[] | null {
  const next = methods.map(one => one.name).filter(other => (other === name ? on : shown.includes(other)));
  return next.length === 0 ? null : next;
}

/** The controls that have nothing to set, by name. */
export function idle({
  setup,
  view,
  methods,
  shown,
  sliders
}: Methods & Pick<CoverageFacts, 'setup' | 'view' | 'sliders'>) {
  const unfit = (methods.find(one => one.resampled)?.unfit ?? '') !== '';
  const plain = !methods.some(one => one.resampled && shown.includes(one.name));
  const [loss, k] = [view === 'loss', view === 'k'];
  return {
    epsilon: loss || setup.kind !== 'epsilon',
    rho: loss || setup.kind !== 'rho',
    n: view === 'n',
    k: k || plain,
    kind: k,
    statistic: k,
    boot: unfit,
    compare: !unfit,
    repaired: plain,
    ...byName(SHAPES, name => !sliders.includes(name))
  };
}

/** Bars from the line at `base` up, or down, as high as their share of `top`. */
export function barsOf(shares: readonly number[], base: number, tall: number, top: number): string {
  const wide = 200 / shares.length;
  return shares
    .map(
      (share, i) =>
        `M${(i * wide).toFixed(2)} ${base}v${((-tall * share) / top).toFixed(1)}h${(wide * 0.9).toFixed(2)}V${base}Z`
    )
    .join('');
}
