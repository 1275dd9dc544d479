/** The ledger as text with commas: no text of a notebook's becomes a formula where it is opened. */
import type { Charge } from './session_state';

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
