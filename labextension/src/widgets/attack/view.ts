/** The attack bench: choose an attack, drag ε, and read what it recovers beside guessing and beside what ε lets through. */
import { atMostPeople, atMostPercent, number, significant } from '../../maths/digits';
import { place, ticks, valueAt, type Range } from '../../maths/scale';
import { repeat } from './repeat';
import { announcer, eachFrame, html, picture, set, svg, unique } from '../parts/dom';
import { lossWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { slider, type Slider } from '../parts/slider';
import { integerField } from '../parts/integer_field';
import type { Link, View } from '../parts/widget';

interface Published {
  readonly key: string;
  readonly label: string;
  readonly note: string;
  /** One share, or one for each computed ε. */
  readonly recovered: readonly number[];
  readonly error: readonly number[];
  /** On an even logarithmic grid from the first ε to the last; null where nothing is promised. */
  readonly bound: readonly number[] | null;
  readonly falls: number | null;
}

interface Attack {
  readonly goal: string;
  readonly guess: string;
  readonly loss: string;
  readonly epsilons: readonly number[];
  readonly baseline: number;
  /** Repetitions, each on new people. */
  readonly done: number;
  readonly publications: readonly Published[];
}

export interface AttackFacts {
  readonly attacks: readonly string[];
  readonly attack: string;
  readonly epsilon: number;
  readonly rng: number;
  readonly reps: number;
  readonly pulled: number;
  readonly run: Readonly<Record<string, Attack>>;
  readonly code: string;
  readonly problem: string;
}

export interface AttackSet {
  attack: string;
  published: string;
  epsilon: number;
  rng: number;
  reps: number;
  pull: number;
}

/** What this view sets by itself. */
type State = Pick<AttackSet, 'attack' | 'published' | 'epsilon'>;

const [W, H, LEFT, RIGHT, TOP, FLOOR] = [640, 220, 44, 112, 10, 188];
const PRIVATE = 'dp';

const percent = (share: number): string =>
  `${share > 0 && share < 0.0995 ? significant(100 * share, 2) : Math.round(100 * share)} %`;

const thousand = (share: number): string => number(Math.round(1000 * share));

/** Between two points, the straight line over ln ε. */
function between(at: number, xs: readonly number[], ys: readonly number[]): number {
  const last = xs.length - 1;
  const right = xs.findIndex(x => x >= at);
  if (ys.length === 1 || right === 0) {
    return ys[0]!;
  }
  if (right < 0) {
    return ys[last]!;
  }
  const share = (at - xs[right - 1]!) / (xs[right]! - xs[right - 1]!);
  return ys[right - 1]! + share * (ys[right]! - ys[right - 1]!);
}

export function attackView(root: HTMLElement, link: Link<AttackFacts, AttackSet>): View {
  const first = link.facts();
  const heard = (): Partial<State> => {
    const { attack, published, epsilon } = link.chosen();
    return {
      ...(attack !== undefined && first.attacks.includes(attack) ? { attack } : {}),
      ...(published === undefined ? {} : { published }),
      ...(typeof epsilon === 'number' && epsilon > 0 ? { epsilon } : {})
    };
  };
  const state: State = {
    attack: first.attack,
    published: PRIVATE,
    epsilon: first.epsilon,
    ...heard()
  };
  const tell = (): void => link.choose({ ...state });
  const frame = eachFrame(() => show());
  const id = unique('attack');
  const attacks = html('select', { id }, ...first.attacks.map(name => html('option', { value: name }, name)));
  attacks.addEventListener('change', () => {
    state.attack = attacks.value;
    state.published = PRIVATE;
    again.stop();
    tell();
    show();
  });
  const again = repeat(pull => link.choose({ pull }));
  const seed = integerField('seed', [0, 2 ** 53], rng => {
    again.stop();
    link.choose({ rng });
  });
  const times = integerField('repetitions', [1, 200], reps => link.choose({ reps }));
  const problem = html('p', { class: 'warn', role: 'status' });
  const code = html('textarea', { readonly: '', rows: 3, 'aria-label': 'the code that reproduces this' });
  const copy = html('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', () => {
    code.select();
    void navigator.clipboard.writeText(code.value).catch(() => undefined);
  });
  const goal = html('p', { class: 'say' });
  const waiting = html('p', { class: 'warn', role: 'status' });
  const rows = html('tbody');
  const table = html(
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
    rows
  );
  const body = html('div');
  const said = announcer();
  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, 'Attack bench'),
      html('span', { class: 'soft' }, 'simulated people; the attack sees answers alone')
    ),
    html(
      'div',
      { class: 'choices' },
      html('div', { class: 'control' }, html('label', { for: id }, 'attack'), ' ', attacks),
      seed.node,
      times.node
    ),
    goal,
    waiting,
    problem,
    body,
    again.node,
    html(
      'details',
      {},
      html('summary', {}, 'The code that reproduces this, to the bit'),
      code,
      html('div', { class: 'buttons' }, copy)
    )
  );

  let laid = '';
  let update = (): void => undefined;

  function show(): void {
    const facts = link.facts();
    const attack = facts.run[state.attack];
    attacks.value = state.attack;
    seed.show(facts.rng);
    times.show(facts.reps);
    problem.textContent = facts.problem;
    if (code.value !== facts.code) {
      code.value = facts.code;
    }
    again.show(attack === undefined ? null : { ...facts, done: attack.done });
    waiting.textContent =
      attack === undefined ? 'The kernel computes this attack; without a kernel it cannot be shown.' : '';
    waiting.hidden = attack !== undefined;
    body.hidden = attack === undefined;
    goal.textContent = attack?.goal ?? '';
    if (attack !== undefined && laid !== state.attack) {
      laid = state.attack;
      update = lay(state.attack, attack);
    }
    if (attack !== undefined) {
      update();
    }
  }

  /** Build what belongs to one attack; what comes back draws what is known of it for the ε and the publication that are set. */
  function lay(name: string, plan: Attack): () => void {
    const range: Range = { low: plan.epsilons[0]!, high: plan.epsilons.at(-1)! };
    const places = plan.epsilons.map(epsilon => place(range, epsilon));
    state.epsilon = Math.min(Math.max(state.epsilon, range.low), range.high);
    const share = (one: Published): number => between(place(range, state.epsilon), places, one.recovered);
    const error = (one: Published): number => between(place(range, state.epsilon), places, one.error);
    const bound = (one: Published): number | null =>
      one.bound === null
        ? null
        : between(
            place(range, state.epsilon),
            one.bound.map((_, i) => i / (one.bound!.length - 1)),
            one.bound
          );
    const lines = plan.publications.map(one => bar(one));
    rows.replaceChildren(...lines.map(line => line.node));

    const x = (at: number): number => LEFT + at * (W - LEFT - RIGHT);
    const y = (part: number): number => FLOOR - part * (FLOOR - TOP);
    const axes = svg('g');
    for (const part of [0, 0.5, 1]) {
      axes.append(
        svg('path', { class: 'axis', d: `M${LEFT} ${y(part)}H${W - RIGHT}` }),
        svg('text', { x: LEFT - 6, y: y(part) + 4, 'text-anchor': 'end' }, `${100 * part} %`)
      );
    }
    for (const tick of ticks(range).filter(value => /^0?\.?0*1/.test(String(value)))) {
      axes.append(
        svg('text', { x: x(place(range, tick)), y: FLOOR + 22, 'text-anchor': 'middle' }, `ε ${number(tick)}`)
      );
    }
    const guess = svg('path', { class: 'soft-line', 'stroke-dasharray': '5 4' });
    const most = svg('path', { class: 'ink-line', 'stroke-dasharray': '1.5 3' });
    const named = svg('g', { 'aria-hidden': 'true' });
    const curve = svg('path', { class: 'pv-line' });
    const dots = svg('path', { class: 'pv' });
    const cursor = svg('path', { class: 'soft-line' });
    const spread = svg('path', { class: 'pv-line', 'stroke-opacity': 0.5 });
    const here = svg('circle', { class: 'handle', r: 8 });
    const plot = picture(
      'share recovered against ε',
      W,
      H,
      axes,
      guess,
      most,
      spread,
      curve,
      dots,
      cursor,
      named,
      here
    );
    draggable(plot.node, {
      move: at => {
        const share = Math.min(Math.max((at - LEFT) / (W - LEFT - RIGHT), 0), 1);
        state.epsilon = share === 0 ? range.low : share === 1 ? range.high : valueAt(range, share);
        frame.ask();
      },
      end: tell
    });
    const title = html('h4', { class: 'say' });
    const fall = html('button', { type: 'button' });
    let target = range.low;
    fall.addEventListener('click', () => {
      state.epsilon = target;
      tell();
      show();
    });
    const losses: Slider = slider({
      label: 'ε',
      range,
      value: state.epsilon,
      ends: ['more private', 'more accurate'],
      input: value => {
        state.epsilon = value;
        frame.ask();
      },
      change: tell
    });
    losses.note(`pays for ${plan.loss}`);
    body.replaceChildren(
      table,
      html(
        'p',
        { class: 'key' },
        html('span', { class: 'p' }, html('i'), 'recovered'),
        html('span', {}, `┆ guessing: ${plan.guess}`),
        html('span', { class: 'k' }, '▮ the most that ε lets through')
      ),
      losses.node,
      said,
      title,
      plot.node,
      html(
        'p',
        { class: 'soft' },
        'Dots were simulated, with two standard errors either way; between them the line is straight. Each repetition is on new people.'
      ),
      html('div', { class: 'buttons' }, fall)
    );

    return () => {
      const attack = link.facts().run[name] ?? plan;
      set(guess, { d: `M${LEFT} ${y(attack.baseline)}H${W - RIGHT}` });
      lines.forEach((line, i) => {
        const one = attack.publications[i]!;
        line.show(share(one), error(one), bound(one), attack.baseline, one.key === state.published);
      });
      const one = attack.publications.find(p => p.key === state.published) ?? attack.publications.at(-1)!;
      const drawn = one.recovered.length > 1 ? one : attack.publications.find(p => p.key === PRIVATE)!;
      title.textContent = drawn.label;
      set(most, {
        d: (drawn.bound ?? [])
          .map((part, i, all) => `${i === 0 ? 'M' : 'L'}${x(i / (all.length - 1))} ${y(part)}`)
          .join('')
      });
      const top = drawn.bound?.at(-1);
      named.replaceChildren(
        beside(y(attack.baseline), 'guessing'),
        ...(top === undefined ? [] : [beside(y(top), 'the most', 'ε lets', 'through')])
      );
      const points = drawn.recovered.map((part, i) => [x(places[i]!), y(part)] as const);
      set(curve, { d: points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${a} ${b}`).join('') });
      set(spread, {
        d: points
          .map(([a], i) => {
            const [part, error] = [drawn.recovered[i]!, 2 * drawn.error[i]!];
            return `M${a} ${y(Math.max(part - error, 0))}V${y(Math.min(part + error, 1))}`;
          })
          .join('')
      });
      set(dots, {
        d: points.map(([a, b]) => `M${a - 3.5} ${b}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`).join('')
      });
      const at = x(place(range, state.epsilon));
      set(cursor, { d: `M${at} ${TOP}V${FLOOR}` });
      set(here, { cx: at, cy: y(share(drawn)) });
      target = drawn.falls ?? range.low;
      fall.textContent =
        drawn.falls === null
          ? 'no ε shown here pulls it down to guessing'
          : `ε ${significant(drawn.falls, 3)} pulls it down to guessing`;
      fall.disabled = drawn.falls === null;
      const words = sentence(one, share(one), bound(one), attack, state);
      said.textContent = words;
      plot.describe(`${drawn.label}: ${percent(share(drawn))} at ε ${significant(state.epsilon, 3)}.`);
      losses.words(lossWords('epsilon', state.epsilon, `${drawn.label}: ${percent(share(drawn))} recovered`));
      losses.show(state.epsilon);
    };
  }

  /** One publication: a name to choose it by, its share as a bar, and the number. */
  function bar(one: Published): {
    node: HTMLElement;
    show: (share: number, error: number, bound: number | null, baseline: number, chosen: boolean) => void;
  } {
    const box = html('input', { type: 'radio', name: id });
    box.addEventListener('change', () => {
      state.published = one.key;
      tell();
      show();
    });
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
      show: (share, error, bound, baseline, chosen) => {
        box.checked = chosen;
        set(guess, { d: `M${400 * baseline} 0V18` });
        set(length, { d: `M0 3H${400 * share}V15H0Z` });
        set(most, { d: bound === null ? 'M0 0' : `M${400 * bound} 0V18` });
        figure.textContent = percent(share);
        spread.textContent = ` ± ${significant(200 * error, 2)}`;
      }
    };
  }

  show();
  return {
    update: () => {
      Object.assign(state, heard());
      show();
    },
    dispose: () => {
      again.stop();
      frame.stop();
    }
  };
}

/** The name of a line, right of its end: nothing is drawn there. */
function beside(y: number, ...lines: string[]): SVGTextElement {
  const x = W - RIGHT + 8;
  const rows = lines.map((line, i) => svg('tspan', { x, dy: i === 0 ? '0.35em' : '1.1em' }, line));
  return svg('text', { x, y }, ...rows);
}

function sentence(one: Published, share: number, bound: number | null, attack: Attack, state: State): string {
  const told = `${one.note} The attack recovers ${percent(share)} (${thousand(share)} of 1,000); guessing recovers ${percent(attack.baseline)} (${thousand(attack.baseline)}).`;
  if (bound === null) {
    return `${told} Nothing is promised, so that another attack may recover more.`;
  }
  const epsilon = `ε ${significant(state.epsilon, 3)}`;
  const most = `${atMostPercent(bound)} (${atMostPeople(bound, 1000)} of 1,000)`;
  if (bound > 0.995) {
    return `${told} At this price (${epsilon}) no attack is ruled out.`;
  }
  return share > bound + 0.03
    ? `${told} That is more than the ${most} that ${epsilon} would let through: this noise does not keep its promise.`
    : `${told} At this price (${epsilon}) no attack can expect more than ${most}.`;
}
