/** The session's current plan and its split board: the very view of `%dp plan`, asked of the kernel when there is a plan to see. */
import { html } from '../parts/dom';
import { isPlanFacts, type PlanFacts } from '../plan/model';
import type { Dataset, Snapshot } from '../parts/session_state';
import type { Answer, Mounted } from '../parts/widget';

/** Makes the board of a plan. It is brought when there is a plan to see: most panels never show one. */
export type Board = (facts: PlanFacts) => Promise<Mounted<PlanFacts> | null>;

export interface PlannedView {
  readonly node: HTMLElement;
  readonly show: (one: Dataset, state: Snapshot) => void;
}

/** The facts of a plan, as the kernel answered; null where it gave none. */
export function factsOf(answer: Answer | null): PlanFacts | null {
  const facts: unknown = answer?.facts;
  return isPlanFacts(facts) ? facts : null;
}

export function plannedView(
  ask: (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>,
  make: Board
): PlannedView {
  const cost = html('span', { class: 'soft' });
  const place = html('div', {});
  const node = html('details', { hidden: '' }, html('summary', {}, 'Current plan ', cost), place);
  let [key, number, turn] = ['', 0, 0];
  let board: Mounted<PlanFacts> | null = null;

  const bring = async (): Promise<void> => {
    const mine = ++turn;
    const facts = factsOf(await ask({ ask: 'plan' }));
    if (mine !== turn) {
      return;
    }
    if (facts === null) {
      key = ''; // asked again with the next state
      return;
    }
    if (board !== null) {
      board.show(facts);
      return;
    }
    const made = await make(facts);
    if (mine === turn && made !== null) {
      board = made;
      place.replaceChildren(made.node);
    } else {
      made?.dispose();
    }
  };
  const look = (): void => {
    if (node.open && !node.hidden && key === '') {
      key = 'asked';
      void bring();
    }
  };
  node.addEventListener('toggle', look);
  return {
    node,
    show: (one, state) => {
      const plan = state.plan?.dataset === one.name ? state.plan : null;
      node.hidden = plan === null;
      if (plan === null || plan.number !== number) {
        turn++;
        board?.dispose();
        board = null;
        place.replaceChildren();
        number = plan?.number ?? 0;
      }
      cost.textContent = plan?.cost ?? '';
      key = '';
      look();
    }
  };
}
