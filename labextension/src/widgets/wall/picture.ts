/** The wall in pixels: an answer a line, a dot in its interval; the truth across them all, the average below. */
import { marks } from '../../maths/scale';
import { text } from '../parts/layout';
import { picture, svg, type Picture } from '../parts/dom';
import { isCut, place, said, type Answer, type WallFacts } from './model';

const [TALL, SHORT, MANY] = [16, 7, 40];
const [NAMES, MARGIN, NARROW] = [124, 14, 460];
const [LETTERS, TICK] = [16, 60];

interface Room {
  readonly left: number;
  readonly right: number;
  readonly row: number;
  /** Where an average has its line, and where the axis is. */
  readonly below: number;
  readonly floor: number;
  readonly named: boolean;
  readonly x: (value: number) => number;
}

function roomOf(facts: WallFacts, width: number): Room {
  const few = facts.answers.length <= MANY;
  const named = few && width >= NARROW;
  const [left, right] = [named ? NAMES : MARGIN, width - MARGIN];
  const row = few ? TALL : SHORT;
  const below = row * facts.answers.length + 18;
  const floor = facts.average === null ? below - 8 : below + 14;
  return {
    ...{ left, right, row, below, floor, named },
    x: value => left + place(facts.reach, value) * (right - left)
  };
}

const short = (who: string): string => (who.length <= LETTERS ? who : `${who.slice(0, LETTERS - 1)}…`);

function answer(one: Answer, at: number, room: Room, facts: WallFacts): SVGElement {
  const y = room.row * (at + 0.5) + 2;
  const missed = one.held === false;
  const [low, high, dot] = [room.x(one.low), room.x(one.high), room.x(one.value)];
  const size = room.row === TALL ? 3.5 : 2.2;
  const line = missed ? 'warn-line' : 'pv-line';
  return svg(
    'g',
    {},
    svg('title', {}, said(one)),
    room.named ? text(room.left - 12, y + 4, short(one.who), 'end') : null,
    svg('path', {
      class: isCut(facts.reach, one) ? `${line} cut` : line,
      d: `M${low.toFixed(1)} ${y}H${Math.max(high, low + 1).toFixed(1)}`
    }),
    svg('circle', { class: missed ? 'miss' : 'answer', cx: dot.toFixed(1), cy: y, r: size }),
    missed ? cross(high + 8 > room.right ? low - 8 : high + 8, y, size) : null
  );
}

/** A miss is a cross too: colour is never alone. */
const cross = (x: number, y: number, r: number): SVGElement =>
  svg('path', {
    class: 'warn-line',
    d: `M${(x - r).toFixed(1)} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`
  });

function average(facts: WallFacts, room: Room): SVGElement[] {
  const one = facts.average;
  if (one === null) {
    return [];
  }
  const [low, high, dot, y] = [room.x(one.low), room.x(one.high), room.x(one.value), room.below];
  return [
    svg('path', { class: 'axis', d: `M${MARGIN} ${y - 13}H${room.right}` }),
    svg('rect', { class: 'pv', x: low, width: Math.max(high - low, 1), y: y - 5, height: 10 }),
    svg('path', { class: 'mean', d: `M${dot.toFixed(1)} ${y - 7}l5 7l-5 7l-5 -7Z` }),
    room.named ? text(room.left - 12, y + 4, 'averaged', 'end') : svg('title', {}, 'averaged')
  ];
}

function axis(facts: WallFacts, room: Room): SVGElement[] {
  const most = Math.max(Math.floor((room.right - room.left) / TICK), 1);
  return [
    svg('path', { class: 'axis', d: `M${room.left} ${room.floor}H${room.right}` }),
    ...marks(facts.reach, most).flatMap(([value, words]) => [
      svg('path', { class: 'axis', d: `M${room.x(value).toFixed(1)} ${room.floor}v5` }),
      text(room.x(value), room.floor + 18, words)
    ])
  ];
}

function truth(facts: WallFacts, room: Room): SVGElement[] {
  if (facts.truth === null) {
    return [];
  }
  return [
    svg('path', { class: 'ink-line dashed', d: `M${room.x(facts.truth.value).toFixed(1)} 0V${room.floor}` })
  ];
}

/** Draw it, so many pixels wide. */
export function wallPicture(facts: WallFacts, answers: readonly Answer[], width: number): Picture {
  const room = roomOf(facts, width);
  const plot = picture(
    'answers with their 95 % privacy intervals',
    width,
    room.floor + 24,
    ...axis(facts, room),
    ...answers.map((one, at) => answer(one, at, room, facts)),
    ...average(facts, room),
    ...truth(facts, room)
  );
  plot.node.classList.add('trail', 'wall');
  plot.describe(facts.sentence);
  return plot;
}
