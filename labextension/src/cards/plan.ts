/** A plan's card alive: the list of prices becomes the split board, in its place. Moving it asks nobody and spends nothing. */
import type { Grow } from '../lab/views/live_card';
import { isPlanFacts, type PlanFacts, type PlanSet } from '../widgets/plan/model';
import { mount } from '../widgets/parts/widget';
import { planControls } from '../widgets/plan/view';
import { standing } from './session';

const ALONE = 'No kernel with dpnb answers here: what is left is as it stood when this was planned.';

export const grow: Grow = (card, record, kernel) => {
  const facts: unknown = (record as { facts?: unknown } | null)?.facts;
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
    const found = await standing(kernel, facts.dataset);
    if (mine !== turn) {
      return;
    }
    now =
      found === null
        ? { ...now, problem: ALONE }
        : { ...now, left: found.dataset.left, cap: found.dataset.cap, problem: '' };
    view.show(now);
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
