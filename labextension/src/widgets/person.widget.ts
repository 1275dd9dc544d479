/** Drag one person: what one row can do to a statistic, and the noise that hides it. Teaching arrays only. */
import { halfWidth, number, significant } from '../maths/digits';
import { statistic, worst, type Statistic } from '../maths/person';
import { announcer, eachFrame, html, picture, set, svg } from './parts/dom';
import { draggable } from './parts/pointer';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface PersonFacts {
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly kind: Statistic;
  /** The most that one person can ever do, as the price of the question states it; null where no additive noise hides it. */
  readonly sensitivity: number | null;
  readonly epsilon: number;
  /** The scale of the noise at ε = 1, in the unit of the statistic; null where none is added. */
  readonly scale: number | null;
  readonly problem: string;
}

export interface PersonSet {
  values: number[];
  epsilon: number;
}

const [W, H, LEFT, RIGHT, LINE, BELL] = [640, 230, 20, 20, 92, 200];

const NAMES: Record<Statistic, string> = {
  mean: 'the mean',
  sum: 'the sum',
  count: 'the count above the middle',
  median: 'the median'
};

function draw(root: HTMLElement, link: Link<PersonFacts, PersonSet>): View {
  let facts = link.facts();
  let values = [...(link.chosen().values ?? facts.values)];
  let epsilon = link.chosen().epsilon ?? facts.epsilon;
  let person = 0;

  // a seventh of the width outside each bound: a person may go past the clamp
  const margin = (facts.high - facts.low) / 7;
  const [least, most] = [facts.low - margin, facts.high + margin];
  const x = (value: number): number => LEFT + ((value - least) / (most - least)) * (W - LEFT - RIGHT);
  const inside = (value: number): number => Math.min(Math.max(value, facts.low), facts.high);

  const bounds = svg('path', { class: 'axis' });
  const crowd = svg('path', {
    stroke: 'var(--soft)',
    'stroke-width': 11,
    'stroke-linecap': 'round',
    opacity: 0.75
  });
  const held = svg('circle', { class: 'handle', r: 9, tabindex: 0, role: 'slider' });
  const now = svg('path', { class: 'ink-line', 'stroke-width': 2 });
  const before = svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' });
  const bell = svg('path', { fill: 'var(--dp-accent)', opacity: 0.22 });
  const ghost = svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' });
  const labels = svg('g');
  const plot = picture(
    'thirty people and one statistic',
    W,
    H,
    bounds,
    bell,
    ghost,
    crowd,
    before,
    now,
    held,
    labels
  );

  const moved = html('strong');
  const largest = html('strong');
  const ever = html('strong');
  const said = announcer();
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ values, epsilon });
  const losses = slider({
    label: 'ε',
    range: { low: 0.1, high: 10 },
    value: epsilon,
    ends: ['more private', 'more accurate'],
    input: value => {
      epsilon = value;
      frame.ask();
    },
    change: tell
  });
  const show_worst = html('button', { type: 'button', class: 'strong' }, 'Show me the worst');
  show_worst.addEventListener('click', () => {
    const found = worst(facts.kind, facts.values, facts);
    values = facts.values.map((value, i) => (i === found.person ? found.to : value));
    person = found.person;
    tell();
    frame.ask();
  });
  const back = html('button', { type: 'button' }, 'Put everybody back');
  back.addEventListener('click', () => {
    values = [...facts.values];
    tell();
    frame.ask();
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, `Drag one person, and watch ${NAMES[facts.kind]}`),
      html('span', { class: 'soft' }, 'made-up or public people')
    ),
    plot.node,
    html(
      'div',
      { class: 'figures' },
      html('div', {}, moved, html('span', { class: 'soft' }, `${NAMES[facts.kind]} moved by`)),
      html('div', {}, largest, html('span', { class: 'soft' }, 'the most anybody here can do')),
      html(
        'div',
        {},
        ever,
        html('span', { class: 'soft' }, 'the most anybody can do in any table: the sensitivity')
      )
    ),
    losses.node,
    said,
    html('div', { class: 'buttons' }, show_worst, back)
  );

  /** Dots at the same place stand on each other. */
  function heights(): number[] {
    const columns = new Map<number, number>();
    return values.map(value => {
      const column = Math.round(x(value) / 12);
      const height = columns.get(column) ?? 0;
      columns.set(column, height + 1);
      return LINE - 8 - height * 12;
    });
  }

  /** Where a value of the statistic is drawn: on the people's own axis, or from the left for sums and counts. */
  function across(value: number): number {
    if (facts.kind === 'mean' || facts.kind === 'median') {
      return x(value);
    }
    const size = facts.kind === 'sum' ? facts.high - facts.low : 1;
    const from = statistic(facts.kind, facts.values, facts);
    return W / 2 + ((value - from) / size) * 60;
  }

  function density(centre: number): string {
    if (facts.scale === null) {
      return '';
    }
    const scale = facts.scale / epsilon;
    let path = `M0 ${BELL}`;
    for (let i = 0; i <= 160; i++) {
      const at = (i / 160) * W;
      const span = (across(1) - across(0)) * scale;
      path += `L${at} ${(BELL - 70 * Math.exp(-Math.abs(at - across(centre)) / span)).toFixed(1)}`;
    }
    return `${path}L${W} ${BELL}Z`;
  }

  function show(): void {
    const [from, to] = [statistic(facts.kind, facts.values, facts), statistic(facts.kind, values, facts)];
    const at = heights();
    set(bounds, { d: `M${x(facts.low)} 4V${BELL}M${x(facts.high)} 4V${BELL}M0 ${LINE}H${W}M0 ${BELL}H${W}` });
    set(crowd, {
      d: values.map((value, i) => (i === person ? '' : `M${x(value).toFixed(1)} ${at[i]!}h0`)).join('')
    });
    set(held, {
      cx: x(values[person]!),
      cy: at[person]!,
      'aria-label': `person ${person + 1} of ${values.length}`,
      'aria-valuemin': least,
      'aria-valuemax': most,
      'aria-valuenow': values[person]!,
      'aria-valuetext': `at ${number(values[person]!)}${values[person] === inside(values[person]!) ? '' : `, counted as ${number(inside(values[person]!))}`}`
    });
    set(before, { d: `M${across(from)} ${LINE + 4}V${BELL}` });
    set(now, { d: `M${across(to)} ${LINE + 4}V${BELL}` });
    set(bell, { d: density(to) });
    set(ghost, { d: density(from) });
    labels.replaceChildren(
      svg('text', { x: x(facts.low), y: H - 12, 'text-anchor': 'middle' }, number(facts.low)),
      svg('text', { x: x(facts.high), y: H - 12, 'text-anchor': 'middle' }, number(facts.high))
    );
    const change = to - from;
    const found = worst(facts.kind, facts.values, facts);
    moved.textContent = change === 0 ? '0' : `${change < 0 ? '−' : '+'}${halfWidth(Math.abs(change))}`;
    largest.textContent = significant(Math.abs(found.change), 3);
    ever.textContent = facts.sensitivity === null ? 'the whole range' : significant(facts.sensitivity, 3);
    const outside =
      values[person] === inside(values[person]!)
        ? ''
        : ` They are past the bounds and counted as ${number(inside(values[person]!))}.`;
    const words =
      facts.scale === null
        ? `One person can move the median across the whole range, so no noise of this kind would leave an answer.${outside}`
        : `Noise of scale ${significant(facts.scale / epsilon, 3)} hides it: from a released answer nobody can tell the two tables ` +
          `apart by more than a factor of ${significant(Math.exp(epsilon), 3)}.${outside}`;
    said.textContent = words;
    plot.describe(`${NAMES[facts.kind]} ${number(to)}, moved by ${moved.textContent}. ${words}`);
    losses.words(`ε ${significant(epsilon, 3)}: ${words}`);
    losses.show(epsilon);
  }

  const place = (value: number): void => {
    values = values.map((old, i) => (i === person ? Math.min(Math.max(value, least), most) : old));
    frame.ask();
  };
  draggable(plot.node, {
    start: (at, height) => {
      const tall = heights();
      const far = values.map((value, i) => Math.hypot(x(value) - at, tall[i]! - height));
      const nearest = far.indexOf(Math.min(...far));
      if (far[nearest]! > 24) {
        return false;
      }
      if (nearest !== person) {
        values = [...facts.values];
        person = nearest;
      }
      return true;
    },
    move: at => place(least + ((at - LEFT) / (W - LEFT - RIGHT)) * (most - least)),
    end: tell
  });
  held.addEventListener('keydown', event => {
    const size = (most - least) / 50;
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      place(values[person]! + (event.key === 'ArrowRight' ? size : -size));
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      values = [...facts.values];
      person = (person + (event.key === 'ArrowUp' ? 1 : values.length - 1)) % values.length;
      frame.ask();
    } else {
      return;
    }
    event.preventDefault();
    tell();
  });

  show();
  return {
    update: () => {
      facts = link.facts();
      values = [...(link.chosen().values ?? facts.values)];
      epsilon = link.chosen().epsilon ?? epsilon;
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
