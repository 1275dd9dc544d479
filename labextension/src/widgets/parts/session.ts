/** The session as a person sees it: one view, in the notebook's output and in JupyterLab's side panel. */
import { bar } from './bar';
import { html } from './dom';
import { advice, type Column, type Dataset, type Link, type Snapshot } from './state';

export interface Actions {
  /** Put text into the active cell; only where there is a notebook around. */
  readonly insert?: (text: string) => void;
}

/** The question that is asked most of a column. */
export function question(dataset: string, column: Column): string {
  const subject = `${dataset}.${column.name}`;
  return column.numeric ? `${subject}.mean()` : `${subject}.proportions()`;
}

/** The ledger as text with commas; every field quoted, so that no text of anybody's becomes a formula or a field. */
export function csv(one: Dataset): string {
  const cell = (text: string): string =>
    `"${(/^[=+\-@\t]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const rows = one.ledger.map(row => [
    String(row.entry),
    row.time,
    row.kind,
    row.paid,
    row.questions.join('; '),
    row.note
  ]);
  return [['entry', 'time', 'kind', 'loss', 'questions', 'note'], ...rows]
    .map(row => row.map(cell).join(','))
    .join('\r\n');
}

function download(name: string, type: string, text: string): void {
  const link = html('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function columns(one: Dataset, actions: Actions): HTMLElement {
  const { insert } = actions;
  const row = (column: Column): HTMLElement => {
    const label = column.label === column.name ? null : html('span', { class: 'soft' }, ` ${column.label}`);
    const name =
      insert === undefined
        ? html('span', {}, column.name)
        : html(
            'button',
            { type: 'button', class: 'insert', title: `insert ${question(one.name, column)}` },
            column.name
          );
    if (insert !== undefined) {
      name.addEventListener('click', () => insert(question(one.name, column)));
      name.draggable = true;
      name.addEventListener('dragstart', event =>
        event.dataTransfer?.setData('text/plain', question(one.name, column))
      );
    }
    return html('tr', {}, html('th', { scope: 'row' }, name, label), html('td', {}, column.kind));
  };
  return html(
    'details',
    { 'data-part': `${one.name}/columns` },
    html(
      'summary',
      {},
      `${one.columns.length} columns${insert === undefined ? '' : ': click one to ask it'}`
    ),
    html('p', { class: 'soft' }, `Privacy unit: ${one.unit}.`),
    html('div', { class: 'scroll' }, html('table', {}, html('tbody', {}, ...one.columns.map(row))))
  );
}

function ledger(one: Dataset): HTMLElement {
  const charges = one.ledger.filter(row => row.kind === 'charge');
  const rows = [...charges]
    .reverse()
    .map(row =>
      html(
        'tr',
        {},
        html(
          'th',
          { scope: 'row' },
          row.questions.join(', ') || row.kind,
          html('span', { class: 'soft' }, ` ${row.time.slice(11, 16)}`)
        ),
        html('td', { class: 'num' }, row.paid)
      )
    );
  const json = html('button', { type: 'button' }, 'JSON');
  json.addEventListener('click', () =>
    download(`${one.name}-ledger.json`, 'application/json', JSON.stringify(one.ledger, null, 1))
  );
  const table = html('button', { type: 'button' }, 'CSV');
  table.addEventListener('click', () => download(`${one.name}-ledger.csv`, 'text/csv', csv(one)));
  return html(
    'details',
    { open: '', 'data-part': `${one.name}/ledger` },
    html(
      'summary',
      {},
      charges.length === 0 ? 'Nothing was charged yet' : `${charges.length} charged so far`
    ),
    html('div', { class: 'scroll' }, html('table', {}, html('tbody', {}, ...rows))),
    html('div', { class: 'buttons' }, html('span', { class: 'soft' }, 'The ledger as'), json, table)
  );
}

function dataset(one: Dataset, actions: Actions): HTMLElement {
  return html(
    'section',
    { 'aria-label': one.title },
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, one.title), html('code', {}, one.name)),
      html('span', { class: 'badge', title: one.sentence }, one.badge)
    ),
    bar(one),
    html('p', { class: one.used >= 0.9 ? 'warn' : 'soft' }, one.words),
    one.own === '' ? null : html('p', { class: 'soft' }, one.own),
    columns(one, actions),
    ledger(one)
  );
}

/** Draw the session into an element; what was folded or unfolded stays so. */
export function session(root: HTMLElement, link: Link, state: Snapshot | null, actions: Actions = {}): void {
  const folded = new Map(
    [...root.querySelectorAll('details')].map(part => [part.dataset.part, part.open] as const)
  );
  const said = advice(link, state);
  const live = link === 'live' && state !== null ? state.datasets : [];
  root.replaceChildren(
    ...(said === '' ? [] : [html('p', { role: 'status' }, said)]),
    ...live.map(one => dataset(one, actions))
  );
  for (const part of root.querySelectorAll('details')) {
    part.open = folded.get(part.dataset.part) ?? part.open;
  }
}
