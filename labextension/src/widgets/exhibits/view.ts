/** The exhibit gallery: an index to search, one page for each published claim, next and previous by key. */
import { button, html } from '../parts/dom';
import { widget, type Link, type View } from '../parts/widget';
import { catalogue } from './catalogue';
import type { ExhibitFacts, ExhibitSet, Page } from './facts';
import { leverView, type LeverView } from './lever';
import { addressOf, beside, known, namedIn } from './model';
import { pageView } from './page';

const WAITS = 'The kernel computes the picture of this page; without a kernel it is not shown.';

/** The address of a page of its own, which names the open exhibit; in a notebook the address is the notebook's. */
interface Address {
  readonly write: (name: string) => void;
  /** Go where it says, now and whenever it changes. */
  readonly follow: (go: (name: string) => void) => void;
  readonly stop: () => void;
}

function address(alone: boolean): Address {
  let heard = (): void => undefined;
  return {
    write: name => {
      if (alone) {
        const to = name === '' ? `${location.pathname}${location.search}` : addressOf(name);
        history.replaceState(null, '', to);
      }
    },
    follow: go => {
      if (alone) {
        heard = () => go(namedIn(location.hash));
        heard();
        addEventListener('hashchange', heard);
      }
    },
    stop: () => removeEventListener('hashchange', heard)
  };
}

/** The buttons above a page, and where among all of them it is. */
interface Bar {
  readonly node: HTMLElement;
  readonly where: () => string;
  readonly show: (place: number, of: number) => void;
}

function turning(turn: (step: 1 | -1) => void, leave: () => void): Bar {
  const key = (name: string) => ({ 'aria-keyshortcuts': name });
  const back = button('‹ Previous', () => turn(-1), key('ArrowLeft'));
  const on = button('Next ›', () => turn(1), key('ArrowRight'));
  const where = html('span', { class: 'soft' });
  const node = html(
    'div',
    { class: 'buttons' },
    back,
    where,
    on,
    button('All exhibits', leave, key('Escape'))
  );
  return {
    node,
    where: () => where.textContent,
    show: (place, of) => {
      where.textContent = `${place + 1} of ${of}`;
      back.disabled = place === 0;
      on.disabled = place === of - 1;
    }
  };
}

/** Turn pages by key, but where the key belongs to a field; true where it was heard. */
function keyed(event: KeyboardEvent, turn: (step: 1 | -1) => void, leave: () => void): boolean {
  const field = event.target instanceof Element && event.target.matches('input, select, textarea, .scroll');
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) {
    return false;
  }
  if (event.key === 'Escape') {
    leave();
  } else if (!field && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
    turn(event.key === 'ArrowLeft' ? -1 : 1);
  } else {
    return false;
  }
  return true;
}

/** The open page, drawn once, and its lever when the settings are there. */
interface Stage {
  readonly body: HTMLElement;
  readonly heading: HTMLElement;
  /** Draw a page; undefined for none. */
  readonly show: (page: Page | undefined, facts: ExhibitFacts) => void;
  readonly stop: () => void;
}

function stage(
  first: Readonly<Record<string, number>>,
  moved: (at: Readonly<Record<string, number>>) => void
): Stage {
  const body = html('div', { class: 'exhibit' });
  const heading = html('h3', { tabindex: -1 });
  const stand = html('div');
  let at = first;
  let lever: LeverView | null = null;
  let drawn = '';
  const stop = (): void => lever?.stop();

  /** Set up the lever when its settings are there. */
  const lay = (page: Page, { levers, levered }: ExhibitFacts): void => {
    const settings = levers[page.name];
    if (settings === undefined) {
      stand.replaceChildren(html('p', { class: 'soft' }, levered.includes(page.name) ? WAITS : ''));
    } else if (settings !== null && lever === null) {
      lever = leverView(settings, at[page.name] ?? settings.at, place => {
        at = { ...at, [page.name]: place };
        moved(at);
      });
      stand.replaceChildren(lever.node);
    }
  };
  return {
    body,
    heading,
    stop,
    show: (page, facts) => {
      body.hidden = page === undefined;
      if (page !== undefined && drawn !== page.name) {
        heading.textContent = page.title;
        stop();
        lever = null;
        stand.replaceChildren();
        body.replaceChildren(...pageView(page, heading, stand));
      }
      drawn = page?.name ?? '';
      if (page !== undefined) {
        lay(page, facts);
      }
    }
  };
}

function exhibitsView(root: HTMLElement, link: Link<ExhibitFacts, ExhibitSet>): View {
  const { pages, themes } = link.facts();
  let open = known(pages, link.chosen().open ?? '');
  const place = address(root.closest('[data-dpnb]') !== null);
  const told = html('p', { class: 'hidden', 'aria-live': 'polite' });
  const problem = html('p', { class: 'warn', role: 'status' });
  const bar = turning(turn, leave);
  const { body, heading, show: draw, stop } = stage(link.chosen().at ?? {}, at => link.choose({ at }));
  const index = catalogue(pages, themes, go);
  root.append(bar.node, told, problem, index.node, body);

  function go(name: string): void {
    open = known(pages, name);
    link.choose({ open });
    show();
    told.textContent = open === '' ? 'All exhibits' : `${bar.where()}: ${heading.textContent}`;
    place.write(open);
  }
  function turn(step: 1 | -1): void {
    const next = beside(pages, open, step);
    if (next !== undefined) {
      const inside = body.contains(document.activeElement);
      go(next.name);
      if (inside || document.activeElement === document.body) {
        heading.focus();
      }
    }
  }
  function leave(): void {
    const last = open;
    go('');
    index.focus(last);
  }
  root.addEventListener('keydown', event => {
    if (open !== '' && keyed(event, turn, leave)) {
      event.preventDefault();
    }
  });

  function show(): void {
    const facts = link.facts();
    const at = pages.findIndex(page => page.name === open);
    const page = pages[at];
    problem.textContent = facts.problem;
    bar.node.hidden = page === undefined;
    index.node.hidden = page !== undefined;
    if (page !== undefined) {
      bar.show(at, pages.length);
    }
    draw(page, facts);
  }

  show();
  place.follow(name => {
    if (known(pages, name) !== '' && name !== open) {
      go(name);
      root.scrollIntoView();
    }
  });
  return {
    update: () => {
      const { open: other } = link.chosen();
      if (other !== undefined && known(pages, other) !== open) {
        open = known(pages, other);
      }
      show();
    },
    dispose: () => {
      stop();
      place.stop();
    }
  };
}

export default widget(exhibitsView);
