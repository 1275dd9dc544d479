/** What is seen in the coverage lab, as sentences and as a table: the same numbers as in its drawings. */
import { besidePrint, missed, printBand, verdict, wilson } from '../../maths/coverage';
import { number, significant } from '../../maths/digits';
import { html } from '../parts/dom';
import type { CoverageFacts } from './facts';
import { percent, sample } from './looks';

/** What is varied in a sweep, or paid. */
export function symbolOf(facts: CoverageFacts): string {
  const over = facts.sweep?.over ?? 'loss';
  return over === 'loss' ? (facts.setup.kind === 'rho' ? 'ρ' : 'ε') : over;
}

/** How many studies of a method there are on the screen, and how many of their intervals held. */
export function countsOf(
  facts: CoverageFacts,
  name: string,
  at: number,
  now: number
): { studies: number; held: number; width: number | null; reason: string } | null {
  if (facts.sweep !== null) {
    const line = facts.sweep.rows.find(one => one.name === name);
    const studies = line?.studies[at] ?? 0;
    return line === undefined || studies === 0
      ? null
      : { studies, held: line.held[at] ?? 0, width: line.width[at] ?? null, reason: '' };
  }
  const row = facts.run?.rows.find(one => one.name === name);
  if (row === undefined || now === 0) {
    return null;
  }
  // while a block is played, the numbers are those of its part that is on the screen
  const point = facts.run?.methods[name]?.trail.filter(one => one[0] <= now).at(-1);
  return point !== undefined && now < row.studies ? { ...row, studies: point[1], held: point[2] } : row;
}

/** Where along a sweep the words and the table are, and whether anything is known there; empty for single studies. */
export function whereOf(facts: CoverageFacts, at: number): string {
  if (facts.sweep === null) {
    return '';
  }
  const place = `At ${symbolOf(facts)} ${number(facts.sweep.values[at] ?? 0)}`;
  const some = facts.shown.some(name => countsOf(facts, name, at, 1) !== null);
  return some ? `${place}:` : `${place} nothing is simulated yet: go on, or move the cursor below.`;
}

const MARKS = { 'too few': '✕', 'as promised': '✓', more: '▲' } as const;

/** What is seen, in words: one line for each method that is shown. */
export function sentences(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  return facts.shown.flatMap(name => {
    const found = countsOf(facts, name, at, now);
    if (found === null) {
      return [];
    }
    if (found.studies === 0) {
      return [html('li', {}, sample(name), ` ${name}: none. ${found.reason}`)];
    }
    const mark = MARKS[verdict(found.held, found.studies, facts.setup.level)];
    const words = missed(name, found.held, found.studies, facts.setup.level);
    return [
      html('li', {}, sample(name), html('span', { class: mark === '✕' ? 'bad' : 'mark' }, ` ${mark} `), words)
    ];
  });
}

/** The columns of the table: charges and print only where something is resampled. */
export function head(facts: CoverageFacts): HTMLElement {
  const more = charged(facts);
  const names = ['interval', 'coverage', '95 % band', 'mean width', ...(more.length > 0 ? more : ['about'])];
  return html(
    'tr',
    {},
    ...names.map((name, i) =>
      html(
        'th',
        { scope: 'col', class: i > 0 && i < 4 ? 'num' : i === 4 && more.length === 0 ? 'wide' : null },
        name
      )
    )
  );
}

function charged(facts: CoverageFacts): string[] {
  const some = facts.methods.some(one => one.resampled && facts.shown.includes(one.name));
  const print = facts.compared !== '';
  return [
    ...(print ? ['in print (its band)'] : []),
    ...(some && facts.sweep === null ? ['charged in print', 'true charge'] : [])
  ];
}

/** A mean width: three digits, or a whole number. */
const widthOf = (width: number): string => (width < 999.5 ? significant(width, 3) : number(width, 0));

const inPrint = (share: number | null): string => {
  if (share === null) {
    return '';
  }
  const [low, high] = printBand(share);
  return `${percent(share)} (${number(100 * low, 1)} to ${number(100 * high, 1)})`;
};

/** What lies below the published table: how far each coverage is from the one in print, and whose rows these are. */
export function beside(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  const said = facts.shown.flatMap(name => {
    const printed = facts.methods.find(one => one.name === name)?.printed ?? null;
    const found = countsOf(facts, name, at, now);
    return printed === null || found === null || found.studies === 0
      ? []
      : [besidePrint(name, found.held, found.studies, printed)];
  });
  return [...said, facts.compared].map(words => html('li', {}, words));
}

/** One row for each method that is shown: the same numbers as in the drawings. */
export function table(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  const more = charged(facts);
  return facts.shown.map(name => {
    const found = countsOf(facts, name, at, now);
    const method = facts.methods.find(one => one.name === name);
    const band = found === null ? null : wilson(found.held, found.studies);
    const cells =
      found === null || band === null
        ? ['–', '–', '–']
        : [
            percent(found.held / found.studies),
            `${number(100 * band[0], 1)} to ${number(100 * band[1], 1)} %`,
            found.width === null ? '–' : widthOf(found.width)
          ];
    return html(
      'tr',
      {},
      html('th', { scope: 'row' }, sample(name), ` ${name}`),
      ...cells.map(words => html('td', { class: 'num' }, words)),
      ...(facts.compared === '' ? [] : [html('td', {}, inPrint(method?.printed ?? null))]),
      ...(more.includes('true charge')
        ? [html('td', {}, method?.published ?? ''), html('td', {}, method?.true ?? '')]
        : []),
      more.length > 0 ? null : html('td', { class: 'soft wide' }, method?.words ?? '')
    );
  });
}
