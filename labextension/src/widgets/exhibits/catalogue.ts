/** All exhibits in one table: what each claims and what is actual, to search and to filter by theme. */
import { button, html, unique } from '../parts/dom';
import { head, labelled, dataTable } from '../parts/layout';
import type { Page } from './facts';
import { ALL, countOf, fitting, lineOf, textOf } from './model';

interface Catalogue {
  readonly node: HTMLElement;
  readonly focus: (name: string) => void;
}

interface Line {
  readonly page: Page;
  readonly opens: HTMLElement;
  readonly text: string;
  readonly node: HTMLElement;
}

function line(page: Page, go: (name: string) => void): Line {
  const opens = button(page.title, () => go(page.name), { class: 'insert' });
  const [unit, claimed, actual] = lineOf(page.published);
  const node = html(
    'tr',
    {},
    html('th', { scope: 'row' }, opens),
    html('td', { class: 'wide' }, page.theme),
    html('td', { class: 'wide' }, unit),
    html('td', { class: 'num' }, claimed),
    html('td', { class: 'num' }, actual)
  );
  return { page, opens, text: textOf(page), node };
}

const COLUMNS = [
  'exhibit',
  ['theme', 'wide'],
  ['measured in', 'wide'],
  ['claimed', 'num'],
  ['actual', 'num']
] as const;

export function catalogue(
  pages: readonly Page[],
  themes: readonly string[],
  go: (name: string) => void
): Catalogue {
  const search = html('input', { type: 'search', id: unique('search'), autocomplete: 'off' });
  const theme = html(
    'select',
    { id: unique('theme') },
    ...[ALL, ...themes].map(name => html('option', { value: name }, name))
  );
  const count = html('p', { class: 'soft', role: 'status' });
  const lines = pages.map(page => line(page, go));
  const found = (): Line[] => fitting(lines, search.value, theme.value);
  const filter = (): void => {
    const seen = found();
    for (const one of lines) {
      one.node.hidden = !seen.includes(one);
    }
    count.textContent = countOf(seen.length, pages.length);
  };
  search.addEventListener('input', filter);
  theme.addEventListener('change', filter);
  search.addEventListener('keydown', event => {
    const [first] = found();
    if (event.key === 'Enter' && first !== undefined) {
      go(first.page.name);
    }
  });
  filter();
  return {
    node: html(
      'div',
      {},
      head('Exhibits', 'published, and not private or accurate as claimed; open one to see how it breaks'),
      html('div', { class: 'choices' }, labelled('search', search), labelled('theme', theme)),
      count,
      dataTable(COLUMNS, html('tbody', {}, ...lines.map(one => one.node)), 'index')
    ),
    focus: name => lines.find(one => one.page.name === name)?.opens.focus()
  };
}
