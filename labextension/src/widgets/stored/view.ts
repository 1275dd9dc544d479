/** Where an answer came from: what it cost and when, that asking again is free, what new noise would cost, and what more buys. */
import { coded, html, unique } from '../parts/dom';
import { widget, type Link, type View } from '../parts/widget';
import type { RemeasureFacts, RemeasureSet } from '../remeasure/model';
import { forecast } from '../remeasure/view';

interface StoredFacts {
  readonly name: string;
  readonly question: string;
  readonly badge: string;
  /** What there is to say, each with its heading. */
  readonly rows: readonly (readonly [string, string])[];
  /** What paying more would buy; null where that cannot be known beforehand. */
  readonly more: RemeasureFacts | null;
  /** Why it cannot. */
  readonly why: string;
}

function storedView(root: HTMLElement, link: Link<StoredFacts, RemeasureSet>): View {
  const { question, badge } = link.facts();
  const body = html('tbody');
  const id = unique('more');
  const more = html('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': id }, 'More ε');
  const opened = html('div', { id, hidden: '' });
  const why = html('p', { class: 'soft', role: 'status' });
  let view: View | null = null;

  const close = (): void => {
    view?.dispose?.();
    view = null;
    opened.hidden = true;
    opened.replaceChildren();
    more.setAttribute('aria-expanded', 'false');
  };
  const open = (): void => {
    opened.hidden = false;
    more.setAttribute('aria-expanded', 'true');
    view = forecast(opened, { ...link, facts: () => link.facts().more! });
  };
  more.addEventListener('click', () => (view === null ? open() : close()));
  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'Where this answer came from'), html('code', {}, ...coded(question))),
      html('span', { class: 'soft' }, badge)
    ),
    html('table', {}, body),
    html('div', { class: 'buttons' }, more),
    why,
    opened
  );
  function update(): void {
    const facts = link.facts();
    body.replaceChildren(
      ...facts.rows.map(([head, words]) =>
        html('tr', {}, html('th', { scope: 'row' }, head), html('td', {}, words))
      )
    );
    more.textContent = `More ${facts.more?.symbol ?? 'ε'}`;
    more.hidden = facts.more === null;
    why.textContent = facts.why;
    if (facts.more === null) {
      close();
    } else {
      view?.update?.();
    }
  }
  update();
  return { update, dispose: close };
}

export default widget(storedView);
