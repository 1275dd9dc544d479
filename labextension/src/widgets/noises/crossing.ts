/** Both noises against the number of people, on log-log paper: two straight lines that cross at n*. */
import { number } from '../../maths/digits';
import { place, ticks, valueAt } from '../../maths/scale';
import { picture, set, svg, unitOf } from '../parts/dom';
import { text, under } from '../parts/layout';
import { draggable } from '../parts/pointer';
import { alikeWords, SIZES, type Crossing } from './model';

const [W, TOP, FLOOR, HEIGHT] = [640, 8, 96, 118];

/** Where the axis of sizes runs. */
export const AXIS = { wide: W, from: 8, to: W - 8, below: HEIGHT - FLOOR };

/** From here on, of a drawing's units in a pixel. */
const NARROW = 2.2;

const across = (n: number): number => AXIS.from + place(SIZES, n) * (AXIS.to - AXIS.from);

/** The axis of sizes; every second one is named where there is no room for all. */
function axis(unit: number): SVGElement[] {
  const sizes = ticks(SIZES).filter(tick => (unit > NARROW ? /^10(00)*$/ : /^10*$/).test(String(tick)));
  return [
    svg('path', { class: 'axis', d: `M0 ${FLOOR}H${W}` }),
    ...sizes.map((tick, i, all) => {
      const anchor = i === 0 ? 'start' : i === all.length - 1 ? 'end' : 'middle';
      return under(across(tick), FLOOR, number(tick), anchor);
    })
  ];
}

export interface CrossingPicture {
  readonly node: SVGSVGElement;
  readonly show: (crossing: Crossing) => void;
}

/** The picture; a hand in it moves the number of people. */
export function crossingPicture(move: (n: number) => void, end: () => void): CrossingPicture {
  const one = svg('path', { class: 'ink-line', 'stroke-dasharray': '5 3' });
  const two = svg('path', { class: 'pv-line' });
  const star = svg('path', { class: 'soft-line' });
  const sizes = svg('g');
  const plot = picture('both noises by number of people', W, HEIGHT, sizes, one, two, star);
  draggable(plot.node, {
    move: at => move(Math.round(valueAt(SIZES, (at - AXIS.from) / (AXIS.to - AXIS.from)))),
    end
  });
  let drawn: Crossing | null = null;
  const show = (crossing: Crossing): void => {
    drawn = crossing;
    const { sampling, privacy, alike, inside } = crossing;
    const tall = { low: Math.min(sampling[1], privacy[1]), high: Math.max(sampling[0], privacy[0]) };
    const y = (value: number): number => TOP + (1 - place(tall, value)) * (FLOOR - TOP);
    const x = across(Math.min(Math.max(alike, SIZES.low), SIZES.high));
    const [words, far] = [alikeWords(crossing), x > W * 0.8];
    set(one, { d: `M${AXIS.from} ${y(sampling[0])}L${AXIS.to} ${y(sampling[1])}` });
    set(two, { d: `M${AXIS.from} ${y(privacy[0])}L${AXIS.to} ${y(privacy[1])}` });
    set(star, { d: inside ? `M${x} ${TOP}V${FLOOR}` : '' });
    const named = text(x + (far ? -6 : 6), TOP + 8, `alike: n* = ${words}`, far ? 'end' : 'start');
    sizes.replaceChildren(...axis(unitOf(plot.node)), ...(inside ? [named] : []));
    plot.describe(
      `sampling noise falls with the root of n, privacy noise with n: they are alike at ${words} people`
    );
  };
  plot.node.addEventListener('even', () => drawn !== null && show(drawn));
  return { node: plot.node, show };
}
