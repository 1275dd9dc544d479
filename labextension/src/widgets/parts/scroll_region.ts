/** A table that may be wider than its place. Where it is cut it says so, and the keyboard reaches and moves it; else it is a table. */
import { html, set } from './dom';
import { dataTable } from './layout';

/** Put a table into a place that it is moved in: `name` tells what it shows. */
export function scrolling(name: string, table: HTMLTableElement): HTMLElement {
  const region = html('div', { class: 'scroll' }, table);
  const hint = html('p', { class: 'soft', hidden: '' }, '→ there are more columns: scroll sideways');
  const watch = new ResizeObserver(() => {
    const cut = region.scrollWidth > region.clientWidth + 1;
    if (cut !== hint.hidden) {
      return; // as it was
    }
    hint.hidden = !cut;
    set(
      region,
      cut
        ? { tabindex: 0, role: 'region', 'aria-label': name }
        : { tabindex: null, role: null, 'aria-label': null }
    );
  });
  watch.observe(region);
  watch.observe(table);
  return html('div', {}, region, hint);
}

/** Made-up rows, the first of them the names of their columns. */
export function madeUpRows(
  [names = [], ...rows]: readonly (readonly string[])[],
  kind?: string
): HTMLElement {
  const body = rows.map(row => html('tr', {}, ...row.map(cell => html('td', {}, cell))));
  return scrolling('made-up rows', dataTable(names, html('tbody', {}, ...body), kind));
}
