/** The living budget bar: a block for each release, a ghost for a plan, the ways out, in step with every cell of the session. */
import type { Event } from '../../maths/composition';
import { livingBar } from '../parts/bar';
import { countingView } from '../parts/comparison';
import { html } from '../parts/dom';
import { ledgerView } from '../parts/ledger';
import { releaseButton } from '../parts/release';
import { brief, clock, type Dataset } from '../parts/session_state';
import type { Remedy } from '../plan/remedies';
import { remedyList } from '../plan/remedy_list';
import { widget, type Link, type View } from '../parts/widget';

interface BudgetFacts {
  readonly at: string;
  readonly dataset: Dataset;
  /** What a plan would cost, in the budget's measure; 0 without one. */
  readonly plan: number;
  readonly planned: string;
  /** The privacy events of the plan. */
  readonly events: readonly Event[];
  readonly ways: readonly Remedy[];
  readonly problem: string;
}

/** What a plan means for the budget, in a sentence. */
export function verdict(facts: BudgetFacts): string {
  const { dataset, plan, planned } = facts;
  const cost = `${dataset.symbol} ${brief(plan)}`;
  return facts.ways.length > 0
    ? `${planned} costs ${cost}; ${dataset.symbol} ${brief(dataset.left)} is left, which is too little. Each of these cells fits:`
    : `${planned} would take ${cost} and leave ${dataset.symbol} ${brief(dataset.left - plan)}.`;
}

function released(way: Remedy): HTMLElement {
  const release = releaseButton(() => way.cell);
  release.button.textContent = way.label;
  release.allow(way.cell !== '');
  release.button.classList.toggle('strong', way.kind === 'less');
  return release.node;
}

function budgetView(root: HTMLElement, link: Link<BudgetFacts, Record<string, never>>): View {
  const [bar, counting, ledger] = [livingBar(), countingView(), ledgerView()];
  const title = html('h3', {});
  const badge = html('span', { class: 'badge' });
  const stale = html('p', { class: 'warn', role: 'status' });
  const words = html('p', {});
  const own = html('p', { class: 'soft' });
  const said = html('p', { role: 'status' });
  const remedies = remedyList();
  const problem = html('p', { class: 'warn', role: 'status' });
  ledger.node.open = false;
  root.append(
    html('div', { class: 'head' }, title, badge),
    stale,
    bar.node,
    words,
    own,
    said,
    remedies.node,
    problem,
    counting.node,
    ledger.node
  );
  const draw = (): void => {
    const facts = link.facts();
    const { dataset } = facts;
    title.textContent = `Budget of ${dataset.name}`;
    badge.textContent = dataset.badge;
    badge.title = dataset.sentence;
    bar.show(dataset, facts.plan);
    words.textContent = dataset.words;
    words.className = dataset.used >= 0.9 ? 'warn' : 'soft';
    own.textContent = dataset.own;
    own.hidden = dataset.own === '';
    said.textContent = facts.plan > 0 ? verdict(facts) : '';
    said.className = facts.ways.length > 0 ? 'say warn' : 'say';
    said.hidden = facts.plan <= 0;
    remedies.show(facts.ways, released);
    problem.textContent = facts.problem;
    stale.textContent = link.alive?.() === false ? `This was the state at ${clock(facts.at)}.` : '';
    counting.show(dataset, facts.events);
    ledger.show(dataset);
  };
  draw();
  return { update: draw };
}

export default widget(budgetView);
