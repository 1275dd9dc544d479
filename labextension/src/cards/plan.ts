/** A plan's card alive: the list of prices becomes the split board, in its place. Moving it asks nobody and spends nothing. */
import type { Grow, Kernel } from '../lab/views/live_card';
import { isPlanFacts, type PlanFacts, type PlanSet } from '../widgets/plan/model';
import { mount } from '../widgets/parts/widget';
import { planControls } from '../widgets/plan/view';
import { standing } from './session';

const ALONE =
  'No kernel with dpnb answers here, so this shows the plan as it was made. Run the cells above, then this one.';

const STARTING = 'The session is starting: this plan is read anew when the cells above have run.';

/** Why the plan stands as it was made: nobody answers, or a cell of its notebook is running from which somebody will. */
function alone(card: Element): string {
  const prompts = card.closest('.jp-Notebook')?.querySelectorAll('.jp-InputPrompt') ?? [];
  return [...prompts].some(one => one.textContent.startsWith('[*')) ? STARTING : ALONE;
}

/** The plan as it stands after whatever was released since, here or elsewhere. */
async function asItStands(
  card: Element,
  kernel: Kernel,
  plan: unknown,
  facts: PlanFacts
): Promise<PlanFacts> {
  const answer = typeof plan === 'string' ? await kernel.ask({ ask: 'board', plan }) : null;
  const found: unknown = answer?.facts;
  if (isPlanFacts(found)) {
    return found;
  }
  const now = await standing(kernel, facts.dataset);
  return now === null
    ? { ...facts, problem: alone(card) }
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
  const runs = new MutationObserver(() => {
    const problem = [ALONE, STARTING].includes(now.problem) ? alone(card) : now.problem;
    if (problem !== now.problem) {
      now = { ...now, problem };
      view.show(now);
    }
  });
  const step = async (): Promise<void> => {
    const mine = ++turn;
    const found = await asItStands(card, kernel, plan, now);
    if (mine === turn) {
      now = found;
      view.show(now);
      const notebook = card.closest('.jp-Notebook');
      if (notebook !== null) {
        runs.observe(notebook, { subtree: true, childList: true, characterData: true });
      }
    }
  };
  const stop = kernel.listen(() => void step());
  void step();
  return {
    dispose: () => {
      turn++;
      stop();
      runs.disconnect();
      view.dispose();
    }
  };
};
