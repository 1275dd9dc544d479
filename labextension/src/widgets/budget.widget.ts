/** The living budget bar: a block for each release, a ghost for a plan, in step with every cell of the session. */
import { bar, blocks } from './parts/bar';
import { html } from './parts/dom';
import { brief, type Dataset } from './parts/state';
import { widget } from './parts/widget';

export interface BudgetFacts {
  readonly dataset: Dataset;
  /** What a plan would cost, in the budget's measure; 0 without one. */
  readonly plan: number;
  readonly planned: string;
  readonly problem: string;
}

/** What there is to do when a plan does not fit. */
export function waysOut(facts: BudgetFacts): string[] {
  const { dataset, plan } = facts;
  if (plan <= dataset.left * (1 + 1e-9)) {
    return [];
  }
  const name = dataset.symbol === 'ε' ? 'epsilon' : 'rho';
  const down = Math.floor(dataset.left * 1000 * (1 + 1e-12)) / 1000;
  return [
    down > 0 ? `ask less: ${name}=${brief(down)} still fits` : 'nothing is left: no new question fits',
    'drop a question, or give it a smaller weight',
    'run an earlier cell again: a stored answer is free'
  ];
}

export default widget<BudgetFacts, Record<string, never>>((root, link) => {
  const draw = (): void => {
    const facts = link.facts();
    const { dataset, plan } = facts;
    const listed = blocks(dataset);
    const over = waysOut(facts);
    root.replaceChildren(
      html(
        'div',
        { class: 'head' },
        html('h3', {}, `Budget of ${dataset.name}`),
        html('span', { class: 'badge', title: dataset.sentence }, dataset.badge)
      ),
      bar(dataset, plan),
      html('p', { class: dataset.used >= 0.9 ? 'warn' : 'soft' }, dataset.words),
      ...(dataset.own === '' ? [] : [html('p', { class: 'soft' }, dataset.own)]),
      ...(plan > 0
        ? [
            html(
              'p',
              { class: over.length > 0 ? 'warn' : 'say', role: 'status' },
              over.length > 0
                ? `${facts.planned} costs ${dataset.symbol} ${brief(plan)}, more than is left:`
                : `${facts.planned} would take ${dataset.symbol} ${brief(plan)} and leave ${dataset.symbol} ${brief(dataset.left - plan)}.`
            ),
            html('ul', { class: 'soft' }, ...over.map(way => html('li', {}, way)))
          ]
        : []),
      html(
        'details',
        { open: listed.length <= 8 ? '' : null },
        html('summary', {}, listed.length === 0 ? 'Nothing was charged yet' : 'What it was spent on'),
        html('ul', { class: 'soft' }, ...listed.map(block => html('li', {}, block.title)))
      ),
      ...(facts.problem === '' ? [] : [html('p', { class: 'warn', role: 'status' }, facts.problem)])
    );
  };
  draw();
  return { update: draw };
});
