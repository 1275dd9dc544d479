/** What a card asks of the session around it: a dataset's budget as it stands, and what the notebook calls it. */
import type { Kernel } from '../lab/views/live_card';
import { isSnapshot, type Dataset } from '../widgets/parts/session_state';

export interface Standing {
  readonly dataset: Dataset;
  /** The notebook's own name for it, where it has one. */
  readonly called: string | null;
}

const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** The dataset of a name as the kernel has it open now; null without a kernel, or where it is not open there. */
export async function standing(kernel: Kernel, name: string): Promise<Standing | null> {
  const answer = await kernel.ask({ ask: 'state' });
  const state: unknown = answer?.state;
  if (!isSnapshot(state)) {
    return null;
  }
  const dataset = state.datasets.find(one => one.name === name);
  const called = Object.entries(state.names ?? {}).find(([, of]) => of === name)?.[0] ?? null;
  return dataset === undefined
    ? null
    : { dataset, called: called !== null && NAME.test(called) ? called : null };
}
