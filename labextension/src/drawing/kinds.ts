/** The closed table of interactions: which code draws a kind, made from the folders of src/widgets. Nothing in a notebook can add to it. */
import { TABLE } from '../kinds/table';
import type { Module } from '../widgets/parts/widget';

const KINDS = new Map(TABLE);

/** The names of all kinds. */
export const kinds = (): string[] => [...KINDS.keys()];

/** The code that draws a kind; null where the table has none of that name. */
export async function moduleOf(kind: unknown): Promise<Module<never, never> | null> {
  const load = typeof kind === 'string' ? KINDS.get(kind) : undefined;
  return load === undefined ? null : (await load()).default;
}
