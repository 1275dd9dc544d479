/** The ledger of a dataset: found, sorted and narrowed to this session, fast with thousands of entries; and taken along as a file. */
import { csv } from './ledger_rows';
import { button, coded, html, set, type Part } from './dom';
import {
  askedOf,
  countOf,
  entriesOf,
  fetchOf,
  listed,
  ORDERS,
  PAGE,
  sortOf,
  summaryOf,
  type Order
} from './ledger_rows';
import { finder } from './search';
import { clock, type Charge, type Dataset } from './session_state';
import type { Answer } from './widget';

function download(name: string, type: string, text: string): void {
  const link = html('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function line(row: Charge): HTMLElement {
  const stored = row.stored
    ? html('span', { class: 'tag', title: 'Asking again is free: the answer is stored.' }, 'stored')
    : null;
  return html(
    'tr',
    {},
    html('td', { class: 'soft', title: row.time }, clock(row.time)),
    html('th', { scope: 'row' }, ...coded(askedOf(row)), ' ', stored),
    html('td', { class: 'num' }, row.paid)
  );
}

type Ask = (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;

/** The entries that are known, and the kernel that has the others. */
interface Entries {
  readonly name: () => string | undefined;
  readonly rows: () => Charge[];
  /** How many there are that were not told. */
  readonly missing: () => number;
  readonly take: (one: Dataset) => void;
  /** Ask for all of them; false where no answer came. */
  readonly fetch: () => Promise<boolean>;
}

function entries(ask?: Ask): Entries {
  const known = new Map<number, Charge>();
  let one: Dataset | null = null;
  const keep = (rows: readonly Charge[]): void => rows.forEach(row => known.set(row.entry, row));
  return {
    name: () => one?.name,
    rows: () => [...known.values()],
    missing: () => (one?.entries ?? 0) - known.size,
    take: next => {
      if (next.entries < known.size) {
        known.clear(); // another ledger than before
      }
      one = next;
      keep(next.ledger);
    },
    fetch: async () => {
      const answer = one === null ? null : await ask?.({ ask: 'ledger', dataset: one.name });
      const found = entriesOf(answer ?? null);
      keep(found ?? []);
      return found !== null;
    }
  };
}

/** What narrows the rows: words, and whose they are. */
function filters(changed: () => void): {
  readonly node: HTMLElement;
  readonly typed: () => string;
  readonly here: () => boolean;
} {
  const find = finder('find in the ledger', changed);
  const scope = html(
    'select',
    { 'aria-label': 'whose entries' },
    html('option', { value: 'all' }, 'whole dataset'),
    html('option', { value: 'here' }, 'this session')
  );
  scope.addEventListener('change', changed);
  return {
    node: html('p', { class: 'find' }, find, ' ', scope),
    typed: () => find.value,
    here: () => scope.value === 'here'
  };
}

/** The table, with two headings that sort it. */
function grid(sorted: () => void): {
  readonly node: HTMLElement;
  readonly order: () => Order;
  readonly draw: (rows: readonly Charge[]) => void;
} {
  let order: Order = 'newest';
  const body = html('tbody');
  const heading = (words: string, first: Order, second: Order, side = '') => {
    const sort = button(
      words,
      () => {
        order = order === first ? second : first;
        sorted();
      },
      { class: 'insert' }
    );
    const cell = html('th', { scope: 'col', class: side, 'data-first': first, 'data-second': second }, sort);
    return { cell, show: () => set(cell, { 'aria-sort': sortOf(order, first, second) }) };
  };
  const [time, loss] = [
    heading('time', 'newest', 'oldest'),
    heading('loss', 'dearest', 'cheapest', 'num')
  ] as const;
  const row = html('tr', {}, time.cell, html('th', { scope: 'col' }, 'question'), loss.cell);
  return {
    node: html(
      'div',
      { class: 'scroll long', tabindex: 0, role: 'region', 'aria-label': 'ledger entries' },
      html('table', { class: 'ledger' }, html('thead', {}, row), body)
    ),
    order: () => order,
    draw: rows => {
      body.replaceChildren(...rows.map(line));
      time.show();
      loss.show();
    }
  };
}

/** The buttons that take the ledger along; `all` brings every entry. */
function files(name: () => string | undefined, all: () => Promise<Charge[]>): HTMLElement {
  const save = (end: string, type: string, write: (rows: Charge[]) => string): void => {
    void all().then(rows => download(`${name()}-ledger.${end}`, type, write(rows)));
  };
  return html(
    'div',
    { class: 'buttons' },
    html('span', { class: 'soft' }, 'Download the ledger:'),
    button('JSON', () => save('json', 'application/json', rows => JSON.stringify(rows, null, 1))),
    button('CSV', () => save('csv', 'text/csv', csv))
  );
}

/** The view; `ask` brings the entries that were not told. */
export function ledgerView(ask?: Ask): Part<[one: Dataset], HTMLDetailsElement> {
  const known = entries(ask);
  let most = PAGE;
  const summary = html('summary', {});
  const said = html('span', { class: 'soft', role: 'status' });
  const narrow = filters(() => {
    most = PAGE;
    draw();
  });
  const table = grid(draw);
  const more = button('Show more', () => {
    most += 10 * PAGE;
    draw();
  });
  const rest = button('Fetch older entries', () => void fetch());

  function draw(): void {
    const rows = known.rows();
    const found = listed(rows, narrow.typed(), table.order(), narrow.here());
    const shown = Math.min(most, found.length);
    const narrowed = narrow.typed().trim() !== '' || narrow.here();
    table.draw(found.slice(0, most));
    said.textContent = countOf(rows.length, found.length, shown, narrowed);
    more.hidden = shown >= found.length;
    rest.hidden = known.missing() <= 0 || ask === undefined;
    rest.textContent = fetchOf(known.missing());
  }
  const fetch = async (): Promise<void> => {
    const came = await known.fetch();
    draw();
    if (!came) {
      said.textContent = 'The kernel did not answer: these are the newest entries.';
    }
  };
  /** Everything, where the kernel can be asked for it; else what is here. */
  const all = async (): Promise<Charge[]> => {
    if (known.missing() > 0 && ask !== undefined) {
      await fetch();
    }
    return known.rows().sort(ORDERS.oldest);
  };
  const node = html(
    'details',
    { open: '' },
    summary,
    narrow.node,
    table.node,
    html('p', { class: 'find' }, said, ' ', more, ' ', rest),
    files(known.name, all)
  );
  return {
    node,
    show: one => {
      known.take(one);
      summary.textContent = summaryOf(one);
      narrow.node.hidden = one.entries < 6;
      table.node.hidden = known.rows().length === 0;
      draw();
    }
  };
}
