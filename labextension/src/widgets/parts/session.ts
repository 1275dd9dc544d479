/** The session as a person sees it: one view, in the notebook's output and in JupyterLab's side panel. */
import { bar } from './bar';
import { html } from './dom';
import { advice, type Column, type Dataset, type Link, type Snapshot } from './state';

export interface Actions {
  /** Put text into the active cell; only where there is a notebook around. */
  readonly insert?: (text: string) => void;
  /** Ask the kernel for the paragraph on what this notebook released of a dataset; `problem` says why there is none. */
  readonly methods?: (dataset: string) => Promise<Methods>;
}

export interface Methods {
  readonly text: string;
  readonly problem: string;
}

/** What a kernel answered to that; one that did not answer may be busy with something that cannot be put aside. */
export function methodsOf(answer: Readonly<Record<string, unknown>> | null): Methods {
  const word = (name: string): string => {
    const found = answer?.[name];
    return typeof found === 'string' ? found : '';
  };
  const text = word('text');
  return { text, problem: text === '' ? word('problem') || 'The kernel did not answer. Try again.' : '' };
}

/** Put text on the clipboard; false where the browser does not allow it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or a page that is not served over https
  }
}

function paragraph(one: Dataset, ask: (dataset: string) => Promise<Methods>): HTMLElement[] {
  const said = html('p', { class: 'soft', role: 'status' });
  const text = html('textarea', {
    readonly: '',
    hidden: '',
    rows: 7,
    class: 'methods',
    'aria-label': 'methods paragraph'
  });
  const button = html('button', { type: 'button' }, 'Copy as methods paragraph');
  button.addEventListener('click', () => {
    button.disabled = true;
    void ask(one.name).then(async found => {
      text.value = found.text;
      text.hidden = found.text === '';
      const done = found.text !== '' && (await copied(found.text));
      said.textContent = found.problem || (done ? 'Copied.' : 'Select the text and copy it.');
      button.disabled = false;
    });
  });
  return [html('div', { class: 'buttons' }, button), said, text];
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

function ledger(one: Dataset, actions: Actions): HTMLElement {
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
    html('div', { class: 'buttons' }, html('span', { class: 'soft' }, 'The ledger as'), json, table),
    ...(actions.methods === undefined ? [] : paragraph(one, actions.methods))
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
    ledger(one, actions)
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
