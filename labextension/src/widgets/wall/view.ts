/** The class wall: a class's noisy answers to one question on one axis, filling in while they come. */
import { announcer, html, sayCode, type Part } from '../parts/dom';
import { choice, dataTable, figures, head, type Figures } from '../parts/layout';
import { scrolling } from '../parts/scroll_region';
import { widget, type Link, type View } from '../parts/widget';
import { ordered, ORDERS, verdict, type Order, type WallFacts, type WallSet } from './model';
import { wallPicture } from './picture';

/** So often the folder is looked at. */
const PACE = 1000;
const NARROWEST = 220;

/** Asks the kernel to look at its folder again, while there is one to look and somebody who sees it. */
function watch(link: Link<WallFacts, WallSet>): () => void {
  const timer = window.setInterval(() => {
    if (link.facts().place !== '' && link.alive?.() === true && !document.hidden) {
      link.choose({ look: (link.chosen().look ?? 0) + 1 });
    }
  }, PACE);
  return () => clearInterval(timer);
}

/** The picture in its place, as wide as that. */
function picturePart(
  resized: () => void
): Part<[facts: WallFacts, order: Order]> & { readonly dispose: () => void } {
  const node = html('div');
  let width = 640;
  const seen = new ResizeObserver(() => {
    const now = Math.max(Math.round(node.clientWidth), NARROWEST);
    if (now !== width && node.clientWidth > 0) {
      width = now;
      resized();
    }
  });
  seen.observe(node);
  return {
    node,
    show: (facts, order) => {
      const empty = facts.answers.length === 0;
      node.replaceChildren(...(empty ? [] : [wallPicture(facts, ordered(facts.answers, order), width).node]));
    },
    dispose: () => seen.disconnect()
  };
}

/** What the marks are; said by shapes, not by colours. */
function legendOf(facts: WallFacts): string {
  const missed = facts.answers.some(one => one.held === false);
  return [
    '● an answer in its 95 % privacy interval',
    facts.truth === null ? '' : `┆ the truth, ${facts.truth.words}`,
    missed ? '✕ misses it' : '',
    facts.average === null ? '' : '◆ the average'
  ]
    .filter(words => words !== '')
    .join(' · ');
}

/** The same as a table, for whoever reads numbers. */
function table(facts: WallFacts, order: Order): HTMLTableElement {
  const known = facts.truth !== null;
  const cells = (words: readonly string[]): HTMLElement[] =>
    words.map(one => html('td', { class: 'num' }, one));
  const line = (who: string, words: readonly string[]): HTMLElement =>
    html('tr', {}, html('th', { scope: 'row' }, who), ...cells(words));
  const names = ['whose', 'answer', '95 % privacy interval', ...(known ? ['the truth'] : []), 'paid'];
  const rows = ordered(facts.answers, order).map(one =>
    line(one.who, [one.words, one.span, ...(known ? [verdict(one)] : []), one.paid])
  );
  const both = facts.average;
  if (both !== null) {
    const paid = facts.figures.at(-1)?.[0] ?? '';
    rows.push(line('averaged', [both.words, both.span, ...(known ? [verdict(both)] : []), paid]));
  }
  return dataTable(names, html('tbody', {}, ...rows));
}

function figuresOf(facts: WallFacts): Figures {
  const made = figures(...facts.figures.map(([, note]) => note));
  made.say(...facts.figures.map(([large]) => large));
  return made;
}

/** What there is to read: drawn anew when the answers are others. */
function numbersPart(): Part<[facts: WallFacts, order: Order]> {
  const place = html('div');
  const node = html('details', {}, html('summary', {}, 'The answers as a table'), place);
  return {
    node,
    show: (facts, order) => {
      node.hidden = facts.answers.length === 0;
      place.replaceChildren(scrolling('the answers', table(facts, order)));
    }
  };
}

function wallView(root: HTMLElement, link: Link<WallFacts, WallSet>): View {
  let order: Order = link.chosen().order ?? 'came';
  let drawn: WallFacts | null = null;
  const heading = head('Class wall', 'Nothing is spent by looking.', '');
  const [large, legend] = [html('div'), html('p', { class: 'soft' })];
  const [waiting, problem] = [
    html('p', { class: 'say', role: 'status' }),
    html('p', { class: 'warn', role: 'status' })
  ];
  const said = announcer();
  const told = html('ul', { class: 'told soft' });
  const plot = picturePart(() => show(true));
  const orders = choice('in order', ORDERS, order, now => {
    order = now;
    link.choose({ order });
    show(true);
  });
  const sorting = html('div', { class: 'say' }, orders.node);
  const numbers = numbersPart();
  root.append(...[heading, problem, waiting, large, sorting, plot.node, legend, said, told, numbers.node]);

  function show(anew: boolean): void {
    const facts = link.facts();
    if (!anew && facts === drawn) {
      return;
    }
    drawn = facts;
    const empty = facts.answers.length === 0;
    sayCode(heading.querySelector('code')!, facts.question || facts.place);
    waiting.textContent = facts.waiting;
    problem.textContent = facts.problem;
    large.replaceChildren(...(empty ? [] : [figuresOf(facts).node]));
    legend.textContent = empty ? '' : legendOf(facts);
    sorting.hidden = facts.answers.length < 2;
    orders.show(order);
    plot.show(facts, order);
    if (said.textContent !== facts.sentence) {
      said.textContent = facts.sentence;
    }
    told.replaceChildren(...facts.notes.map(note => html('li', {}, note)));
    numbers.show(facts, order);
  }

  show(true);
  const stop = watch(link);
  return {
    update: () => {
      const set = link.chosen().order ?? order;
      const moved = set !== order;
      order = set;
      show(moved);
    },
    dispose: () => {
      stop();
      plot.dispose();
    }
  };
}

export default widget(wallView);
