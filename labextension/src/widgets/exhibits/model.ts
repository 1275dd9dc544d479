/** The exhibit gallery as it is searched and turned, and the lines of a lever: places, texts and addresses. No DOM. */
import { significant } from '../../maths/digits';
import { matching } from '../parts/search';
import type { Finding, Lever, Page, Reach } from './facts';

const MARK = '#exhibit=';

/** The theme of every exhibit. */
export const ALL = 'all themes';

/** The exhibit that an address names; empty where it names none. */
export function namedIn(hash: string): string {
  return decodeURIComponent(hash.startsWith(MARK) ? hash.slice(MARK.length) : '');
}

/** The address of an open exhibit, behind the page's own. */
export const addressOf = (name: string): string => `${MARK}${name}`;

/** The name of a page that there is; empty for the index. */
export function known(pages: readonly Page[], name: string): string {
  return pages.some(page => page.name === name) ? name : '';
}

/** The page before or after the open one; none at the ends, and none beside the index. */
export function beside(pages: readonly Page[], open: string, step: 1 | -1): Page | undefined {
  return open === '' ? undefined : pages[pages.findIndex(page => page.name === open) + step];
}

/** The words by which a page is found. */
export function textOf({ name, title, theme, claim, source, why }: Page): string {
  return `${name} ${title} ${theme} ${claim} ${source} ${why}`;
}

/** The entries of a theme that have every word that was typed. */
export function fitting<Entry extends { readonly page: Page; readonly text: string }>(
  entries: readonly Entry[],
  typed: string,
  theme: string
): Entry[] {
  const themed = entries.filter(({ page }) => [ALL, page.theme].includes(theme));
  return matching(themed, typed, one => one.text);
}

/** What is said of a search. */
export function countOf(found: number, of: number): string {
  return found === 0 ? 'No exhibit matches. Clear the search to see all.' : `${found} of ${of}`;
}

/** What a line of the index says of a finding: unit, claimed, actual. */
export function lineOf({ unit, words }: Finding): readonly [string, string, string] {
  return [unit, words[0], `✕ ${words[1]}`];
}

export const [W, H, LEFT, RIGHT, TOP, FLOOR] = [640, 210, 66, 12, 12, 176];
/** From this ratio of the largest to the smallest on, the axis is logarithmic; as in the still picture. */
const SPAN = 100;

export const said = (value: Reach): string => (value === 'inf' ? 'infinite' : significant(value, 4));

/** A lever as it is drawn: where its settings and its values lie. */
export interface Plot {
  readonly last: number;
  readonly x: (at: number) => number;
  readonly y: (value: Reach) => number;
  /** The values at the floor and at the top. */
  readonly ends: readonly [number, number];
  /** The setting below a place of the picture, between two of them too. */
  readonly under: (x: number) => number;
}

/** Where a lever's values lie between floor and ceiling; what is infinite lies on the edge of the picture. */
export function plotOf(lever: Lever): Plot {
  const known = [...lever.claimed, ...lever.actual, ...(lever.corrected ?? [])].filter(v => v !== 'inf');
  const top = Math.max(...known);
  const least = Math.min(...known.filter(v => v > 0));
  const room = FLOOR - TOP - 6;
  const steep = top > SPAN * least && Math.min(...known) > 0;
  const share = (value: number): number =>
    steep ? Math.log(value / least) / Math.log(top / least) : value / top;
  const last = lever.values.length - 1;
  return {
    last,
    x: at => LEFT + ((W - LEFT - RIGHT) * at) / last,
    y: value => (value === 'inf' ? TOP : FLOOR - room * share(value)),
    ends: [steep ? least : 0, top],
    under: x => (last * (x - LEFT)) / (W - LEFT - RIGHT)
  };
}

/** The nearest setting that there is. */
export const settingOf = ({ last }: Plot, at: number): number => Math.min(Math.max(Math.round(at), 0), last);

/** A line through values, one for each setting. */
export function lineThrough({ x, y }: Plot, values: readonly Reach[]): string {
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('');
}

const dot = (x: number, y: number): string => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
const cross = (x: number, y: number): string => `M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`;

/** The marks of what is actual: kept and broken differ by shape, a dot and a cross. */
export function marksOf({ x, y }: Plot, { actual, kept }: Lever): { dots: string; crosses: string } {
  const marks = (mark: typeof dot, which: boolean): string =>
    actual.map((value, i) => (kept[i] === which ? mark(x(i), y(value)) : '')).join('');
  return { dots: marks(dot, true), crosses: marks(cross, false) };
}

/** What is claimed, actual and corrected at a setting. */
export function verdictOf(lever: Lever, at: number): string {
  const corrected = lever.corrected === null ? '' : `, corrected ${said(lever.corrected[at]!)}`;
  const end = lever.kept[at]! ? '✓ kept' : '✕ broken';
  return `${lever.unit}: claimed ${said(lever.claimed[at]!)}, actual ${said(lever.actual[at]!)}${corrected}. ${end}.`;
}
