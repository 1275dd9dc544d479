/** The picture of the people and of their statistic before and after a move, with the noise around both. */
import { number } from '../../maths/digits';
import { match, type People } from '../../maths/person';
import { picture, set, svg, type Picture } from '../parts/dom';
import { handle, text } from '../parts/layout';
import { heights, marks, placeOf, readAt, type Ground } from './crowd';
import { inside, NAMES, personWords, reachOf, type Change, type PersonFacts, type PersonSet } from './model';

const [W, H, SIDE, LINE, BELL] = [640, 268, 20, 150, 238];

interface Axis extends Ground {
  /** The value that is drawn at a place. */
  readonly valueAt: (at: number) => number;
}

function axisOf(facts: PersonFacts): Axis {
  const { low, high } = reachOf(facts);
  const width = W - 2 * SIDE;
  return {
    x: value => SIDE + ((inside(value, { low, high }) - low) / (high - low)) * width,
    top: 8,
    floor: LINE,
    valueAt: at => low + ((at - SIDE) / width) * (high - low)
  };
}

/** Where a value of the statistic is drawn: on the people's own axis, or around where it stood. */
function across(
  { low, high }: PersonFacts,
  { x }: Axis,
  { kind }: PersonSet,
  value: number,
  from: number
): number {
  const width = high - low;
  const unit = { sum: width, count: 1, sd: width / 12, difference: width / 5, matched: width / 5 };
  return kind in unit ? W / 2 + ((value - from) / unit[kind as keyof typeof unit]) * 60 : x(value);
}

/** The noise of an answer whose centre is drawn at `middle`; `span` is its scale in the drawing. */
function density(middle: number, span: number): string {
  let path = `M0 ${BELL}`;
  for (let i = 0; i <= 500; i++) {
    const at = (i / 500) * W;
    path += `L${at} ${(BELL - 76 * Math.exp(-Math.abs(at - middle) / span)).toFixed(1)}`;
  }
  return `${path}L${W} ${BELL}Z`;
}

/** The line of a slope through the middle of the people. */
function slope(facts: PersonFacts, axis: Axis, table: People, value: number): string {
  const mean = (listed: readonly number[]): number => listed.reduce((a, b) => a + b, 0) / listed.length;
  const middle = mean(table.scores);
  const level = mean(table.values.map(one => inside(one, facts)));
  const [low, high] = heights({ values: [0, 0], arms: [0, 0], scores: [0, 1] }, 'scores', axis);
  return `M${axis.x(level - value * middle)} ${low!}L${axis.x(level + value * (1 - middle))} ${high!}`;
}

type Layers = Record<'was' | 'is' | 'ghost' | 'bell', SVGPathElement>;

function layers(): Layers {
  return {
    was: svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' }),
    is: svg('path', { class: 'ink-line', 'stroke-width': 2 }),
    ghost: svg('path', { class: 'soft-line', 'stroke-dasharray': '4 3' }),
    bell: svg('path', { fill: 'var(--dp-accent)', opacity: 0.25 })
  };
}

function drawStatistic(
  { was, is, ghost, bell }: Layers,
  facts: PersonFacts,
  now: PersonSet,
  { from, to }: Change
): void {
  const axis = axisOf(facts);
  [was, is, bell, ghost].forEach(one => set(one, { d: '' }));
  if (from === null || to === null) {
    return;
  }
  if (now.kind === 'slope') {
    set(was, { d: slope(facts, axis, facts, from) });
    set(is, { d: slope(facts, axis, now, to) });
    return;
  }
  const at = (value: number): number => across(facts, axis, now, value, from);
  set(was, { d: `M${at(from)} ${LINE + 2}V${BELL}` });
  set(is, { d: `M${Math.min(Math.max(at(to), 0), W)} ${LINE + 2}V${BELL}` });
  const { scale } = facts.noise[now.kind];
  if (scale !== null) {
    const span = Math.abs(at(from + 1) - at(from)) * (scale / now.epsilon);
    set(bell, { d: density(at(to), span) });
    set(ghost, { d: density(at(from), span) });
  }
}

interface Crowd {
  readonly nodes: SVGElement[];
  readonly show: (facts: PersonFacts, now: PersonSet, person: number) => void;
}

/** Everybody as dots of two shapes, lines between pairs, and a handle on one person. */
function crowd(key: (across: number, up: number) => void): Crowd {
  const links = svg('path', { class: 'soft-line' });
  const mark = { stroke: 'var(--soft)', 'stroke-width': 11 };
  const firsts = svg('path', { ...mark, 'stroke-linecap': 'round' });
  const seconds = svg('path', { ...mark, 'stroke-width': 9, 'stroke-linecap': 'square' });
  const thumb = handle('person', key);
  return {
    nodes: [links, firsts, seconds, thumb],
    show: (facts, now, person) => {
      const [place, axis, { low, high }] = [placeOf(now.kind), axisOf(facts), reachOf(facts)];
      const { x } = axis;
      const tall = heights(now, place, axis);
      const second = (i: number): boolean => place !== 'stack' && now.kind !== 'slope' && now.arms[i] === 1;
      set(firsts, { d: marks(now, tall, x, i => i !== person && !second(i)) });
      set(seconds, { d: marks(now, tall, x, i => i !== person && second(i)) });
      const pairs = now.kind === 'matched' ? match(now) : [];
      set(links, {
        d: pairs
          .map(([i, j]) => `M${x(now.values[i]!)} ${tall[i]!}L${x(now.values[j]!)} ${tall[j]!}`)
          .join('')
      });
      set(thumb, {
        cx: x(now.values[person]!),
        cy: tall[person]!,
        'aria-label': `person ${person + 1} of ${now.values.length}`,
        'aria-valuemin': low,
        'aria-valuemax': high,
        'aria-valuenow': now.values[person]!,
        'aria-valuetext': personWords(facts, now, person)
      });
    }
  };
}

/** The bounds, the lines that people and noise stand on, and their names. */
function frame(bounds: SVGPathElement, labels: SVGGElement, facts: PersonFacts, { kind }: PersonSet): void {
  const { x, top } = axisOf(facts);
  const [low, high] = [x(facts.low), x(facts.high)];
  const lane = placeOf(kind) === 'lanes' ? `M0 ${(top + LINE) / 2}H${W}` : '';
  set(bounds, { d: `M${low} 4V${LINE}M${high} 4V${LINE}M0 ${LINE}H${W}M0 ${BELL}H${W}${lane}` });
  const words = kind === 'slope' ? '' : `the ${NAMES[kind]}, and the noise that hides one person`;
  labels.replaceChildren(
    text(low, LINE + 16, number(facts.low)),
    text(high, LINE + 16, number(facts.high)),
    text(W / 2, H - 10, words)
  );
}

interface PeoplePicture extends Picture {
  readonly show: (facts: PersonFacts, now: PersonSet, person: number, change: Change) => void;
}

/** Draw people and statistic; keys on the chosen person are told to `key`. */
export function peoplePicture(key: (across: number, up: number) => void): PeoplePicture {
  const bounds = svg('path', { class: 'axis' });
  const labels = svg('g');
  const [drawn, people] = [layers(), crowd(key)];
  const [links, firsts, seconds, thumb] = people.nodes;
  const below = [bounds, drawn.bell, drawn.ghost, links!, firsts!, seconds!];
  const above = [drawn.was, drawn.is, thumb!, labels];
  const plot = picture('people and one statistic', W, H, ...below, ...above);
  return {
    ...plot,
    show: (facts, now, person, change) => {
      frame(bounds, labels, facts, now);
      people.show(facts, now, person);
      drawStatistic(drawn, facts, now, change);
    }
  };
}

/** The person nearest a point of the drawing; null where nobody is near. */
export function nearest(facts: PersonFacts, now: PersonSet, at: number, height: number): number | null {
  const axis = axisOf(facts);
  const tall = heights(now, placeOf(now.kind), axis);
  const far = now.values.map((value, i) => Math.hypot(axis.x(value) - at, tall[i]! - height));
  const found = far.indexOf(Math.min(...far));
  return far[found]! > 24 ? null : found;
}

/** What a point of the drawing means: a value, and upward a score or an arm. */
export function pointAt(
  facts: PersonFacts,
  now: PersonSet,
  at: number,
  height: number
): { readonly value: number; readonly upward: { readonly score?: number; readonly arm?: number } } {
  const axis = axisOf(facts);
  return { value: axis.valueAt(at), upward: readAt(height, placeOf(now.kind), axis) };
}
