/** A release, or a question that waits for one, drawn from its record alone, as text: where a notebook has it without its card, or is not trusted. */
import { html } from '../../widgets/parts/dom';
import { headings } from '../../widgets/parts/layout';
import { cut, release, waitingOf, type Answer } from './record';

const PENDING = 'Pending: no value yet. Nothing was spent.';

function table(answer: Answer): HTMLElement {
  const keyed = answer.rows.length > 1;
  const asked = answer.name === answer.question ? answer.question : `${answer.name}: ${answer.question}`;
  const heads = [...(keyed ? ['group'] : []), 'value', 'privacy interval, 95 %', 'confidence interval, 95 %'];
  const cells = answer.rows.map(row => [...(keyed ? [row.key] : []), row.value, row.privacy, row.confidence]);
  return html(
    'div',
    { class: 'scroll' },
    html(
      'table',
      {},
      html('caption', {}, `${asked} · ${answer.paid}`),
      html('thead', {}, headings(...heads)),
      html('tbody', {}, ...cells.map(row => html('tr', {}, ...row.map(cell => html('td', {}, cell)))))
    )
  );
}

/** The tables of a record, or null where it is none that this version knows. */
export function plainCard(record: unknown): HTMLElement[] | null {
  const waiting = waitingOf(record);
  if (waiting !== null) {
    return [html('p', {}, html('code', {}, cut(waiting.question))), html('p', { class: 'soft' }, PENDING)];
  }
  const found = release(record);
  return found === null
    ? null
    : [
        html('h3', {}, found.title),
        ...found.answers.flatMap(answer => [
          table(answer),
          ...answer.notes.map(note => html('p', { class: 'soft' }, note))
        ])
      ];
}
