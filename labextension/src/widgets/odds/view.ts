/** Odds: what ε and δ do to a belief about one person: in a table, in people, and in two worlds. */
import { atMostPeople, atMostPercent, number, significant } from '../../maths/digits';
import { pmf, type Law } from '../../maths/laws';
import { posterior } from '../../maths/odds';
import { announcer, html, picture, set, svg } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { figures, handle, head, key, text } from '../parts/layout';
import { draggable } from '../parts/pointer';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';

export interface OddsFacts {
  readonly prior: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly people: number;
  /** With δ, a bound holds for evidence that chance alone would give this often. */
  readonly chance: number;
  /** The noise of a count at ε = 1, as the mechanism calibrates it; its scale falls as 1/ε. */
  readonly law: Law;
  readonly problem: string;
}

export interface OddsSet {
  epsilon: number;
  prior: number;
  delta: number;
}

const [W, H, BASE] = [640, 160, 128];
const REACH = 12;
const PRIORS = [0.01, 0.1, 0.25, 0.5, 0.75];
const EPSILONS = [0.1, 1, 3];
/** The least δ that can be set; at the end of the slider δ is 0. */
const LEAST = 1e-10;
const DELTAS = { low: LEAST, high: 0.01 };

/** More than these are no picture any more, and a saved state may name any number. */
const MOST_DOTS = 20_000;

/** The dots of an icon array, row by row, as one path: a line of no length with a cap is a dot. */
export function dots(from: number, to: number, columns: number, gap: number): string {
  let path = '';
  for (let i = Math.max(from, 0); i < Math.min(to, MOST_DOTS); i++) {
    path += `M${(i % columns) * gap + gap / 2} ${Math.floor(i / columns) * gap + gap / 2}h0`;
  }
  return path;
}

/** How many of `people` hold before and after, rounded so that the bound stays a bound. */
export function counts(prior: number, bound: number, people: number): { before: number; after: number } {
  const up = (share: number): number => Math.ceil(share * people - 1e-9);
  return { before: up(prior), after: Math.min(up(bound), people) };
}

export function oddsView(root: HTMLElement, link: Link<OddsFacts, OddsSet>): View {
  const facts = link.facts();
  const first = { epsilon: facts.epsilon, prior: facts.prior, delta: facts.delta };
  const held = dragState(link, first, () => show(), {
    epsilon: { low: 0.01, high: 10 },
    prior: { low: 0.01, high: 0.99 },
    delta: { low: 0, high: DELTAS.high }
  });
  const { now } = held;
  let output = 2;

  const columns = 50;
  const rows = Math.ceil(facts.people / columns);
  const gap = W / columns;
  const stroke = { 'stroke-width': gap * 0.66, fill: 'none' };
  const rest = svg('path', { ...stroke, 'stroke-linecap': 'round', stroke: 'var(--dp-fill)' });
  const before = svg('path', { ...stroke, 'stroke-linecap': 'round', stroke: 'var(--ink)' });
  const more = svg('path', { ...stroke, 'stroke-linecap': 'square', stroke: 'var(--dp-accent)' });
  const icons = picture(`${number(facts.people)} people like this one`, W, rows * gap, rest, before, more);

  const axis = svg('path', { class: 'axis', d: `M0 ${BASE}H${W}` });
  const labels = svg(
    'g',
    {},
    ...[-10, -5, 0, 5, 10].map(k =>
      text(W / 2 + (k / REACH) * (W / 2), H - 12, k === 0 ? 'the count' : k > 0 ? `+${k}` : `−${-k}`)
    )
  );
  const without = svg('path', { class: 'soft-line', 'stroke-dasharray': '5 3' });
  const withYou = svg('path', { class: 'pv-line' });
  const marks = { 'stroke-width': 5, fill: 'none' };
  const withoutMarks = svg('path', { ...marks, 'stroke-linecap': 'round', stroke: 'var(--soft)' });
  const withMarks = svg('path', { ...marks, 'stroke-linecap': 'square', stroke: 'var(--dp-accent)' });
  const marker = svg('path', { class: 'ink-line' });
  const thumb = handle('a released answer', (across, up) => pick(output + Math.sign(across + up)), 8);
  const worlds = picture(
    'the released count in two worlds',
    W,
    H,
    axis,
    labels,
    without,
    withYou,
    withoutMarks,
    withMarks,
    marker,
    thumb
  );

  const said = announcer();
  const permits = html('p', { class: 'soft' });
  const ratio = html('p', { class: 'soft' });
  const bound = figures('the most that the belief becomes');
  const body = html('tbody');
  const losses = lossSlider(() => held);
  const beliefs = slider({
    label: 'belief before, in percent',
    range: { low: 1, high: 99 },
    step: 1,
    value: 100 * now.prior,
    ends: ['1 %', '99 %'],
    input: value => held.move({ prior: value / 100 }),
    change: held.tell
  });
  const deltas = slider({
    label: 'δ',
    range: DELTAS,
    none: true,
    value: Math.max(now.delta, LEAST),
    ends: ['none: every answer is bounded', '1 in 100'],
    input: value => held.move({ delta: value <= LEAST ? 0 : value }),
    change: held.tell
  });

  const th = (name: string): HTMLElement => html('th', { scope: 'col', class: 'num' }, name);
  root.append(
    head('What ε means for one person', 'whatever else is known about them'),
    losses.node,
    beliefs.node,
    bound.node,
    said,
    permits,
    html(
      'div',
      { class: 'two' },
      html(
        'div',
        {},
        icons.node,
        key(
          ['k', 'before'],
          ['p', 'at most added by the release'],
          ['', 'beyond what any answer can support']
        )
      ),
      html(
        'table',
        {},
        html(
          'thead',
          {},
          html(
            'tr',
            {},
            html('th', { scope: 'col' }, 'before'),
            ...EPSILONS.map(e => th(`ε ${e}`)),
            th('ε as set')
          )
        ),
        body
      )
    ),
    html('h4', { class: 'say' }, 'The same answer, with you and without you'),
    worlds.node,
    key(['p', 'with you'], ['', 'without you (dashed); a mark for each possible answer']),
    ratio,
    html('details', {}, html('summary', {}, 'And with a δ?'), deltas.node)
  );

  const chance = (): number | null => (now.delta > 0 ? link.facts().chance : null);
  const after = (prior: number, epsilon: number): number => posterior(prior, epsilon, now.delta, chance());

  function show(): void {
    const { people } = link.facts();
    const most = after(now.prior, now.epsilon);
    const shown = counts(now.prior, most, people);
    set(before, { d: dots(0, shown.before, columns, gap) });
    set(more, { d: dots(shown.before, shown.after, columns, gap) });
    set(rest, { d: dots(shown.after, people, columns, gap) });
    const share = number(100 * now.prior);
    bound.say(`${share} % → ${atMostPercent(most)}`);
    const words =
      `An honest ${share} % guess becomes at most ${atMostPercent(most)}: of ${number(people)} people like this, ` +
      `${number(shown.before)} before and at most ${atMostPeople(most, people)} after.`;
    said.textContent = words;
    permits.textContent = permitted();
    icons.describe(words);
    losses.words(
      `ε ${significant(now.epsilon, 3)}: a${words.slice(1)}${now.delta > 0 ? ` ${permitted()}` : ''}`
    );
    beliefs.words(words);
    deltas.words(`δ ${significant(now.delta, 2)}: ${words} ${permitted()}`);
    losses.show(now.epsilon);
    beliefs.show(Math.round(100 * now.prior));
    deltas.show(Math.max(now.delta, LEAST));
    tabulate();
    drawWorlds();
  }

  /** What a δ takes away from the promise. */
  function permitted(): string {
    return now.delta === 0
      ? 'This holds for every answer.'
      : `With δ it holds for evidence that chance alone gives ${number(100 * link.facts().chance)} % of the time; ` +
          `about 1 answer in ${number(Math.floor(1 / now.delta))} may tell everything.`;
  }

  function tabulate(): void {
    const lines = [...new Set([...PRIORS, now.prior])].sort((a, b) => a - b);
    body.replaceChildren(
      ...lines.map(prior =>
        html(
          'tr',
          prior === now.prior ? { class: 'now' } : {},
          html('th', { scope: 'row' }, `${number(100 * prior)} %`),
          ...[...EPSILONS, now.epsilon].map(epsilon =>
            html('td', { class: 'num' }, atMostPercent(after(prior, epsilon)))
          )
        )
      )
    );
  }

  const place = (value: number): number => W / 2 + (value / REACH) * (W / 2);

  function drawWorlds(): void {
    const { law } = link.facts();
    const noise: Law = { kind: law.kind, scale: law.scale / now.epsilon };
    const top = pmf(noise, 0);
    const height = (k: number): number => BASE - (pmf(noise, k) / top) * (BASE - 14);
    const draw = (line: SVGElement, points: SVGElement, shift: number): void => {
      const at: string[] = [];
      for (let k = -REACH; k <= REACH; k++) {
        at.push(`${place(k).toFixed(1)} ${height(k - shift).toFixed(1)}`);
      }
      set(line, { d: `M${at.join('L')}` });
      set(points, { d: at.map(point => `M${point}h0`).join('') }); // answers are whole numbers
    };
    draw(without, withoutMarks, 0);
    draw(withYou, withMarks, 1);
    const likelier = pmf(noise, output - 1) / pmf(noise, output);
    const at = place(output);
    set(marker, { d: `M${at} 4V${BASE}` });
    set(thumb, {
      cx: at,
      cy: BASE,
      'aria-valuemin': -REACH,
      'aria-valuemax': REACH,
      'aria-valuenow': output,
      'aria-valuetext': `the true count without you ${output < 0 ? 'minus' : 'plus'} ${Math.abs(output)}`
    });
    const [side, odds] = likelier >= 1 ? ['with you', likelier] : ['without you', 1 / likelier];
    ratio.textContent =
      `Drag the line to a released answer: this one is ${significant(odds, 3)} times as likely ${side}. ` +
      `No answer is more than e^ε = ${significant(Math.exp(now.epsilon), 3)} times as likely.`;
    worlds.describe(ratio.textContent);
  }

  function pick(to: number): void {
    output = Math.min(Math.max(Math.round(to), -REACH), REACH);
    held.move({});
  }
  draggable(worlds.node, { move: at => pick(((at - W / 2) / (W / 2)) * REACH), end: held.tell });

  show();
  return { update: held.follow, dispose: held.stop };
}
