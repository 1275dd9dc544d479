/** A plan's card alive: the list of prices becomes the split board, in its place. Moving it asks nobody and spends nothing. */
import type { Grow, Kernel } from '../lab/views/live_card';
import { isPlanFacts, type PlanFacts, type PlanSet } from '../widgets/plan/model';
import { mount } from '../widgets/parts/widget';
import { planControls } from '../widgets/plan/view';
import { standing } from './session';

const ALONE =
  'No kernel with dpnb answers here, so this shows the plan as it was made. Run the cells above, then this one.';

/** The plan as it stands after whatever was released since, here or elsewhere. */
async function asItStands(kernel: Kernel, plan: unknown, facts: PlanFacts): Promise<PlanFacts> {
  const answer = typeof plan === 'string' ? await kernel.ask({ ask: 'board', plan }) : null;
  const found: unknown = answer?.facts;
  if (isPlanFacts(found)) {
    return found;
  }
  const now = await standing(kernel, facts.dataset);
  return now === null
    ? { ...facts, problem: ALONE }
    : { ...facts, left: now.dataset.left, cap: now.dataset.cap, problem: '' };
}

export const grow: Grow = (card, record, kernel) => {
  const { facts, plan } = (record ?? {}) as { readonly facts?: unknown; readonly plan?: unknown };
  if (!isPlanFacts(facts)) {
    return null;
  }
  let now = facts;
  const view = mount<PlanFacts, PlanSet>(planControls, now);
  // the card keeps its style and its heading
  card.replaceChildren(...card.querySelectorAll(':scope > :is(style, .head)'), view.node);
  let turn = 0;
  const step = async (): Promise<void> => {
    const mine = ++turn;
    const found = await asItStands(kernel, plan, now);
    if (mine === turn) {
      now = found;
      view.show(now);
    }
  };
  const stop = kernel.listen(() => void step());
  void step();
  return {
    dispose: () => {
      turn++;
      stop();
      view.dispose();
    }
  };
};
