/** The exhibit gallery: an index to search, one page for each published claim, next and previous by key. */
import { html, unique } from '../parts/dom';
import type { ExhibitFacts, ExhibitSet, Page } from './facts';
import { leverView, type LeverView } from './lever';
import { pageView } from './page';
import type { Link, View } from '../parts/widget';

const MARK = '#exhibit=';
const ALL = 'all themes';
const WAITS = 'The kernel computes the picture of this page; without a kernel it is not shown.';

export function exhibitsView(root: HTMLElement, link: Link<ExhibitFacts, ExhibitSet>): View {
  const { pages, themes } = link.facts();
  // on a page of its own the address names the exhibit; in a notebook the address is the notebook's
  const alone = root.closest('[data-dpnb]') !== null;
  let open = known(link.chosen().open ?? '');
  let at: Readonly<Record<string, number>> = link.chosen().at ?? {};
  let lever: LeverView | null = null;
  let drawn = '';

  const back = html('button', { type: 'button', 'aria-keyshortcuts': 'ArrowLeft' }, '‹ Previous');
  const on = html('button', { type: 'button', 'aria-keyshortcuts': 'ArrowRight' }, 'Next ›');
  const all = html('button', { type: 'button', 'aria-keyshortcuts': 'Escape' }, 'All exhibits');
  const where = html('span', { class: 'soft' });
  const bar = html('div', { class: 'buttons' }, back, where, on, all);
  const told = html('p', { class: 'hidden', 'aria-live': 'polite' });
  const problem = html('p', { class: 'warn', role: 'status' });
  const body = html('div', { class: 'exhibit' });
  const heading = html('h3', { tabindex: -1 });
  const stand = html('div');
  const index = indexView(pages, themes, go);
  root.append(bar, told, problem, index.node, body);

  function known(name: string): string {
    return pages.some(page => page.name === name) ? name : '';
  }

  function go(name: string): void {
    open = known(name);
    link.choose({ open });
    show();
    told.textContent = open === '' ? 'All exhibits' : `${where.textContent}: ${heading.textContent}`;
    if (alone) {
      history.replaceState(
        null,
        '',
        open === '' ? `${location.pathname}${location.search}` : `${MARK}${open}`
      );
    }
  }

  function turn(step: 1 | -1): void {
    const place = pages.findIndex(page => page.name === open);
    const next = pages[place + step];
    if (open !== '' && next !== undefined) {
      const inside = body.contains(document.activeElement);
      go(next.name);
      if (inside || document.activeElement === document.body) {
        heading.focus();
      }
    }
  }

  back.addEventListener('click', () => turn(-1));
  on.addEventListener('click', () => turn(1));
  all.addEventListener('click', () => {
    const last = open;
    go('');
    index.focus(last);
  });
  root.addEventListener('keydown', event => {
    const field = event.target instanceof Element && event.target.matches('input, select, textarea, .scroll');
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || open === '') {
      return;
    }
    if (event.key === 'Escape') {
      all.click();
    } else if (!field && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      turn(event.key === 'ArrowLeft' ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
  });
  const address = (): void => {
    const name = decodeURIComponent(location.hash.startsWith(MARK) ? location.hash.slice(MARK.length) : '');
    if (known(name) !== '' && name !== open) {
      go(name);
      root.scrollIntoView();
    }
  };

  function show(): void {
    const facts = link.facts();
    const place = pages.findIndex(page => page.name === open);
    const page = pages[place];
    problem.textContent = facts.problem;
    bar.hidden = page === undefined;
    body.hidden = page === undefined;
    index.node.hidden = page !== undefined;
    if (page === undefined) {
      drawn = '';
      return;
    }
    where.textContent = `${place + 1} of ${pages.length}`;
    back.disabled = place === 0;
    on.disabled = place === pages.length - 1;
    if (drawn !== page.name) {
      drawn = page.name;
      heading.textContent = page.title;
      lever?.stop();
      lever = null;
      stand.replaceChildren();
      body.replaceChildren(...pageView(page, heading, stand));
    }
    lay(facts, page);
  }

  /** Set up the lever when its settings are there. */
  function lay(facts: ExhibitFacts, page: Page): void {
    const facts_ = facts.levers[page.name];
    if (facts_ === undefined) {
      stand.replaceChildren(html('p', { class: 'soft' }, facts.levered.includes(page.name) ? WAITS : ''));
    } else if (facts_ !== null && lever === null) {
      lever = leverView(facts_, at[page.name] ?? facts_.at, place => {
        at = { ...at, [page.name]: place };
        link.choose({ at });
      });
      stand.replaceChildren(lever.node);
    }
  }

  show();
  if (alone) {
    address();
    addEventListener('hashchange', address);
  }
  return {
    update: () => {
      const { open: other } = link.chosen();
      if (other !== undefined && known(other) !== open) {
        open = known(other);
      }
      show();
    },
    dispose: () => {
      lever?.stop();
      removeEventListener('hashchange', address);
    }
  };
}

interface Index {
  readonly node: HTMLElement;
  readonly focus: (name: string) => void;
}

/** All exhibits: what each promises and what was found, to search and to filter by theme. */
function indexView(pages: readonly Page[], themes: readonly string[], go: (name: string) => void): Index {
  const [id, other] = [unique('search'), unique('theme')];
  const search = html('input', { type: 'search', id, autocomplete: 'off' });
  const theme = html(
    'select',
    { id: other },
    ...[ALL, ...themes].map(name => html('option', { value: name }, name))
  );
  const count = html('p', { class: 'soft', role: 'status' });
  const lines = pages.map(page => {
    const button = html('button', { type: 'button', class: 'insert' }, page.title);
    button.addEventListener('click', () => go(page.name));
    const { published } = page;
    const text = `${page.name} ${page.title} ${page.theme} ${page.claim} ${page.source} ${page.why}`;
    return {
      page,
      button,
      text: text.toLocaleLowerCase(),
      node: html(
        'tr',
        {},
        html('th', { scope: 'row' }, button),
        html('td', { class: 'wide' }, page.theme),
        html('td', { class: 'wide' }, published.unit),
        html('td', { class: 'num' }, published.words[0]),
        html('td', { class: 'num' }, `${published.words[1]} ✕`)
      )
    };
  });
  const fitting = (): typeof lines => {
    const words = search.value.toLocaleLowerCase().split(/\s+/);
    return lines.filter(
      line => words.every(word => line.text.includes(word)) && [ALL, line.page.theme].includes(theme.value)
    );
  };
  const filter = (): void => {
    const found = fitting();
    for (const line of lines) {
      line.node.hidden = !found.includes(line);
    }
    count.textContent =
      found.length === 0
        ? 'No exhibit has these words. Clear the search to see all.'
        : `${found.length} of ${pages.length}`;
  };
  search.addEventListener('input', filter);
  theme.addEventListener('change', filter);
  search.addEventListener('keydown', event => {
    const [first] = fitting();
    if (event.key === 'Enter' && first !== undefined) {
      go(first.page.name);
    }
  });
  filter();
  const names = ['exhibit', 'theme', 'measured in', 'promised', 'found'];
  return {
    node: html(
      'div',
      {},
      html(
        'div',
        { class: 'head' },
        html('h3', {}, 'Exhibits'),
        html('span', { class: 'soft' }, 'published, and not as claimed; open one to see it break')
      ),
      html(
        'div',
        { class: 'choices' },
        html('div', { class: 'control' }, html('label', { for: id }, 'search'), search),
        html('div', { class: 'control' }, html('label', { for: other }, 'theme'), theme)
      ),
      count,
      html(
        'table',
        { class: 'index' },
        html(
          'thead',
          {},
          html(
            'tr',
            {},
            ...names.map((name, i) =>
              html('th', { scope: 'col', class: i > 2 ? 'num' : i > 0 ? 'wide' : null }, name)
            )
          )
        ),
        html('tbody', {}, ...lines.map(line => line.node))
      )
    ),
    focus: name => lines.find(line => line.page.name === name)?.button.focus()
  };
}
