/** Clamp handles: drag two bounds over public values; bias falls and noise grows with the room between them. */
import { errors, sorted } from '../../maths/clamp';
import { widthAt, type Curve } from '../../maths/curve';
import { halfWidth, number, significant } from '../../maths/digits';
import { announcer, html, picture, set, svg } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { figures, handle, head, key, text } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';

export interface ClampFacts {
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly epsilon: number;
  /** The sd of the noise on the mean at ε = 1, for bounds one unit apart: as the price states it. */
  readonly noise: number;
  /** A protected column has its declared bounds and the price of its mean, and no values. */
  readonly declared: null | {
    readonly question: string;
    readonly symbol: 'ε' | 'ρ';
    readonly curve: Curve;
    readonly size: number | null;
  };
  readonly problem: string;
}

export interface ClampSet {
  low: number;
  high: number;
  epsilon: number;
}

const [W, H, FLOOR, BINS] = [640, 160, 132, 60];
const VALLEY = { height: 92, top: 8, floor: 66 };
const OUTSIDE =
  'You set bounds from outside knowledge, before you look: bounds taken from protected values would be a release.';

/** The upper bounds of a valley, and the typical error at each, for a lower bound that stands. */
export function valley(
  error: (high: number) => number,
  from: number,
  to: number,
  points: number
): { readonly at: readonly number[]; readonly error: readonly number[]; readonly best: number } {
  const at = Array.from({ length: points }, (_, i) => from + ((to - from) * i) / (points - 1));
  const found = at.map(error);
  return { at, error: found, best: found.indexOf(Math.min(...found)) };
}

export function clampView(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  return link.facts().declared === null ? handles(root, link) : declared(root, link);
}

function handles(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  const facts = link.facts();
  const data = sorted(facts.values);
  const [least, most] = [data.values[0]!, data.values.at(-1)!];
  const room = (most - least || 1) * 0.05;
  const [from, to] = [Math.min(least, facts.low) - room, Math.max(most, facts.high) + room];
  const all = { low: from, high: to };
  const gap = (to - from) / 100;
  const first: ClampSet = { low: facts.low, high: facts.high, epsilon: facts.epsilon };
  const held = dragState(link, first, () => show(), {
    low: all,
    high: all,
    epsilon: { low: 0.01, high: 10 }
  });
  const { now } = held;
  const x = (value: number): number => ((value - from) / (to - from)) * W;

  const counts = new Array<number>(BINS).fill(0);
  for (const value of data.values) {
    const bin = Math.min(Math.floor(((value - from) / (to - from)) * BINS), BINS - 1);
    counts[bin] = counts[bin]! + 1;
  }
  const tallest = Math.max(...counts);
  const column = (count: number, i: number): string =>
    `M${(i * W) / BINS} ${FLOOR}v${(-count / tallest) * (FLOOR - 12)}h${W / BINS - 1}V${FLOOR}Z`;
  const bars = svg('path', { class: 'used', opacity: 0.55, d: counts.map(column).join('') });
  const out = svg('path', { fill: 'var(--page)', opacity: 0.7 });
  const lines = svg('path', { class: 'pv-line' });
  const thumbs = {
    low: handle('lower bound', across => nudge('low', across)),
    high: handle('upper bound', across => nudge('high', across))
  };
  const labels = svg('g');
  const plot = picture(
    'public values and two bounds',
    W,
    H,
    bars,
    out,
    lines,
    labels,
    thumbs.low,
    thumbs.high
  );

  const curve = svg('path', { class: 'ink-line' });
  const here = svg('circle', { class: 'pv', r: 6 });
  const lowest = svg('path', { class: 'soft-line', 'stroke-dasharray': '3 3' });
  const notes = svg('g');
  const dale = picture('typical error by upper bound', W, VALLEY.height, curve, lowest, here, notes);

  const told = figures('bias from clamping', 'noise, sd', 'typical error of the mean');
  const biased = svg('path', { class: 'used' });
  const noisy = svg('path', { class: 'pv' });
  const share = picture('bias and noise', W, 26, biased, noisy);
  const said = announcer();
  const losses = lossSlider(() => held);

  root.append(
    head('Where to clamp', `${number(data.values.length)} public or simulated values`),
    plot.node,
    told.node,
    share.node,
    key(['', 'bias'], ['p', 'noise']),
    html('h4', { class: 'say' }, 'Typical error, if the upper bound stood elsewhere'),
    dale.node,
    losses.node,
    said,
    html('p', { class: 'soft' }, OUTSIDE)
  );

  function drawValley(): void {
    const noise = link.facts().noise / now.epsilon;
    const error = (high: number): number => errors(data, now.low, high, noise).rmse;
    const found = valley(error, now.low + gap, to, 160);
    const least = found.error[found.best]!;
    const current = error(now.high);
    // the walls of the valley are cut off, so that its floor is seen
    const most = Math.max(Math.min(Math.max(...found.error), 6 * least), current, 1e-300);
    const y = (value: number): number =>
      VALLEY.floor - (Math.min(value, most) / most) * (VALLEY.floor - VALLEY.top);
    set(curve, {
      d: found.at
        .map((at, i) => `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(found.error[i]!).toFixed(1)}`)
        .join('')
    });
    const best = found.at[found.best]!;
    set(here, { cx: x(now.high), cy: y(current) });
    set(lowest, { d: `M${x(best)} ${y(least)}V${VALLEY.floor + 6}` });
    const side = x(best) > W * 0.7 ? 'end' : x(best) < W * 0.3 ? 'start' : 'middle';
    notes.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${VALLEY.floor}H${W}` }),
      text(x(best), VALLEY.height - 6, `least at ${significant(best, 3)}: ${halfWidth(least)}`, side)
    );
    dale.describe(
      `with the lower bound at ${significant(now.low, 3)} the typical error is least, ${halfWidth(least)}, ` +
        `for an upper bound of ${significant(best, 3)}`
    );
  }

  function show(): void {
    if (!(now.low < now.high)) {
      Object.assign(now, { low: facts.low, high: facts.high }); // two views may each have set one of them
    }
    const found = errors(data, now.low, now.high, link.facts().noise / now.epsilon);
    const [a, b] = [x(now.low), x(now.high)];
    set(out, { d: `M0 0H${a}V${FLOOR}H0ZM${b} 0H${W}V${FLOOR}H${b}Z` });
    set(lines, { d: `M${a} 4V${FLOOR}M${b} 4V${FLOOR}` });
    for (const name of ['low', 'high'] as const) {
      set(thumbs[name], {
        cx: x(now[name]),
        cy: FLOOR,
        'aria-valuemin': from,
        'aria-valuemax': to,
        'aria-valuenow': now[name],
        'aria-valuetext': `at ${number(now[name])}: typical error ${halfWidth(found.rmse)}`
      });
    }
    const near = b - a < 60;
    labels.replaceChildren(
      text(a, H - 4, significant(now.low, 3), near ? 'end' : 'middle'),
      text(b, H - 4, significant(now.high, 3), near ? 'start' : 'middle')
    );
    const bias = found.bias === 0 ? '0' : `${found.bias < 0 ? '−' : '+'}${halfWidth(Math.abs(found.bias))}`;
    told.say(bias, halfWidth(found.noise), halfWidth(found.rmse));
    const longest = Math.max(Math.abs(found.bias), found.noise) || 1;
    set(biased, { d: `M0 1H${(Math.abs(found.bias) / longest) * W}V11H0Z` });
    set(noisy, { d: `M0 15H${(found.noise / longest) * W}V25H0Z` });
    const cut = facts.values.filter(value => value < now.low || value > now.high).length;
    const words =
      `${number(cut)} of ${number(facts.values.length)} values are clamped. ` +
      (Math.abs(found.bias) > found.noise
        ? 'Bias is the larger: move the bounds apart.'
        : 'Noise is the larger: tighter bounds would add less.');
    said.textContent = words;
    plot.describe(words);
    share.describe(`bias ${bias}, noise ${halfWidth(found.noise)}`);
    losses.words(lossWords('epsilon', now.epsilon, `typical error ${halfWidth(found.rmse)}`));
    losses.show(now.epsilon);
    drawValley();
  }

  let grabbed: 'low' | 'high' = 'low';
  function move(name: 'low' | 'high', value: number): void {
    held.move(
      name === 'low'
        ? { low: Math.min(Math.max(value, from), now.high - gap) }
        : { high: Math.max(Math.min(value, to), now.low + gap) }
    );
  }
  function nudge(name: 'low' | 'high', across: number): void {
    move(name, now[name] + across * gap);
    held.tell();
  }
  draggable(plot.node, {
    start: at => {
      grabbed = Math.abs(at - x(now.low)) <= Math.abs(at - x(now.high)) ? 'low' : 'high';
      return Math.min(Math.abs(at - x(now.low)), Math.abs(at - x(now.high))) < 30;
    },
    move: at => move(grabbed, from + (at / W) * (to - from)),
    end: held.tell
  });

  show();
  return { update: held.follow, dispose: held.stop };
}

/** A protected column: its declared bounds, which stand, and what they cost. */
function declared(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  const facts = link.facts();
  const { question, symbol, curve, size } = facts.declared!;
  const range = { low: curve.loss[0]!, high: curve.loss.at(-1)! };
  const held = dragState(link, { epsilon: facts.epsilon }, () => show(), { epsilon: range });
  const [a, b] = [W * 0.12, W * 0.88];
  const plot = picture(
    'declared bounds',
    W,
    86,
    svg('path', { class: 'axis', d: `M0 50H${W}` }),
    svg('path', { class: 'ink-line', 'stroke-width': 3, d: `M${a} 30V62M${b} 30V62M${a} 46H${b}` }),
    text(a, 80, number(facts.low)),
    text(b, 80, number(facts.high)),
    text(W / 2, 36, 'declared by the owner; the values are not drawn')
  );
  const told = figures('95 % privacy interval of the mean', 'bias from clamping');
  const losses = slider({
    label: symbol,
    range,
    value: held.now.epsilon,
    ends: ['more private', 'more accurate'],
    input: epsilon => held.move({ epsilon }),
    change: held.tell
  });
  const planned = size === null ? '' : ` Planned for ${number(size)} people: the true number is private.`;
  root.append(
    head('Where to clamp', 'protected: declared bounds alone', question),
    plot.node,
    losses.node,
    told.node,
    html('p', { class: 'say' }, `Values outside count as the bound.${planned}`),
    html('p', { class: 'soft' }, OUTSIDE)
  );
  function show(): void {
    const { epsilon } = held.now;
    const words = `± ${halfWidth(widthAt(curve, epsilon))}`;
    told.say(words, 'not known');
    losses.words(lossWords(symbol === 'ρ' ? 'rho' : 'epsilon', epsilon, words));
    losses.show(epsilon);
    plot.describe(`${number(facts.low)} to ${number(facts.high)}`);
  }
  show();
  return { update: held.follow, dispose: held.stop };
}
