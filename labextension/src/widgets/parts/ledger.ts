/** The ledger of a dataset: found, sorted and narrowed to this session, fast with thousands of entries; and taken along as a file. */
import { html, set } from './dom';
import { clock, type Charge, type Dataset } from './session_state';
import type { Answer } from './widget';

/** How many rows are drawn at first, and with each further wish. */
const PAGE = 50;

export type Order = 'newest' | 'oldest' | 'dearest' | 'cheapest';

const ORDERS: Readonly<Record<Order, (a: Charge, b: Charge) => number>> = {
  newest: (a, b) => b.entry - a.entry,
  oldest: (a, b) => a.entry - b.entry,
  dearest: (a, b) => (b.loss ?? -1) - (a.loss ?? -1) || b.entry - a.entry,
  cheapest: (a, b) => (a.loss ?? Infinity) - (b.loss ?? Infinity) || b.entry - a.entry
};

/** The entries that have every word that was typed, in an order. */
export function listed(rows: readonly Charge[], typed: string, order: Order, here: boolean): Charge[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .filter(row => {
      const text = `${row.questions.join(' ')} ${row.kind} ${row.note} ${row.paid} ${row.time}`.toLowerCase();
      return (!here || row.here) && words.every(word => text.includes(word));
    })
    .sort(ORDERS[order]);
}

/** What a spreadsheet takes for a formula, or for the beginning of another cell. */
const FORMULA = /^[\s\p{C}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;
/** The same behind what parts cells where a comma does not: a spreadsheet of that language splits inside our quotes too. */
const LATER = /([;\t\r\n][\s\p{C}"';]*)([=+\-@\uFF1D\uFF0B\uFF0D\uFF20]?)/gu;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** One field, quoted. A text that would be a formula gets an apostrophe, which a spreadsheet shows or hides; a number stays one. */
export function field(text: string): string {
  const later = text.replace(LATER, (all, gap: string, sign: string) =>
    sign === '' ? all : `${gap}'${sign}`
  );
  const safe = FORMULA.test(later) && !NUMBER.test(later) ? `'${later}` : later;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** The ledger as text with commas; every field quoted, so that no text of anybody's becomes a formula or a field. */
export function csv(rows: readonly Charge[]): string {
  const lines = rows.map(row => [
    String(row.entry),
    row.time,
    row.kind,
    row.paid,
    row.questions.join('; '),
    row.stored ? 'stored' : '',
    row.note
  ]);
  return [['entry', 'time', 'kind', 'loss', 'questions', 'answers', 'note'], ...lines]
    .map(row => row.map(field).join(','))
    .join('\r\n');
}

/** What a kernel answered to the wish for every entry; null where it gave none. */
export function entriesOf(answer: Answer | null): Charge[] | null {
  return Array.isArray(answer?.rows) ? (answer.rows as Charge[]) : null;
}

function download(name: string, type: string, text: string): void {
  const link = html('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function line(row: Charge): HTMLElement {
  const asked = row.questions.join(', ') || [row.kind, row.note].filter(Boolean).join(': ');
  const stored = row.stored
    ? html('span', { class: 'tag', title: 'Asked again, it is answered from the store, free.' }, 'stored')
    : null;
  return html(
    'tr',
    {},
    html('td', { class: 'soft', title: row.time }, clock(row.time)),
    html('th', { scope: 'row' }, asked, ' ', stored),
    html('td', { class: 'num' }, row.paid)
  );
}

export interface LedgerView {
  readonly node: HTMLDetailsElement;
  readonly show: (one: Dataset) => void;
}

type Ask = (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;

/** The view; `ask` brings the entries that were not told. */
export function ledgerView(ask?: Ask): LedgerView {
  const known = new Map<number, Charge>();
  let one: Dataset | null = null;
  let [order, most]: [Order, number] = ['newest', PAGE];
  const find = html('input', {
    type: 'text',
    'aria-label': 'find in the ledger',
    placeholder: 'find',
    autocomplete: 'off'
  });
  const scope = html(
    'select',
    { 'aria-label': 'whose entries' },
    html('option', { value: 'all' }, 'whole dataset'),
    html('option', { value: 'here' }, 'this session')
  );
  const body = html('tbody');
  const said = html('span', { class: 'soft', role: 'status' });
  const more = html('button', { type: 'button' }, 'Show more');
  const rest = html('button', { type: 'button' }, 'Fetch older entries');
  const json = html('button', { type: 'button' }, 'JSON');
  const table = html('button', { type: 'button' }, 'CSV');
  const summary = html('summary', {});

  const heading = (words: string, first: Order, second: Order, side = ''): HTMLElement => {
    const button = html('button', { type: 'button', class: 'insert' }, words);
    const cell = html(
      'th',
      { scope: 'col', class: side, 'data-first': first, 'data-second': second },
      button
    );
    button.addEventListener('click', () => {
      order = order === first ? second : first;
      draw();
    });
    return cell;
  };
  const heads = [heading('time', 'newest', 'oldest'), heading('loss', 'dearest', 'cheapest', 'num')];
  const rows = (): Charge[] => [...known.values()];

  function draw(): void {
    const found = listed(rows(), find.value, order, scope.value === 'here');
    body.replaceChildren(...found.slice(0, most).map(line));
    for (const head of heads) {
      const { first, second } = head.dataset;
      const sort = order === first ? 'descending' : order === second ? 'ascending' : 'none';
      set(head, { 'aria-sort': sort });
    }
    const shown = Math.min(most, found.length);
    const narrowed = find.value.trim() !== '' || scope.value === 'here';
    said.textContent =
      known.size === 0
        ? ''
        : found.length === 0
          ? 'No entry is like that.'
          : shown < found.length || narrowed
            ? `${shown} of ${narrowed ? `${found.length} found` : found.length}`
            : '';
    more.hidden = shown >= found.length;
    const missing = (one?.entries ?? 0) - known.size;
    rest.hidden = missing <= 0 || ask === undefined;
    rest.textContent = `Fetch ${missing} older ${missing === 1 ? 'entry' : 'entries'}`;
  }
  const fetch = async (): Promise<void> => {
    const name = one?.name;
    const found =
      ask === undefined || name === undefined ? null : entriesOf(await ask({ ask: 'ledger', dataset: name }));
    found?.forEach(row => known.set(row.entry, row));
    draw();
    if (found === null) {
      said.textContent = 'The kernel did not answer: these are the newest entries.';
    }
  };
  /** Everything, where the kernel can be asked for it; else what is here. */
  const whole = async (): Promise<Charge[]> => {
    if ((one?.entries ?? 0) > known.size && ask !== undefined) {
      await fetch();
    }
    return rows().sort(ORDERS.oldest);
  };
  const again = (): void => {
    most = PAGE;
    draw();
  };
  find.addEventListener('input', again);
  scope.addEventListener('change', again);
  more.addEventListener('click', () => {
    most += 10 * PAGE;
    draw();
  });
  rest.addEventListener('click', () => void fetch());
  const save = (write: (rows: Charge[]) => [string, string, string]): void => {
    void whole().then(all => download(...write(all)));
  };
  json.addEventListener('click', () =>
    save(all => [`${one?.name}-ledger.json`, 'application/json', JSON.stringify(all, null, 1)])
  );
  table.addEventListener('click', () => save(all => [`${one?.name}-ledger.csv`, 'text/csv', csv(all)]));

  const controls = html('p', { class: 'find' }, find, ' ', scope);
  const [time, loss] = heads;
  const grid = html(
    'div',
    { class: 'scroll long', tabindex: 0, role: 'region', 'aria-label': 'ledger entries' },
    html(
      'table',
      { class: 'ledger' },
      html('thead', {}, html('tr', {}, time!, html('th', { scope: 'col' }, 'question'), loss!)),
      body
    )
  );
  const node = html(
    'details',
    { open: '' },
    summary,
    controls,
    grid,
    html('p', { class: 'find' }, said, ' ', more, ' ', rest),
    html('div', { class: 'buttons' }, html('span', { class: 'soft' }, 'Take the ledger along:'), json, table)
  );
  return {
    node,
    show: next => {
      if (next.entries < known.size) {
        known.clear(); // another ledger than before
      }
      one = next;
      next.ledger.forEach(row => known.set(row.entry, row));
      const charges = next.ledger.filter(row => row.kind === 'charge').length;
      summary.textContent =
        next.entries > next.ledger.length
          ? `Ledger: ${next.entries} entries`
          : charges === 0
            ? 'Ledger: nothing was charged yet'
            : `Ledger: ${charges} ${charges === 1 ? 'charge' : 'charges'}`;
      controls.hidden = next.entries < 6;
      grid.hidden = known.size === 0;
      draw();
    }
  };
}
