/** Open or close: a reserve for analysts, a cap, or closed for ever; and the page that is published. */
import { announcer, html } from '../parts/dom';
import { bar } from '../parts/bar';
import { slider } from '../parts/slider';
import type { Link } from '../parts/widget';
import { actButton } from './act';
import type { Step } from './declare';
import { textField } from './fields';
import type { DepositFacts, DepositSet } from './model';
import { choices } from '../guide/choices';

const ENDS = [
  { id: 'open', words: 'Keep it open', note: 'analysts may spend what is left' },
  { id: 'cap', words: 'Cap it', note: 'analysts may spend up to a cap' },
  { id: 'close', words: 'Close it for ever', note: 'what was published stays, and nothing new is released' }
] as const;

function standingOf(facts: DepositFacts): Element[] {
  const one = facts.standing;
  if (one === null) {
    return [html('p', { class: 'say' }, 'Nothing was released yet.')];
  }
  const { symbol } = facts.budget;
  const about = { cap: one.cap, left: one.cap - one.spent, symbol, ledger: [], words: one.words };
  const to = one.promised.map(([who, loss]) => `${who}: ${loss}`).join('; ');
  return [
    html('p', { class: 'say' }, html('strong', {}, `It is ${one.state}. `), `${one.words}.`),
    ...(one.cap > 0 ? [bar(about)] : []),
    ...(to === '' ? [] : [html('p', { class: 'soft' }, `Answered so far: ${to}`)])
  ];
}

export function endStep(
  link: Link<DepositFacts, DepositSet>,
  choose: (part: Partial<DepositSet>) => void
): Step {
  const now = html('div', {});
  const said = announcer();
  const reason = textField('Reason (the ledger keeps it)', value => choose({ reason: value }), {
    long: true,
    example: 'the study ended'
  });
  const cap = slider({
    label: 'everybody together may spend, of the whole',
    range: { low: 0.001, high: 1 },
    value: 1,
    ends: ['less', 'all'],
    input: () => undefined,
    change: value => choose({ cap: value })
  });
  const end = (): string => link.chosen().end ?? 'open';
  const kinds = html('div', {});
  const capping = actButton('Cap it', 'cap', link);
  const closing = actButton('Close it for ever', 'close', link, html('span', {}, 'Nothing opens it again.'));
  const publishing = actButton('Write the published page', 'publish', link);
  let drawn = '';
  const show = (facts: DepositFacts): void => {
    now.replaceChildren(...standingOf(facts));
    if (drawn !== end()) {
      drawn = end();
      const held = kinds.contains(document.activeElement);
      kinds.replaceChildren(choices('What happens to what is left?', ENDS, end(), id => choose({ end: id })));
      if (held) {
        kinds.querySelector<HTMLElement>(`input[value="${end()}"]`)?.focus();
      }
    }
    reason.show(link.chosen().reason ?? '', '');
    cap.reach({ low: facts.budget.cap / 1000 || 0.001, high: facts.budget.cap || 1 });
    cap.show(link.chosen().cap ?? facts.budget.cap);
    cap.node.hidden = end() !== 'cap';
    capping.node.hidden = end() !== 'cap';
    closing.node.hidden = end() !== 'close';
    const [why, state] = [(link.chosen().reason ?? '').trim() !== '', facts.standing?.state ?? ''];
    capping.allow(why && state === 'open');
    closing.allow(why && state !== '' && state !== 'closed');
    publishing.allow(why && facts.released && state !== '');
    said.textContent = !why && (end() !== 'open' || facts.released) ? 'Give a reason, then go on.' : '';
  };
  return {
    node: html(
      'div',
      {},
      now,
      kinds,
      cap.node,
      reason.node,
      said,
      capping.node,
      closing.node,
      html('h4', {}, 'Publish'),
      html('p', { class: 'soft' }, link.facts().texts.page),
      publishing.node
    ),
    show
  };
}
