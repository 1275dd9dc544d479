/** Two noises: what privacy adds and what sampling adds; as dots, densities or running totals; and where they cross. */
import { effectiveSize } from '../../maths/budget';
import { halfWidth, number } from '../../maths/digits';
import { cdf, pmf, quantile, variance, type Law } from '../../maths/laws';
import { normalCdf, normalDensity, normalQuantile } from '../../maths/normal';
import { place, ticks, valueAt } from '../../maths/scale';
import { announcer, html, picture, set, svg } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { choice, figures, head, key, text } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';

export interface NoisesFacts {
  readonly question: string;
  /** The share that is estimated; its sampling variance is p(1 − p)/n. */
  readonly share: number;
  readonly n: number;
  readonly epsilon: number;
  /** The noise of the count at ε = 1, in rows. */
  readonly law: Law;
  readonly problem: string;
}

type Shape = 'dots' | 'densities' | 'totals';

export interface NoisesSet {
  epsilon: number;
  n: number;
  shape: Shape;
}

const [W, H, MIDDLE, FLOOR] = [640, 190, 86, 166];
const DOTS = 100;
const SIZES = { low: 10, high: 100_000 };
const POINTS = 500;
const PACE = 700;

/** The n at which both noises are alike: 2/(ε²p(1 − p)) for Laplace noise of scale 1/ε. */
export function crossing(law: Law, epsilon: number, share: number): number {
  return variance({ kind: law.kind, scale: law.scale / epsilon }) / (share * (1 - share));
}

export function noisesView(root: HTMLElement, link: Link<NoisesFacts, NoisesSet>): View {
  const facts = link.facts();
  const first: NoisesSet = { epsilon: facts.epsilon, n: facts.n, shape: 'dots' };
  const held = dragState(link, first, () => show(), {
    epsilon: { low: 0.01, high: 10 },
    n: SIZES,
    shape: ['dots', 'densities', 'totals']
  });
  const { now } = held;
  let outcome = 0;

  const mark = { 'stroke-width': 7, fill: 'none' };
  const sampling = svg('path', { ...mark, 'stroke-linecap': 'round', stroke: 'var(--ink)' });
  const privacy = svg('path', { ...mark, 'stroke-width': 5.6, stroke: 'var(--dp-accent)' });
  const one = svg('path', { class: 'ink-line', 'stroke-dasharray': '5 3' });
  const two = svg('path', { class: 'pv-line' });
  const shown = svg('path', { class: 'soft-line', 'stroke-width': 2.5 });
  const scale = svg('g');
  const plot = picture('two noises', W, H, scale, sampling, privacy, one, two, shown);

  // both noises against n, on log-log paper: two straight lines that cross at n*
  const CROSS = { top: 8, floor: 96, height: 118 };
  const across = (n: number): number => place(SIZES, n) * W;
  const lineOne = svg('path', { class: 'ink-line', 'stroke-dasharray': '5 3' });
  const lineTwo = svg('path', { class: 'pv-line' });
  const star = svg('path', { class: 'soft-line' });
  const sizeAxis = svg('g');
  const here = svg('circle', { class: 'handle', r: 7, cy: CROSS.floor });
  const both = picture(
    'both noises by number of people',
    W,
    CROSS.height,
    sizeAxis,
    lineOne,
    lineTwo,
    star,
    here
  );

  const told = figures(
    'as accurate as so many people without privacy noise',
    'people make both noises alike at this ε: n*'
  );
  const said = announcer();
  const losses = lossSlider(() => held);
  const sizes = slider({
    label: 'people',
    range: SIZES,
    value: now.n,
    ends: ['10', '100,000'],
    write: value => number(Math.round(value)),
    input: value => held.move({ n: Math.round(value) }),
    change: held.tell
  });
  const shapes = choice(
    'drawn as',
    [
      ['dots', '100 equally likely errors each'],
      ['densities', 'densities'],
      ['totals', 'shares of errors below (CDF)']
    ],
    now.shape,
    shape => {
      held.move({ shape });
      held.tell();
    }
  );
  const another = (): void => {
    outcome = (outcome + 37) % DOTS;
    held.move({});
  };
  const next = html('button', { type: 'button' }, 'Show another outcome');
  next.addEventListener('click', another);
  const play = html('button', { type: 'button', 'aria-pressed': 'false' }, 'Play outcomes');
  let timer = 0;
  const playing = (on: boolean): void => {
    clearInterval(timer);
    timer = on ? window.setInterval(another, PACE) : 0;
    play.textContent = on ? 'Stop' : 'Play outcomes';
    play.setAttribute('aria-pressed', String(on));
    // a voice that reads every outcome aloud would never end
    said.setAttribute('aria-live', on ? 'off' : 'polite');
  };
  play.addEventListener('click', () => playing(timer === 0));
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  const calm = (): void => {
    play.hidden = still.matches;
    if (still.matches) {
      playing(false);
    }
  };
  still.addEventListener('change', calm);
  calm();

  const keys = html('div');
  root.append(
    head('Two noises', 'Nothing is spent.', facts.question),
    losses.node,
    sizes.node,
    both.node,
    told.node,
    shapes.node,
    plot.node,
    keys,
    said,
    html('div', { class: 'buttons' }, play, next)
  );

  /** A stack of dots: each error falls into a column, and columns grow away from the middle line. */
  function stack(errors: readonly number[], reach: number, up: boolean): string {
    const columns = errors.map(error =>
      Math.round((Math.min(Math.max(error / reach, -1), 1) * (W - 20)) / 2 / 8)
    );
    const heights = new Map<number, number>();
    for (const column of columns) {
      heights.set(column, (heights.get(column) ?? 0) + 1);
    }
    const gap = Math.min(7.4, (MIDDLE - 8) / Math.max(...heights.values()));
    heights.clear();
    let path = '';
    for (const column of columns) {
      const height = (heights.get(column) ?? 0) + 1;
      heights.set(column, height);
      const y = up ? MIDDLE - 4 - height * gap : MIDDLE + 4 + height * gap;
      path += up
        ? `M${W / 2 + column * 8} ${y.toFixed(1)}h0`
        : `M${W / 2 + column * 8 - 2.8} ${y.toFixed(1)}h5.6`;
    }
    return path;
  }

  const at = (error: number, reach: number): number =>
    W / 2 + (Math.min(Math.max(error / reach, -1), 1) * (W - 20)) / 2;

  /** A curve of 500 points over the errors that are drawn. */
  function curve(reach: number, height: (error: number) => number): string {
    let path = '';
    for (let i = 0; i <= POINTS; i++) {
      const error = reach * ((2 * i) / POINTS - 1);
      path += `${i === 0 ? 'M' : 'L'}${at(error, reach).toFixed(1)} ${(FLOOR - (FLOOR - 12) * height(error)).toFixed(1)}`;
    }
    return path;
  }

  function drawShapes(
    noise: Law,
    sd: number,
    drawn: readonly number[],
    added: readonly number[],
    reach: number
  ): void {
    const dots = now.shape === 'dots';
    set(sampling, { d: dots ? stack(drawn, reach, true) : '' });
    set(privacy, { d: dots ? stack(added, reach, false) : '' });
    if (dots) {
      set(one, { d: '' });
      set(two, { d: '' });
    } else if (now.shape === 'densities') {
      // a law on whole rows as a density of the share: its mass at the row, n rows to one
      const high = Math.max(normalDensity(0) / sd, pmf(noise, 0) * now.n);
      set(one, { d: curve(reach, error => normalDensity(error / sd) / sd / high) });
      set(two, { d: curve(reach, error => (pmf(noise, Math.round(error * now.n)) * now.n) / high) });
    } else {
      set(one, { d: curve(reach, error => normalCdf(error / sd)) });
      set(two, { d: curve(reach, error => cdf(noise, Math.floor(error * now.n + 1e-9))) });
    }
    const base = dots ? MIDDLE : FLOOR;
    scale.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${base}H${W}M${W / 2} 0V${FLOOR}` }),
      text(10, H - 6, `−${halfWidth(reach)}`, 'start'),
      text(W / 2, H - 6, 'the truth'),
      text(W - 10, H - 6, `+${halfWidth(reach)}`, 'end')
    );
    keys.replaceChildren(
      dots
        ? key(['k', 'above: sampling'], ['p', 'below: privacy'])
        : key(['k', 'dashed: sampling'], ['p', 'solid: privacy'])
    );
  }

  function drawCrossing(law: Law, share: number): void {
    const spread = (n: number): number => Math.sqrt((share * (1 - share)) / n);
    const noise = Math.sqrt(variance({ kind: law.kind, scale: law.scale / now.epsilon }));
    const [from, to] = [SIZES.low, SIZES.high];
    const tall = {
      low: Math.min(spread(to), noise / to),
      high: Math.max(spread(from), noise / from)
    };
    const y = (value: number): number => CROSS.top + (1 - place(tall, value)) * (CROSS.floor - CROSS.top);
    set(lineOne, { d: `M0 ${y(spread(from))}L${W} ${y(spread(to))}` });
    set(lineTwo, { d: `M0 ${y(noise / from)}L${W} ${y(noise / to)}` });
    const alike = crossing(law, now.epsilon, share);
    const inside = alike >= from && alike <= to;
    const x = across(Math.min(Math.max(alike, from), to));
    set(star, { d: inside ? `M${x} ${CROSS.top}V${CROSS.floor}` : '' });
    set(here, { cx: across(now.n) });
    sizeAxis.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${CROSS.floor}H${W}` }),
      ...ticks(SIZES)
        .filter(tick => /^10*$/.test(String(tick)))
        .map((tick, i, all) =>
          text(
            across(tick),
            CROSS.height - 4,
            number(tick),
            i === 0 ? 'start' : i === all.length - 1 ? 'end' : 'middle'
          )
        ),
      ...(inside
        ? [
            text(
              x + (x > W * 0.8 ? -6 : 6),
              CROSS.top + 8,
              `alike: n* = ${number(Math.ceil(alike))}`,
              x > W * 0.8 ? 'end' : 'start'
            )
          ]
        : [])
    );
    both.describe(
      `sampling noise falls with the root of n, privacy noise with n: they are alike at ${number(Math.ceil(alike))} people`
    );
  }

  function show(): void {
    const { law, share } = link.facts();
    const noise: Law = { kind: law.kind, scale: law.scale / now.epsilon };
    const levels = Array.from({ length: DOTS }, (_, i) => (i + 0.5) / DOTS);
    const sd = Math.sqrt((share * (1 - share)) / now.n);
    const drawn = levels.map(level => sd * normalQuantile(level));
    const added = levels.map(level => quantile(noise, level) / now.n);
    const reach = Math.max(drawn.at(-1)!, added.at(-1)!) * 1.05;
    drawShapes(noise, sd, drawn, added, reach);
    drawCrossing(law, share);
    // one hypothetical release: an error of each kind, added
    const error = drawn[(outcome * 61 + 13) % DOTS]! + added[outcome]!;
    set(shown, { d: `M${at(error, reach).toFixed(1)} 0V${FLOOR}` });
    const extra = variance(noise) / (now.n * now.n);
    const effective = Math.floor(effectiveSize(now.n, sd * sd, extra));
    told.say(
      `${number(effective)} of ${number(now.n)}`,
      number(Math.ceil(crossing(law, now.epsilon, share)))
    );
    const larger = extra > sd * sd ? 'privacy noise is the larger' : 'sampling noise is the larger';
    const words =
      `Sampling alone is off by about ± ${halfWidth(1.96 * sd)}, privacy alone by about ± ${halfWidth(Math.max(added[97]!, 1e-12))}: ` +
      `${larger}. This hypothetical release is off by ${error < 0 ? '−' : '+'}${halfWidth(Math.abs(error) || sd)}.`;
    said.textContent = words;
    plot.describe(words);
    losses.words(lossWords('epsilon', now.epsilon, words));
    sizes.words(`${number(now.n)} people: ${words}`);
    losses.show(now.epsilon);
    sizes.show(now.n);
    shapes.show(now.shape);
  }

  draggable(both.node, {
    move: x => held.move({ n: Math.round(valueAt(SIZES, x / W)) }),
    end: held.tell
  });

  show();
  return {
    update: held.follow,
    dispose: () => {
      playing(false);
      still.removeEventListener('change', calm);
      held.stop();
    }
  };
}
