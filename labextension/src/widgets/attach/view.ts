/** The attach card: unit, mode, columns with questions to take, made-up rows, and the budget as it stands. */
import { MANY, named, SHOWN } from '../panel/model';
import { bar } from '../parts/bar';
import { coded, html, set, unique } from '../parts/dom';
import { take, type Taken } from '../parts/insert';
import { dataTable } from '../parts/layout';
import { madeUpRows, scrolling } from '../parts/scroll_region';
import { finder } from '../parts/search';
import type { Column, Dataset } from '../parts/session_state';
import { widget, type Link, type View } from '../parts/widget';

interface AttachFacts {
  /** What the notebook calls the dataset. */
  readonly handle: string;
  readonly dataset: Dataset;
  readonly description: string;
  readonly notes: readonly string[];
  readonly columns: readonly Column[];
  /** How many columns are not listed. */
  readonly more: number;
  /** Names, and made-up rows under them. */
  readonly rows: readonly (readonly string[])[];
  readonly sources: readonly (readonly [string, string])[];
  readonly problem: string;
}

const SAID: Readonly<Record<Taken, string>> = {
  written: 'Written into the %%dp cell below. Run it to see what it would cost.',
  copied: 'Copied. Paste it into a cell that begins with %%dp plan epsilon=0.5',
  shown: 'Copy this line into a cell that begins with %%dp plan epsilon=0.5'
};

/** What a dataset is called where its questions were written, and what the notebook calls it now. */
interface Named {
  readonly was: string;
  readonly is: string;
}

/** Says so; it may have to ask. */
export type Called = () => Promise<Named>;

/** A line of a cell with the notebook's own name for the dataset. */
export function renamed(line: string, { was, is }: Named): string {
  const head = ` = ${was}`;
  const at = line.indexOf(head);
  const after = line[at + head.length];
  return at < 0 || (after !== '.' && after !== '[')
    ? line
    : `${line.slice(0, at)} = ${is}${line.slice(at + head.length)}`;
}

/** The questions of one column: a click or Enter takes one, and it is said what became of it. */
function questions(column: Column, called: Called): HTMLElement[] {
  const said = html('p', { class: 'soft', role: 'status' });
  const list = column.asks.map(one => {
    const button = html('button', { type: 'button', title: one.line }, one.words);
    button.addEventListener('click', event => {
      if (event.isTrusted) {
        void called().then(async now => {
          const line = renamed(one.line, now);
          const became = await take(button, line);
          said.replaceChildren(html('code', {}, line), ` – ${SAID[became]}`);
        });
      }
    });
    return button;
  });
  return [html('div', { class: 'buttons' }, html('span', { class: 'soft' }, 'Ask:'), ...list), said];
}

/** One column: a row, and under it what it can be asked. */
function rowsOf(column: Column, called: Called): HTMLElement[] {
  const id = unique('column');
  const name = html(
    'button',
    { type: 'button', class: 'insert', 'aria-expanded': 'false', 'aria-controls': id },
    column.name
  );
  const below = html(
    'tr',
    { id, hidden: '', class: 'below' },
    html(
      'td',
      { colspan: 3 },
      html('p', { class: 'soft' }, `Missing: ${column.missing}.`),
      ...questions(column, called)
    )
  );
  name.addEventListener('click', () => {
    below.hidden = !below.hidden;
    set(name, { 'aria-expanded': String(!below.hidden) });
  });
  return [
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, name),
      html('td', {}, ...coded(column.kind)),
      html('td', { class: 'soft' }, column.label === column.name ? '' : column.label)
    ),
    below
  ];
}

/** The columns, with a field to search many; `called` is what the notebook calls the dataset when a question is taken. */
export function columns(
  facts: AttachFacts,
  called: Called = () => Promise.resolve({ was: facts.handle, is: facts.handle })
): HTMLElement[] {
  const count = html('span', { class: 'soft' });
  const body = html('tbody');
  const show = (typed: string): void => {
    const listed = named(facts.columns, typed);
    body.replaceChildren(...listed.slice(0, SHOWN).flatMap(column => rowsOf(column, called)));
    const hidden = Math.max(listed.length - SHOWN, 0) + (typed === '' ? facts.more : 0);
    count.textContent =
      listed.length === 0
        ? `No column has “${typed}” in its name or meaning.`
        : hidden > 0
          ? `${Math.min(listed.length, SHOWN)} shown, ${hidden} more: type to find one.`
          : '';
  };
  const field = finder('find a column', () => show(field.value));
  show('');
  const search =
    facts.columns.length >= MANY
      ? html('p', { class: 'say find' }, field, ' ', count)
      : html(
          'p',
          { class: 'say' },
          html('span', { class: 'soft' }, 'Open a column to see what it can be asked.')
        );
  return [search, scrolling('columns', dataTable(['column', 'type and bounds', 'meaning'], body))];
}

function madeUp(facts: AttachFacts): HTMLElement {
  return html(
    'details',
    { open: facts.columns.length < MANY ? '' : null },
    html('summary', {}, 'Made-up rows'),
    html('p', { class: 'soft' }, 'They fit these declarations and say nothing about the data.'),
    madeUpRows(facts.rows)
  );
}

/** The budget: drawn again whenever the ledger has moved. */
export function budget(facts: AttachFacts): HTMLElement[] {
  const one = facts.dataset;
  return [
    html('p', { class: 'say' }, html('strong', {}, 'Budget: '), one.words),
    html('div', {}, bar(one)),
    ...(one.own === '' ? [] : [html('p', { class: 'soft' }, one.own)]),
    ...(facts.problem === '' ? [] : [html('p', { class: 'warn', role: 'status' }, facts.problem)])
  ];
}

/** Whether a record's facts are those of an attach card that this version draws. */
export function isAttachFacts(x: unknown): x is AttachFacts {
  const one = x as Partial<AttachFacts> | null | undefined;
  return (
    typeof one === 'object' &&
    one !== null &&
    typeof one.handle === 'string' &&
    [one.columns, one.rows, one.sources].every(Array.isArray) &&
    Number.isFinite(one.dataset?.cap)
  );
}

function attachView(root: HTMLElement, link: Link<AttachFacts, Record<string, never>>): View {
  const first = link.facts();
  const one = first.dataset;
  const living = html('div', {}, ...budget(first));
  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, one.title), html('code', {}, first.handle)),
      html('span', { class: 'badge' }, one.badge)
    ),
    html('p', { class: 'soft' }, one.sentence),
    ...first.notes.map(note => html('p', { class: 'warn' }, note)),
    ...(first.description === '' ? [] : [html('p', { class: 'say' }, first.description)]),
    html('p', { class: 'say' }, html('strong', {}, 'Privacy unit: '), `${one.unit}.`),
    living,
    ...columns(first),
    madeUp(first),
    ...first.sources.map(([what, text]) => html('p', { class: 'soft' }, `${what}: ${text}`))
  );
  return { update: () => living.replaceChildren(...budget(link.facts())) };
}

export default widget(attachView);
