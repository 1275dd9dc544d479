/** The publications of an attack as a table: a name to choose each by, its share as a bar, and the number. */
import { significant } from '../../maths/digits';
import { html, set, svg, unique } from '../parts/dom';
import { percent, type Published, type Reading } from './model';

interface Row {
  readonly node: HTMLElement;
  readonly show: (reading: Reading, baseline: number, chosen: boolean) => void;
}

function row(one: Published, name: string, choose: () => void): Row {
  const box = html('input', { type: 'radio', name });
  box.addEventListener('change', choose);
  const length = svg('path', { class: 'pv' });
  const most = svg('path', { stroke: 'var(--ink)', 'stroke-width': 3 });
  const guess = svg('path', { class: 'ink-line', 'stroke-dasharray': '3 2' });
  const view = svg(
    'svg',
    { viewBox: '0 0 400 18', 'aria-hidden': 'true', preserveAspectRatio: 'none', height: 18 },
    svg('path', { class: 'room', d: 'M0 3H400V15H0Z' }),
    length,
    guess,
    most
  );
  const figure = html('strong');
  const spread = html('span', { class: 'soft wide' });
  return {
    node: html(
      'tr',
      {},
      html('th', { scope: 'row' }, html('label', {}, box, one.label)),
      html('td', {}, view),
      html('td', { class: 'num' }, figure, spread)
    ),
    show: ({ share, error, bound }, baseline, chosen) => {
      box.checked = chosen;
      set(guess, { d: `M${400 * baseline} 0V18` });
      set(length, { d: `M0 3H${400 * share}V15H0Z` });
      set(most, { d: bound === null ? 'M0 0' : `M${400 * bound} 0V18` });
      figure.textContent = percent(share);
      spread.textContent = ` ± ${significant(200 * error, 2)}`;
    }
  };
}

/** The table, and its rows in the order of the publications. */
export function publicationTable(
  publications: readonly Published[],
  choose: (key: string) => void
): { readonly node: HTMLElement; readonly rows: readonly Row[] } {
  const name = unique('published');
  const rows = publications.map(one => row(one, name, () => choose(one.key)));
  const node = html(
    'table',
    { class: 'bars' },
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        html('th', { scope: 'col' }, 'published'),
        html('th', { scope: 'col', 'aria-hidden': 'true' }),
        html('th', { scope: 'col', class: 'num' }, 'recovered')
      )
    ),
    html('tbody', {}, ...rows.map(one => one.node))
  );
  return { node, rows };
}
