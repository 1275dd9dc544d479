/** Odds: what ε does to a belief about one person, in people, in two worlds, and in any test of membership. */
import { atMostPeople, atMostPercent, number, significant } from '../maths/digits';
import { pmf, type Law } from '../maths/laws';
import { posterior } from '../maths/odds';
import { announcer, eachFrame, html, picture, set, svg } from './parts/dom';
import { draggable } from './parts/pointer';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface OddsFacts {
  readonly prior: number;
  readonly epsilon: number;
  readonly people: number;
  /** The noise of a count at ε = 1, as the mechanism calibrates it; its scale falls as 1/ε. */
  readonly law: Law;
  readonly problem: string;
}

export interface OddsSet {
  epsilon: number;
  prior: number;
}

const [W, H, BASE] = [640, 170, 128];
const REACH = 12;

/** The dots of an icon array, row by row, as one path: a line of no length with a round cap is a dot. */
export function dots(from: number, to: number, columns: number, gap: number): string {
  let path = '';
  for (let i = from; i < to; i++) {
    path += `M${(i % columns) * gap + gap / 2} ${Math.floor(i / columns) * gap + gap / 2}h0`;
  }
  return path;
}

/** How many of `people` hold before and after, rounded so that the bound stays a bound. */
export function counts(prior: number, epsilon: number, people: number): { before: number; after: number } {
  const up = (share: number): number => Math.ceil(share * people - 1e-9);
  return { before: up(prior), after: Math.min(up(posterior(prior, epsilon)), people) };
}

function draw(root: HTMLElement, link: Link<OddsFacts, OddsSet>): View {
  const facts = link.facts();
  let epsilon = link.chosen().epsilon ?? facts.epsilon;
  let prior = link.chosen().prior ?? facts.prior;
  let output = 2;

  const columns = 50;
  const rows = Math.ceil(facts.people / columns);
  const gap = W / columns;
  const stroke = { 'stroke-linecap': 'round', 'stroke-width': gap * 0.66, fill: 'none' };
  const rest = svg('path', { ...stroke, stroke: 'var(--dp-fill)' });
  const held = svg('path', { ...stroke, stroke: 'var(--ink)' });
  const more = svg('path', { ...stroke, stroke: 'var(--dp-accent)' });
  const icons = picture(`${number(facts.people)} people like this one`, W, rows * gap, rest, held, more);

  const without = svg('path', { class: 'soft-line' });
  const withYou = svg('path', { class: 'pv-line' });
  const marker = svg('path', { class: 'ink-line' });
  const handle = svg('circle', {
    class: 'handle',
    r: 8,
    tabindex: 0,
    role: 'slider',
    'aria-label': 'a released answer'
  });
  const axis = svg('path', { class: 'axis', d: `M0 ${BASE}H${W}` });
  const labels = svg('g');
  const worlds = picture(
    'the released count in two worlds',
    W,
    H,
    axis,
    labels,
    without,
    withYou,
    marker,
    handle
  );

  const said = announcer();
  const ratio = html('p', { class: 'soft' });
  const figure = html('strong');
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ epsilon, prior });
  const losses = slider({
    label: 'ε',
    range: { low: 0.01, high: 10 },
    value: epsilon,
    ends: ['more private', 'more accurate'],
    input: value => {
      epsilon = value;
      frame.ask();
    },
    change: tell
  });
  const beliefs = slider({
    label: 'belief before, in percent',
    range: { low: 1, high: 99 },
    step: 1,
    value: 100 * prior,
    ends: ['1 %', '99 %'],
    input: value => {
      prior = value / 100;
      frame.ask();
    },
    change: tell
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, 'What ε means for one person'),
      html('span', { class: 'soft' }, 'holds for every answer, and whatever else is known')
    ),
    losses.node,
    beliefs.node,
    html(
      'div',
      { class: 'figures' },
      html('div', {}, figure, html('span', { class: 'soft' }, 'the most that the belief becomes'))
    ),
    said,
    icons.node,
    html(
      'p',
      { class: 'key' },
      html('span', { class: 'k' }, html('i'), 'before'),
      html('span', { class: 'p' }, html('i'), 'at most added by the release'),
      html('span', {}, html('i'), 'beyond what any answer can support')
    ),
    html('h4', { class: 'say' }, 'The same answer, with you and without you'),
    worlds.node,
    ratio
  );

  const place = (value: number): number => W / 2 + (value / REACH) * (W / 2);

  function show(): void {
    const { law, people } = link.facts();
    const { before, after } = counts(prior, epsilon, people);
    set(held, { d: dots(0, before, columns, gap) });
    set(more, { d: dots(before, after, columns, gap) });
    set(rest, { d: dots(after, people, columns, gap) });
    const bound = posterior(prior, epsilon);
    const share = number(100 * prior);
    figure.textContent = `${share} % → ${atMostPercent(bound)}`;
    const words =
      `An honest ${share} % guess becomes at most ${atMostPercent(bound)}: of ${number(people)} people like this, ` +
      `${number(before)} before and at most ${atMostPeople(bound, people)} after.`;
    said.textContent = words;
    icons.describe(words);
    losses.words(`ε ${significant(epsilon, 3)}: ${words}`);
    beliefs.words(words);
    losses.show(epsilon);
    beliefs.show(Math.round(100 * prior));
    drawWorlds(law);
  }

  function drawWorlds(law: Law): void {
    const noise: Law = { kind: law.kind, scale: law.scale / epsilon };
    const top = pmf(noise, 0);
    const height = (k: number): number => BASE - (pmf(noise, k) / top) * (BASE - 14);
    let [a, b] = ['', ''];
    for (let k = -REACH; k <= REACH; k++) {
      const join = k === -REACH ? 'M' : 'L';
      a += `${join}${place(k).toFixed(1)} ${height(k).toFixed(1)}`;
      b += `${join}${place(k).toFixed(1)} ${height(k - 1).toFixed(1)}`;
    }
    set(without, { d: a });
    set(withYou, { d: b });
    const likelier = pmf(noise, output - 1) / pmf(noise, output);
    const at = place(output);
    set(marker, { d: `M${at} 4V${BASE}` });
    set(handle, {
      cx: at,
      cy: BASE,
      'aria-valuemin': -REACH,
      'aria-valuemax': REACH,
      'aria-valuenow': output,
      'aria-valuetext': `the true count without you ${output < 0 ? 'minus' : 'plus'} ${Math.abs(output)}`
    });
    labels.replaceChildren(
      ...[-10, -5, 0, 5, 10].map(k =>
        svg(
          'text',
          { x: place(k), y: H - 20, 'text-anchor': 'middle' },
          k === 0 ? 'the count' : k > 0 ? `+${k}` : `−${-k}`
        )
      )
    );
    const [more, odds] = likelier >= 1 ? ['with you', likelier] : ['without you', 1 / likelier];
    ratio.textContent =
      `Drag the line to a released answer: this one is ${significant(odds, 3)} times as likely ${more}. ` +
      `No answer is more than e^ε = ${significant(Math.exp(epsilon), 3)} times as likely.`;
    worlds.describe(ratio.textContent);
  }

  const move = (to: number): void => {
    output = Math.min(Math.max(Math.round(to), -REACH), REACH);
    frame.ask();
  };
  draggable(worlds.node, { move: at => move(((at - W / 2) / (W / 2)) * REACH), end: () => undefined });
  handle.addEventListener('keydown', event => {
    const way: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    const found = way[event.key];
    if (found !== undefined) {
      event.preventDefault();
      move(output + found);
    }
  });

  show();
  return {
    update: () => {
      epsilon = link.chosen().epsilon ?? epsilon;
      prior = link.chosen().prior ?? prior;
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
