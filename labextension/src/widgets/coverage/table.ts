/** What is seen in the coverage lab, as sentences and as a table: the kernel's words and numbers. */
import { number } from '../../maths/digits';
import { html } from '../parts/dom';
import { headings } from '../parts/layout';
import type { CoverageFacts, Finding } from './facts';
import { sample } from './looks';

/** What is varied in a sweep, or paid. */
export function symbolOf(facts: CoverageFacts): string {
  const over = facts.sweep?.over ?? 'loss';
  return over === 'loss' ? (facts.setup.kind === 'rho' ? 'ρ' : 'ε') : over;
}

/** What was found at a value of a sweep, or of the single studies. */
export const findingsAt = ({ findings, sweep }: CoverageFacts, at: number): readonly Finding[] =>
  findings[sweep === null ? 0 : at] ?? [];

/** Where along a sweep the words and the table are, and whether anything is known there; empty for single studies. */
export function whereOf(facts: CoverageFacts, at: number): string {
  if (facts.sweep === null) {
    return '';
  }
  const place = `At ${symbolOf(facts)} ${number(facts.sweep.values[at] ?? 0)}`;
  return findingsAt(facts, at).some(one => one.said !== '')
    ? `${place}:`
    : `${place} nothing is simulated yet: go on, or move the cursor below.`;
}

/** What is seen, in words: one line for each method that is shown. */
export function sentences(facts: CoverageFacts, at: number): HTMLElement[] {
  return findingsAt(facts, at)
    .filter(one => one.said !== '')
    .map(({ name, mark, said }) => {
      const marked = html('span', { class: mark === '✕' ? 'bad' : 'mark' }, ` ${mark} `);
      return html('li', {}, sample(name), mark === '' ? ' ' : marked, said);
    });
}

/** The columns of the table. */
export function head({ columns }: CoverageFacts): HTMLElement {
  const kind = (name: string, i: number): string | null =>
    i > 0 && i < 4 ? 'num' : name === 'about' ? 'wide' : null;
  return headings(...columns.map((name, i) => [name, kind(name, i)] as const));
}

/** One row for each method that is shown. */
export function table(facts: CoverageFacts, at: number): HTMLElement[] {
  const about = facts.columns.at(-1) === 'about';
  return findingsAt(facts, at).map(({ name, cells }) =>
    html(
      'tr',
      {},
      html('th', { scope: 'row' }, sample(name), ` ${name}`),
      ...cells.map((words, i) => html('td', { class: i < 3 ? 'num' : about ? 'soft wide' : null }, words))
    )
  );
}
