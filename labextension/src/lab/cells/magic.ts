/** What can be said about a cell from its text alone: pure functions, without JupyterLab. */

const MAGIC = /^\s*%%dp(?=\s|$)/;
const OPTION = /(?<=\s)(?:[a-z][a-z_-]*(?==)|(?:sql|plan|release)(?=\s|$))/g;
// what leads to the word is matched forwards: looking behind, blanks without end would be read over and over
const VERB = /^(\s*%%dp\s+(?:sql\s+)?)(plan|release)(?=\s|$)/;
const SQL = /(?<=\s)sql(?=\s|$)/;

export interface Mark {
  from: number;
  to: number;
  kind: 'magic' | 'option';
}

/** Whether a cell is a `%%dp` cell: its first line that is not blank says so. */
export function isProtected(source: string): boolean {
  return MAGIC.test(source);
}

/** Whether a cell is a `%%dp sql` cell: its body is SQL, and no Python is written into it. */
export function isSql(source: string): boolean {
  return isProtected(source) && SQL.test(source.trimStart().split('\n', 1)[0]!);
}

/** Where the magic line begins and ends, and the words to colour in it. */
export function marks(source: string): { line: number; marks: Mark[] } | null {
  const found = MAGIC.exec(source);
  if (found === null) {
    return null;
  }
  const start = found[0].length - '%%dp'.length;
  const end = source.indexOf('\n', start) < 0 ? source.length : source.indexOf('\n', start);
  const line = source.slice(start, end);
  const listed: Mark[] = [{ from: start, to: start + 4, kind: 'magic' }];
  for (const option of line.matchAll(OPTION)) {
    listed.push({ from: start + option.index, to: start + option.index + option[0].length, kind: 'option' });
  }
  return { line: start, marks: listed };
}

/** The same cell as a plan: `%%dp epsilon=1` becomes `%%dp plan epsilon=1`. Null where it is no `%%dp` cell. */
export function asPlan(source: string): string | null {
  if (!isProtected(source)) {
    return null;
  }
  return source.replace(/^(\s*%%dp)([ \t]+sql(?=\s|$))?([ \t]+(?:plan|release)(?=\s|$))?/, '$1$2 plan');
}

/** Whether a cell becomes another by its magic line alone: a plan that is released, its body as it was. */
export function rewrites(source: string, next: string): boolean {
  const parted = (text: string): [string, string] => {
    const at = text.search(/%%dp/);
    const end = text.indexOf('\n', at);
    return end < 0 ? [text.slice(at), ''] : [text.slice(at, end), text.slice(end + 1).trimEnd()];
  };
  if (!isProtected(source) || !isProtected(next)) {
    return false;
  }
  const [[line, body], [wanted, same]] = [parted(source), parted(next)];
  return body === same && (VERB.exec(line)?.[2] === 'plan' || VERB.exec(wanted)?.[2] === 'release');
}

/** Whether a text is a ready question, a statement of its own: not a name to be put where the cursor stands. */
export const isStatement = (text: string): boolean => /^[\p{L}_][\p{L}\p{N}_]* = /u.test(text);

/** A cell with one more line: at the end of a `%%dp` cell, or in a new one that shows its plan. */
export function withLine(source: string | null, line: string): string {
  return source === null ? `%%dp plan epsilon=0.5\n${line}` : `${source.trimEnd()}\n${line}`;
}
