/** What the panel knows and says: columns found, a regression that is built, a paragraph for a paper, how old the picture is. No DOM. */
import { halfWidth } from '../../maths/digits';
import { matching } from '../parts/search';
import { advice, clock, type Column, type Dataset, type Link, type Snapshot } from '../parts/session_state';
import type { Answer } from '../parts/widget';

/** How many columns are drawn. */
export const SHOWN = 40;

/** From so many columns on there is a field to find one. */
export const MANY = 8;

/** The columns whose name, meaning or kind has every word that was typed. */
export function named(columns: readonly Column[], typed: string): Column[] {
  return matching(columns, typed, ({ name, label, kind }) => `${name} ${label} ${kind}`);
}

/** What is said below the columns that were found. */
export function foundOf(found: number): string {
  return found === 0 ? 'No column matches.' : found > SHOWN ? `${found - SHOWN} more: type to find one.` : '';
}

/** The regression that is built: y is explained, x explain it. */
export interface Formula {
  readonly y: string;
  readonly x: readonly string[];
}

export type Zone = 'y' | 'x';

/** Put a column on one side of a formula: it leaves the other side, and y holds one. */
export function placed(formula: Formula, zone: Zone, column: string): Formula {
  const x = formula.x.filter(one => one !== column);
  if (zone === 'y') {
    return { y: column, x };
  }
  return { y: formula.y === column ? '' : formula.y, x: [...x, column] };
}

/** Take a column off a formula. */
export function without(formula: Formula, column: string): Formula {
  return { y: formula.y === column ? '' : formula.y, x: formula.x.filter(one => one !== column) };
}

/** The columns on one side. */
export function standing({ y, x }: Formula, zone: Zone): readonly string[] {
  return zone === 'x' ? x : y === '' ? [] : [y];
}

/** How one side asks for a column. */
export function prompt(zone: Zone, has: readonly string[]): string {
  return has.length === 0 ? 'drop or choose …' : zone === 'y' ? 'another …' : 'and …';
}

/** The columns that a regression can use. */
export function usable(one: Pick<Dataset, 'columns'> | null): Column[] {
  return one?.columns.filter(column => column.numeric) ?? [];
}

/** The column that was dropped, if it is one of this dataset that a regression can use. */
export function dropped(data: string, one: Pick<Dataset, 'name' | 'columns'> | null): string | null {
  try {
    const [dataset, column] = JSON.parse(data) as [unknown, unknown];
    const known = usable(one).some(other => other.name === column);
    return dataset === one?.name && known ? String(column) : null;
  } catch {
    return null; // something else was dropped
  }
}

/** What the kernel is asked; null while a side is empty. */
export function questionOf(
  dataset: string | undefined,
  { y, x }: Formula,
  loss: string
): Readonly<Record<string, unknown>> | null {
  return dataset === undefined || y === '' || x.length === 0
    ? null
    : { ask: 'model', dataset, y, x: [...x], loss: loss.trim() };
}

/** A text of an answer; empty where there is none. */
const word = (answer: Answer | null, name: string): string => {
  const found = answer?.[name];
  return typeof found === 'string' ? found : '';
};

interface Coefficient {
  readonly name: string;
  /** Half the length of its 95 % interval. */
  readonly width: number | null;
}

export interface Written {
  /** What is expected of each coefficient before the moments are bought, for how many people, and what to know before buying. */
  readonly coefficients: readonly Coefficient[];
  readonly given: string;
  readonly warning: string;
  readonly cell: string;
  readonly cost: string;
  readonly words: string;
  readonly free: boolean;
  readonly problem: string;
}

/** What the kernel says of a formula; silence is said too. */
export function writtenOf(answer: Answer | null): Written {
  const silent =
    answer === null ? 'The kernel did not answer. It may be busy: change something to ask again.' : '';
  return {
    cell: word(answer, 'cell'),
    cost: word(answer, 'cost'),
    words: word(answer, 'words'),
    free: answer?.free === true,
    problem: silent || word(answer, 'problem'),
    coefficients: coefficientsOf(answer),
    given: word(answer, 'given'),
    warning: word(answer, 'warning')
  };
}

/** The ± that each coefficient would have; null where nothing would bound it. */
function coefficientsOf(answer: Answer | null): Coefficient[] {
  const told = answer?.coefficients;
  return !Array.isArray(told)
    ? []
    : (told as Readonly<Record<string, unknown>>[]).flatMap(({ name, width }) =>
        typeof name === 'string' ? [{ name, width: typeof width === 'number' ? width : null }] : []
      );
}

/** A ± as the table of coefficients says it. */
export const widthWords = ({ width }: Coefficient): string =>
  width === null ? 'unbounded' : `± ${halfWidth(width)}`;

/** What a cell costs, and what the kernel adds. */
export function costOf({ cost, words }: Pick<Written, 'cost' | 'words'>): string {
  return [cost === '' ? '' : `Cost: ${cost}.`, words].filter(Boolean).join(' ');
}

export interface Methods {
  readonly text: string;
  readonly problem: string;
}

/** What a kernel answered to the wish for a paragraph; one that did not answer may be busy. */
export function methodsOf(answer: Answer | null): Methods {
  const text = word(answer, 'text');
  return {
    text,
    problem: text === '' ? word(answer, 'problem') || 'The kernel did not answer. Try again.' : ''
  };
}

/** What is said above the datasets; a picture that no kernel keeps in step says how old it is. */
export function notice(link: Link, state: Snapshot | null): string {
  const stood = state === null ? '' : `This was the state at ${clock(state.at)}.`;
  return [advice(link, state), link === 'gone' || state?.curator === 'gone' ? stood : '']
    .filter(Boolean)
    .join(' ');
}
