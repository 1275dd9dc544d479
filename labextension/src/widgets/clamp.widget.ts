/** Clamp handles: drag two bounds over public values; bias falls and noise grows with the room between them. */
import { errors, sorted } from '../maths/clamp';
import { halfWidth, number, significant } from '../maths/digits';
import { announcer, eachFrame, html, picture, set, svg } from './parts/dom';
import { draggable } from './parts/pointer';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface ClampFacts {
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly epsilon: number;
  /** The sd of the noise on the mean at ε = 1, for bounds one unit apart: as the price states it. */
  readonly noise: number;
  readonly problem: string;
}

export interface ClampSet {
  low: number;
  high: number;
  epsilon: number;
}

const [W, H, FLOOR, BINS] = [640, 170, 140, 60];

function draw(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  const facts = link.facts();
  const data = sorted(facts.values);
  const [least, most] = [data.values[0]!, data.values.at(-1)!];
  const room = (most - least || 1) * 0.05;
  const [from, to] = [Math.min(least, facts.low) - room, Math.max(most, facts.high) + room];
  let { low, high, epsilon } = { low: facts.low, high: facts.high, epsilon: facts.epsilon, ...link.chosen() };
  const x = (value: number): number => ((value - from) / (to - from)) * W;
  const gap = (to - from) / 100;

  const counts = new Array<number>(BINS).fill(0);
  for (const value of data.values) {
    const bin = Math.min(Math.floor(((value - from) / (to - from)) * BINS), BINS - 1);
    counts[bin] = counts[bin]! + 1;
  }
  const tallest = Math.max(...counts);
  const bars = svg('path', {
    class: 'used',
    opacity: 0.55,
    d: counts
      .map(
        (count, i) =>
          `M${(i * W) / BINS} ${FLOOR}v${(-count / tallest) * (FLOOR - 12)}h${W / BINS - 1}V${FLOOR}Z`
      )
      .join('')
  });
  const out = svg('path', { fill: 'var(--page)', opacity: 0.7 });
  const lines = svg('path', { class: 'pv-line' });
  const handle = (name: string): SVGCircleElement =>
    svg('circle', { class: 'handle', r: 9, cy: FLOOR, tabindex: 0, role: 'slider', 'aria-label': name });
  const handles = { low: handle('lower bound'), high: handle('upper bound') };
  const labels = svg('g');
  const plot = picture(
    'public values and two bounds',
    W,
    H,
    bars,
    out,
    lines,
    labels,
    handles.low,
    handles.high
  );

  const figures = ['bias from clamping', 'noise, sd', 'typical error of the mean'].map(words => {
    const figure = html('strong');
    return { figure, node: html('div', {}, figure, html('span', { class: 'soft' }, words)) };
  });
  const parts = svg('path', { class: 'used' });
  const noisy = svg('path', { class: 'pv' });
  const share = picture('bias and noise', W, 14, parts, noisy);
  const said = announcer();
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ low, high, epsilon });
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

  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, 'Where to clamp'),
      html('span', { class: 'soft' }, 'public values: on protected data bounds come from outside knowledge')
    ),
    plot.node,
    html('div', { class: 'figures' }, ...figures.map(one => one.node)),
    share.node,
    html(
      'p',
      { class: 'key' },
      html('span', { class: 'k' }, html('i'), 'bias'),
      html('span', { class: 'p' }, html('i'), 'noise')
    ),
    losses.node,
    said
  );

  function show(): void {
    const { noise } = link.facts();
    const found = errors(data, low, high, noise / epsilon);
    set(out, { d: `M0 0H${x(low)}V${FLOOR}H0ZM${x(high)} 0H${W}V${FLOOR}H${x(high)}Z` });
    set(lines, { d: `M${x(low)} 4V${FLOOR}M${x(high)} 4V${FLOOR}` });
    for (const [name, value] of [
      ['low', low],
      ['high', high]
    ] as const) {
      set(handles[name], {
        cx: x(value),
        'aria-valuemin': from,
        'aria-valuemax': to,
        'aria-valuenow': value,
        'aria-valuetext': `at ${number(value)}: typical error ${halfWidth(found.rmse)}`
      });
    }
    labels.replaceChildren(
      svg('text', { x: x(low), y: H - 4, 'text-anchor': 'middle' }, significant(low, 3)),
      svg('text', { x: x(high), y: H - 4, 'text-anchor': 'middle' }, significant(high, 3))
    );
    const sign = found.bias < 0 ? '−' : '+';
    [
      found.bias === 0 ? '0' : `${sign}${halfWidth(Math.abs(found.bias))}`,
      halfWidth(found.noise),
      halfWidth(found.rmse)
    ].forEach((text, i) => {
      figures[i]!.figure.textContent = text;
    });
    const whole = Math.abs(found.bias) + found.noise || 1;
    const edge = (Math.abs(found.bias) / whole) * W;
    set(parts, { d: `M0 0H${edge}V12H0Z` });
    set(noisy, { d: `M${edge} 0H${W}V12H${edge}Z` });
    const cut = facts.values.filter(value => value < low || value > high).length;
    const words =
      `${number(cut)} of ${number(facts.values.length)} values are clamped. ` +
      (Math.abs(found.bias) > found.noise
        ? 'Bias is the larger: move the bounds apart.'
        : 'Noise is the larger: tighter bounds would add less.');
    said.textContent = words;
    plot.describe(words);
    share.describe(`bias ${figures[0]!.figure.textContent}, noise ${figures[1]!.figure.textContent}`);
    losses.words(`ε ${significant(epsilon, 3)}: typical error ${halfWidth(found.rmse)}`);
    losses.show(epsilon);
  }

  let held: 'low' | 'high' = 'low';
  const move = (value: number): void => {
    if (held === 'low') {
      low = Math.min(Math.max(value, from), high - gap);
    } else {
      high = Math.max(Math.min(value, to), low + gap);
    }
    frame.ask();
  };
  draggable(plot.node, {
    start: at => {
      held = Math.abs(at - x(low)) <= Math.abs(at - x(high)) ? 'low' : 'high';
      return Math.min(Math.abs(at - x(low)), Math.abs(at - x(high))) < 30;
    },
    move: at => move(from + (at / W) * (to - from)),
    end: tell
  });
  for (const name of ['low', 'high'] as const) {
    handles[name].addEventListener('keydown', event => {
      const ways: Record<string, number> = {
        ArrowRight: gap,
        ArrowUp: gap,
        ArrowLeft: -gap,
        ArrowDown: -gap
      };
      const way = ways[event.key];
      if (way !== undefined) {
        event.preventDefault();
        held = name;
        move((name === 'low' ? low : high) + way);
        tell();
      }
    });
  }

  show();
  return {
    update: () => {
      ({ low, high, epsilon } = { low, high, epsilon, ...link.chosen() });
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
