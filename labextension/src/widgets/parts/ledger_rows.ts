/** The rows of a ledger: found, sorted, narrowed and counted, and what is said of them. No DOM. */
import { matching } from './search';
import type { Charge, Dataset } from './session_state';
import type { Answer } from './widget';

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

/** How many rows are drawn at first. */
export const PAGE = 50;

export type Order = 'newest' | 'oldest' | 'dearest' | 'cheapest';

export const ORDERS: Readonly<Record<Order, (a: Charge, b: Charge) => number>> = {
  newest: (a, b) => b.entry - a.entry,
  oldest: (a, b) => a.entry - b.entry,
  dearest: (a, b) => (b.loss ?? -1) - (a.loss ?? -1) || b.entry - a.entry,
  cheapest: (a, b) => (a.loss ?? Infinity) - (b.loss ?? Infinity) || b.entry - a.entry
};

/** The entries that have every word that was typed, in an order. */
export function listed(rows: readonly Charge[], typed: string, order: Order, here: boolean): Charge[] {
  const ours = rows.filter(row => !here || row.here);
  return matching(
    ours,
    typed,
    row => `${row.questions.join(' ')} ${row.kind} ${row.note} ${row.paid} ${row.time}`
  ).sort(ORDERS[order]);
}

/** How a column is sorted, whose heading sorts by `first`, and by `second` when it is pressed again. */
export function sortOf(order: Order, first: Order, second: Order): 'descending' | 'ascending' | 'none' {
  return order === first ? 'descending' : order === second ? 'ascending' : 'none';
}

/** How many rows are seen, where that is not all of them. */
export function countOf(known: number, found: number, shown: number, narrowed: boolean): string {
  if (known === 0 || (found > 0 && shown === found && !narrowed)) {
    return '';
  }
  return found === 0 ? 'No entry matches.' : `${shown} of ${narrowed ? `${found} found` : found}`;
}

/** What is on the button that brings the entries that were not told. */
export function fetchOf(missing: number): string {
  return `Fetch ${missing} older ${missing === 1 ? 'entry' : 'entries'}`;
}

/** What a ledger is called when it is folded. */
export function summaryOf({ entries, ledger }: Pick<Dataset, 'entries' | 'ledger'>): string {
  if (entries > ledger.length) {
    return `Ledger: ${entries} entries`;
  }
  const charges = ledger.filter(row => row.kind === 'charge').length;
  return charges === 0
    ? 'Ledger: nothing was charged yet'
    : `Ledger: ${charges} ${charges === 1 ? 'charge' : 'charges'}`;
}

/** The question of an entry; of one that asked none, what it is. */
export function askedOf(row: Charge): string {
  return row.questions.join(', ') || [row.kind, row.note].filter(Boolean).join(': ');
}

/** What a kernel answered to the wish for every entry; null where it gave none. */
export function entriesOf(answer: Answer | null): Charge[] | null {
  return Array.isArray(answer?.rows) ? (answer.rows as Charge[]) : null;
}
