/** The closed table of interactions: which code draws a kind. Nothing in a notebook can add to it. */
import type { Module } from '../widgets/parts/widget';

type Load = () => Promise<{ readonly default: Module<never, never> }>;

const KINDS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['attach', () => import('../kinds/attach')],
  ['attack', () => import('../kinds/attack')],
  ['budget', () => import('../kinds/budget')],
  ['clamp', () => import('../kinds/clamp')],
  ['compare', () => import('../kinds/compare')],
  ['coverage', () => import('../kinds/coverage')],
  ['deposit', () => import('../kinds/deposit')],
  ['exhibits', () => import('../kinds/exhibits')],
  ['guide', () => import('../kinds/guide')],
  ['noises', () => import('../kinds/noises')],
  ['odds', () => import('../kinds/odds')],
  ['panel', () => import('../kinds/panel')],
  ['person', () => import('../kinds/person')],
  ['plan', () => import('../kinds/plan')],
  ['remeasure', () => import('../kinds/remeasure')],
  ['seesaw', () => import('../kinds/seesaw')],
  ['sentence', () => import('../kinds/sentence')],
  ['stored', () => import('../kinds/stored')],
  ['wall', () => import('../kinds/wall')]
]);

/** The names of all kinds. */
export const kinds = (): string[] => [...KINDS.keys()];

/** The code that draws a kind; null where the table has none of that name. */
export async function moduleOf(kind: unknown): Promise<Module<never, never> | null> {
  const load = typeof kind === 'string' ? KINDS.get(kind) : undefined;
  return load === undefined ? null : (await load()).default;
}
