/** Two noises: what privacy adds and what sampling adds; as dots, densities or running totals; and where they cross. */
import { number } from '../../maths/digits';
import { place, type Range, ticks, valueAt } from '../../maths/scale';
import { announcer, html, picture, set, svg, unitOf, type Part } from '../parts/dom';
import { type DragState, dragState, losses as lossSlider } from '../parts/drag_state';
import { choice, figures, head, text, under } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { draggable } from '../parts/pointer';
import { type Slider, slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import { errorPicture } from './errors';
import {
  type Crossing,
  type NoisesFacts,
  type NoisesSet,
  SIZES,
  type Shape,
  alikeWords,
  crossingOf,
  effective,
  errorOf,
  nextOutcome,
  noisesAt,
  sentence
} from './model';

const [W, TOP, FLOOR, HEIGHT] = [640, 8, 96, 118];

/** Where the axis of sizes runs. */
const AXIS = { wide: W, from: 72, to: W - 8, below: HEIGHT - FLOOR };

/** From here on, of a drawing's units in a pixel. */
const NARROW = 2.2;

const across = (n: number): number => AXIS.from + place(SIZES, n) * (AXIS.to - AXIS.from);

/** The axis of sizes; every second one is named where there is no room for all. */
function axis(unit: number): SVGElement[] {
  const sizes = ticks(SIZES).filter(tick => (unit > NARROW ? /^10(00)*$/ : /^10*$/).test(String(tick)));
  return [
    svg('path', { class: 'axis', d: `M${AXIS.from} ${TOP}V${FLOOR}H${W}` }),
    ...sizes.map((tick, i, all) => {
      const anchor = i === 0 ? 'start' : i === all.length - 1 ? 'end' : 'middle';
      return under(across(tick), FLOOR, number(tick), anchor);
    })
  ];
}

/** So high is a line of letters, in pixels. */
const LINE = 15;

const POWERS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** The axis of spreads: powers of ten up to 1, for no share is off by more; fewer where there is no room for all. */
function spreads(y: (value: number) => number, tall: Range, unit: number): SVGElement[] {
  const apart = (FLOOR - TOP) / Math.log10(tall.high / tall.low);
  const every = Math.ceil((LINE * unit) / apart);
  const tens: number[] = [];
  for (let power = Math.min(Math.floor(Math.log10(tall.high)), 0); 10 ** power >= tall.low; power -= every) {
    tens.push(power);
  }
  return tens.map((power, i) => {
    const words = power < -2 ? `10⁻${POWERS[-power] ?? ''}` : number(10 ** power);
    return text(AXIS.from - 6, y(10 ** power) + 4, `${i === 0 ? 'sd ' : ''}${words}`, 'end');
  });
}

/** Both noises against the number of people on log-log paper: two straight lines that cross at n*. A hand in it moves the number. */
function crossingPicture(
  move: (n: number) => void,
  end: () => void
): Part<[crossing: Crossing], SVGSVGElement> {
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
    const unit = unitOf(plot.node);
    sizes.replaceChildren(...axis(unit), ...spreads(y, tall, unit), ...(inside ? [named] : []));
    plot.describe(
      `sampling noise falls with the root of n, privacy noise with n: they are equal at ${words} people`
    );
  };
  plot.node.addEventListener('even', () => drawn !== null && show(drawn));
  return { node: plot.node, show };
}

const PACE = 700;

const SHAPES: readonly (readonly [Shape, string])[] = [
  ['dots', '100 equally likely errors each'],
  ['densities', 'densities'],
  ['totals', 'shares of errors below (CDF)']
];

/** Buttons that show other outcomes, one at a time or one after the other; where motion is unwelcome, one at a time alone. */
function player(
  another: () => void,
  playing: (on: boolean) => void
): { readonly node: HTMLElement; readonly dispose: () => void } {
  const next = html('button', { type: 'button' }, 'Show another outcome');
  next.addEventListener('click', another);
  const play = html('button', { type: 'button', 'aria-pressed': 'false' }, 'Play outcomes');
  let timer = 0;
  const turn = (on: boolean): void => {
    clearInterval(timer);
    timer = on ? window.setInterval(another, PACE) : 0;
    play.textContent = on ? 'Stop' : 'Play outcomes';
    play.setAttribute('aria-pressed', String(on));
    playing(on);
  };
  play.addEventListener('click', () => turn(timer === 0));
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  const calm = (): void => {
    play.hidden = still.matches;
    if (still.matches) {
      turn(false);
    }
  };
  still.addEventListener('change', calm);
  calm();
  return {
    node: html('div', { class: 'buttons' }, play, next),
    dispose: () => {
      turn(false);
      still.removeEventListener('change', calm);
    }
  };
}

function sizeSlider(held: DragState<NoisesSet>): Slider {
  return slider({
    label: 'people',
    range: SIZES,
    value: held.now.n,
    ends: ['few people', 'many people'],
    write: value => number(Math.round(value)),
    input: value => held.move({ n: Math.round(value) }),
    change: held.tell
  });
}

function noisesView(root: HTMLElement, link: Link<NoisesFacts, NoisesSet>): View {
  const { epsilon, n, question } = link.facts();
  const first: NoisesSet = { epsilon, n, shape: 'dots' };
  const held = dragState(link, first, () => show(), {
    epsilon: { low: 0.01, high: 10 },
    n: SIZES,
    shape: SHAPES.map(([shape]) => shape)
  });
  const { now } = held;
  let outcome = 0;
  const plot = errorPicture();
  const both = crossingPicture(size => held.move({ n: size }), held.tell);
  const told = figures(
    'as accurate as so many people without privacy noise',
    'people make both noises equal at this ε: n*'
  );
  const said = announcer();
  const [losses, sizes] = [lossSlider(() => held), sizeSlider(held)];
  onAxis(sizes, AXIS);
  const shapes = choice('drawn as', SHAPES, now.shape, shape => {
    held.move({ shape });
    held.tell();
  });
  const another = (): void => {
    outcome = nextOutcome(outcome);
    held.move({});
  };
  // a voice that reads every outcome aloud would never end
  const play = player(another, on => said.setAttribute('aria-live', on ? 'off' : 'polite'));
  root.append(
    head('Two noises', 'Nothing is spent.', question),
    ...[losses, both, sizes, told, shapes, plot].map(one => one.node),
    plot.keys,
    said,
    play.node
  );

  function show(): void {
    const facts = link.facts();
    const [noises, crossing] = [noisesAt(facts, now), crossingOf(facts, now.epsilon)];
    const error = errorOf(noises, outcome);
    const words = sentence(noises, error);
    plot.show(noises, now.shape, error);
    both.show(crossing);
    told.say(`${number(effective(noises))} of ${number(now.n)}`, alikeWords(crossing));
    said.textContent = words;
    plot.describe(words);
    losses.words(lossWords('epsilon', now.epsilon, words));
    sizes.words(`${number(now.n)} people: ${words}`);
    losses.show(now.epsilon);
    sizes.show(now.n);
    shapes.show(now.shape);
  }

  show();
  return {
    update: held.follow,
    dispose: () => {
      play.dispose();
      held.stop();
    }
  };
}

export default widget(noisesView);
