/** Drag one person: what one row can do to a statistic, and the noise that hides it. Teaching arrays only. */
import { halfWidth, number, significant } from '../../maths/digits';
import { match, moved, statistic, worst, type Move, type People, type Statistic } from '../../maths/person';
import { announcer, html, picture, set, svg } from '../parts/dom';
import { heights, marks, placeOf, readAt } from './crowd';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { choice, figures, handle, head, text } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import type { Link, View } from '../parts/widget';

interface Noise {
  /** The most that one person can ever do, as the price of the question states it; null where no table bounds it. */
  readonly sensitivity: number | null;
  /** The scale of the noise at ε = 1, in the unit of the statistic; null where none is added. */
  readonly scale: number | null;
}

export interface PersonFacts extends People {
  readonly low: number;
  readonly high: number;
  readonly kind: Statistic;
  readonly noise: Readonly<Record<Statistic, Noise>>;
  readonly epsilon: number;
  readonly problem: string;
}

export interface PersonSet {
  values: number[];
  arms: number[];
  scores: number[];
  kind: Statistic;
  epsilon: number;
}

const [W, H, SIDE, LINE, BELL] = [640, 268, 20, 150, 238];

const NAMES: Record<Statistic, string> = {
  mean: 'mean',
  sum: 'sum',
  count: 'count above the middle',
  median: 'median',
  sd: 'standard deviation',
  difference: 'difference of two arms',
  matched: 'difference within matched pairs',
  slope: 'slope along the score'
};
const KINDS = Object.entries(NAMES) as [Statistic, string][];
/** Where the pictures say what up and down mean. */
const UPRIGHT: Partial<Record<Statistic, string>> = {
  difference: 'Upper lane: second arm. Drag somebody across.',
  matched: 'Up and down is the score; lines join pairs of like score. Drag somebody out of a pair.',
  slope: 'Up and down is the score; the line is the slope of the value along it.'
};
const UNBOUNDED: Partial<Record<Statistic, string>> = {
  median:
    'In some tables one person moves the median across the whole range: noise of that size would leave no answer, so a median is selected instead.',
  slope:
    'In some tables one person turns the slope as far as they like, so the sums behind it are noised, never the slope.'
};

const signed = (change: number): string =>
  change === 0 ? '0' : `${change < 0 ? '−' : '+'}${halfWidth(Math.abs(change))}`;

export function personView(root: HTMLElement, link: Link<PersonFacts, PersonSet>): View {
  let facts = link.facts();
  const people = (): People => ({ values: facts.values, arms: facts.arms, scores: facts.scores });
  const first: PersonSet = {
    values: [...facts.values],
    arms: [...facts.arms],
    scores: [...facts.scores],
    kind: facts.kind,
    epsilon: facts.epsilon
  };
  const held = dragState(link, first, () => show(), {
    epsilon: { low: 0.1, high: 10 },
    kind: KINDS.map(([kind]) => kind),
    arms: { low: 0, high: 1 },
    scores: { low: 0, high: 1 }
  });
  const { now } = held;
  let person = 0;
  let most: { kind: Statistic; found: Move } | null = null;

  // a seventh of the width outside each bound: a person may go past the clamp
  const margin = (facts.high - facts.low) / 7;
  const [least, farthest] = [facts.low - margin, facts.high + margin];
  const x = (value: number): number =>
    SIDE + ((Math.min(Math.max(value, least), farthest) - least) / (farthest - least)) * (W - 2 * SIDE);
  const ground = { x, top: 8, floor: LINE };
  const inside = (value: number): number => Math.min(Math.max(value, facts.low), facts.high);

  const bounds = svg('path', { class: 'axis' });
  const links = svg('path', { class: 'soft-line' });
  const mark = { stroke: 'var(--soft)', 'stroke-width': 11 };
  const firsts = svg('path', { ...mark, 'stroke-linecap': 'round' });
  const seconds = svg('path', { ...mark, 'stroke-width': 9, 'stroke-linecap': 'square' });
  const thumb = handle('person', (across, up) => key(across, up));
  const was = svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' });
  const is = svg('path', { class: 'ink-line', 'stroke-width': 2 });
  const ghost = svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' });
  const bell = svg('path', { fill: 'var(--dp-accent)', opacity: 0.25 });
  const labels = svg('g');
  const plot = picture(
    'people and one statistic',
    W,
    H,
    bounds,
    bell,
    ghost,
    links,
    firsts,
    seconds,
    was,
    is,
    thumb,
    labels
  );

  const told = figures('', '', 'the most anybody can do in any table: the sensitivity');
  const said = announcer();
  const upright = html('p', { class: 'soft' });
  const losses = lossSlider(() => held, { low: 0.1, high: 10 });
  const kinds = choice('statistic', KINDS, now.kind, kind => {
    held.move({ kind });
    held.tell();
  });
  const extreme = html('button', { type: 'button', class: 'strong' }, 'Show me the worst');
  extreme.addEventListener('click', () => {
    const { found } = largest();
    person = found.person;
    put(moved(people(), found.person, found.to, found.arm, found.score));
    held.tell();
  });
  const back = html('button', { type: 'button' }, 'Put everybody back');
  back.addEventListener('click', () => {
    put(people());
    held.tell();
  });

  root.append(
    head('Drag one person', `${number(facts.values.length)} made-up or public people`),
    kinds.node,
    upright,
    plot.node,
    told.node,
    losses.node,
    said,
    html('div', { class: 'buttons' }, extreme, back)
  );

  function put(table: People): void {
    held.move({ values: [...table.values], arms: [...table.arms], scores: [...table.scores] });
  }

  /** The largest move of the table as it was; found once for each statistic. */
  function largest(): { kind: Statistic; found: Move } {
    if (most?.kind !== now.kind) {
      most = { kind: now.kind, found: worst(now.kind, people(), facts) };
    }
    return most;
  }

  /** Where a value of the statistic is drawn: on the people's own axis, or around where it stood. */
  function across(value: number, from: number): number {
    const width = facts.high - facts.low;
    const unit = { sum: width, count: 1, sd: width / 12, difference: width / 5, matched: width / 5 };
    return now.kind in unit ? W / 2 + ((value - from) / unit[now.kind as keyof typeof unit]) * 60 : x(value);
  }

  function density(centre: number, from: number): string {
    const { scale } = facts.noise[now.kind];
    if (scale === null) {
      return '';
    }
    const span = Math.abs(across(from + 1, from) - across(from, from)) * (scale / now.epsilon);
    const middle = across(centre, from);
    let path = `M0 ${BELL}`;
    for (let i = 0; i <= 500; i++) {
      const at = (i / 500) * W;
      path += `L${at} ${(BELL - 76 * Math.exp(-Math.abs(at - middle) / span)).toFixed(1)}`;
    }
    return `${path}L${W} ${BELL}Z`;
  }

  /** The line of a slope through the middle of the people. */
  function slope(table: People, value: number): string {
    const mean = (listed: readonly number[]): number => listed.reduce((a, b) => a + b, 0) / listed.length;
    const [middle, level] = [mean(table.scores), mean(table.values.map(inside))];
    const [low, high] = heights({ values: [0, 0], arms: [0, 0], scores: [0, 1] }, 'scores', ground);
    return `M${x(level - value * middle)} ${low!}L${x(level + value * (1 - middle))} ${high!}`;
  }

  function drawStatistic(from: number | null, to: number | null): void {
    if (from === null || to === null) {
      [was, is, bell, ghost].forEach(one => set(one, { d: '' }));
    } else if (now.kind === 'slope') {
      set(was, { d: slope(people(), from) });
      set(is, { d: slope(now, to) });
      [bell, ghost].forEach(one => set(one, { d: '' }));
    } else {
      set(was, { d: `M${across(from, from)} ${LINE + 2}V${BELL}` });
      set(is, { d: `M${Math.min(Math.max(across(to, from), 0), W)} ${LINE + 2}V${BELL}` });
      set(bell, { d: density(to, from) });
      set(ghost, { d: density(from, from) });
    }
  }

  function drawPeople(): void {
    const place = placeOf(now.kind);
    const tall = heights(now, place, ground);
    const second = (i: number): boolean => place !== 'stack' && now.kind !== 'slope' && now.arms[i] === 1;
    set(firsts, { d: marks(now, tall, x, i => i !== person && !second(i)) });
    set(seconds, { d: marks(now, tall, x, i => i !== person && second(i)) });
    const pairs = now.kind === 'matched' ? match(now) : [];
    set(links, {
      d: pairs.map(([i, j]) => `M${x(now.values[i]!)} ${tall[i]!}L${x(now.values[j]!)} ${tall[j]!}`).join('')
    });
    const lane = place === 'lanes' ? `M0 ${(ground.top + LINE) / 2}H${W}` : '';
    set(bounds, {
      d: `M${x(facts.low)} 4V${LINE}M${x(facts.high)} 4V${LINE}M0 ${LINE}H${W}M0 ${BELL}H${W}${lane}`
    });
    const value = now.values[person]!;
    const arm = place === 'lanes' || now.kind === 'matched' ? `, arm ${now.arms[person]! + 1}` : '';
    const score = place === 'scores' ? `, score ${significant(now.scores[person]!, 2)}` : '';
    const counted = value === inside(value) ? '' : `, counted as ${number(inside(value))}`;
    set(thumb, {
      cx: x(value),
      cy: tall[person]!,
      'aria-label': `person ${person + 1} of ${now.values.length}`,
      'aria-valuemin': least,
      'aria-valuemax': farthest,
      'aria-valuenow': value,
      'aria-valuetext': `at ${number(value)}${counted}${arm}${score}`
    });
    labels.replaceChildren(
      text(x(facts.low), LINE + 16, number(facts.low)),
      text(x(facts.high), LINE + 16, number(facts.high)),
      text(
        W / 2,
        H - 10,
        now.kind === 'slope' ? '' : `the ${NAMES[now.kind]}, and the noise that hides one person`
      )
    );
  }

  function words(change: number | null): string {
    const { scale, sensitivity } = facts.noise[now.kind];
    const value = now.values[person]!;
    const outside =
      value === inside(value) ? '' : ` They are past the bounds and counted as ${number(inside(value))}.`;
    if (change === null) {
      return `This table has no ${NAMES[now.kind]}: an arm is empty, or nobody has a pair.${outside}`;
    }
    if (scale === null) {
      return `${UNBOUNDED[now.kind] ?? ''}${outside}`;
    }
    const size = significant(scale / now.epsilon, 3);
    const why =
      sensitivity === null
        ? `In some tables one person moves it across the whole range, so its sums and counts are noised: in this table as if by scale ${size}.`
        : `Noise of scale ${size} hides it.`;
    return (
      `${why} From a released answer nobody can tell the two tables ` +
      `apart by more than a factor of ${significant(Math.exp(now.epsilon), 3)}.${outside}`
    );
  }

  function show(): void {
    const [from, to] = [statistic(now.kind, people(), facts), statistic(now.kind, now, facts)];
    drawPeople();
    drawStatistic(from, to);
    const change = from === null || to === null ? null : to - from;
    const { sensitivity } = facts.noise[now.kind];
    const shown = change === null ? 'undefined' : signed(change);
    told.say(
      shown,
      significant(Math.abs(largest().found.change), 3),
      sensitivity !== null
        ? significant(sensitivity, 3)
        : now.kind === 'slope'
          ? 'no bound'
          : 'the whole range'
    );
    told.note(0, `the ${NAMES[now.kind]} moved by`);
    told.note(1, 'the most anybody here does to it');
    upright.textContent = UPRIGHT[now.kind] ?? 'Drag a dot across, also past the bounds.';
    const sentence = words(change);
    said.textContent = sentence;
    plot.describe(
      `the ${NAMES[now.kind]} is ${to === null ? 'undefined' : number(to)}, moved by ${shown}. ${sentence}`
    );
    losses.words(lossWords('epsilon', now.epsilon, sentence));
    losses.show(now.epsilon);
    kinds.show(now.kind);
  }

  /** One person elsewhere, everybody else where they were. */
  function place(value: number, upward: { score?: number; arm?: number }): void {
    const to = Math.min(Math.max(value, least), farthest);
    const { arm = now.arms[person]!, score = now.scores[person]! } = upward;
    put(moved(now, person, to, arm, score));
  }
  function choose(next: number): void {
    if (next !== person) {
      put(people());
      person = next;
    }
  }
  function key(sideways: number, up: number): void {
    const size = (farthest - least) / 50;
    const where = placeOf(now.kind);
    if (Math.abs(sideways) === 10 || (up !== 0 && where === 'stack')) {
      const step = Math.sign(sideways + up);
      choose((person + step + now.values.length) % now.values.length);
    } else {
      const score = Math.min(Math.max(now.scores[person]! + up / 25, 0), 1);
      const arm = up === 0 ? now.arms[person]! : up > 0 ? 1 : 0;
      place(
        now.values[person]! + sideways * size,
        where === 'scores' ? { score } : where === 'lanes' ? { arm } : {}
      );
    }
    held.tell();
  }
  draggable(plot.node, {
    start: (at, height) => {
      const tall = heights(now, placeOf(now.kind), ground);
      const far = now.values.map((value, i) => Math.hypot(x(value) - at, tall[i]! - height));
      const nearest = far.indexOf(Math.min(...far));
      if (far[nearest]! > 24) {
        return false;
      }
      choose(nearest);
      return true;
    },
    move: (at, height) =>
      place(
        least + ((at - SIDE) / (W - 2 * SIDE)) * (farthest - least),
        readAt(height, placeOf(now.kind), ground)
      ),
    end: held.tell
  });

  show();
  return {
    update: () => {
      facts = link.facts();
      most = null;
      held.follow();
    },
    dispose: held.stop
  };
}
