/** Remeasure: drag what you would pay on top; the forecast interval shrinks, and the earlier ones stay as a trail. */
import { combined } from '../maths/budget';
import { widthAt, type Curve } from '../maths/curve';
import { decimalsFor, halfWidth, number, significant, span } from '../maths/digits';
import { announcer, eachFrame, html, picture, set, svg } from './parts/dom';
import { releaseButton } from './parts/release';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface RemeasureFacts {
  readonly name: string;
  readonly question: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  readonly value: number;
  /** The privacy intervals so far, oldest first, and what had been paid until then. */
  readonly trail: readonly { readonly low: number; readonly high: number; readonly paid: string }[];
  readonly curve: Curve;
  readonly left: number;
  readonly problem: string;
}

export interface RemeasureSet {
  loss: number;
}

const [W, ROW, LEFT] = [640, 24, 4];

function draw(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  const first = link.facts();
  const range = { low: first.curve.loss[0]!, high: first.curve.loss.at(-1)! };
  let loss = link.chosen().loss ?? Math.min(Math.max(first.left / 4, range.low), 0.5);
  const rows = first.trail.length + 1;
  const low = Math.min(...first.trail.map(one => one.low));
  const high = Math.max(...first.trail.map(one => one.high));
  const pad = (high - low) * 0.05;
  const x = (value: number): number => LEFT + ((value - low + pad) / (high - low + 2 * pad)) * (W - 2 * LEFT);
  const trail = first.trail.map((one, i) =>
    svg('rect', {
      x: x(one.low),
      width: Math.max(x(one.high) - x(one.low), 2),
      y: i * ROW + 7,
      height: 9,
      class: 'pv',
      opacity: 0.25 + (0.5 * (i + 1)) / rows
    })
  );
  const forecast = svg('rect', {
    y: first.trail.length * ROW + 5,
    height: 13,
    fill: 'none',
    stroke: 'var(--dp-accent)',
    'stroke-width': 2,
    'stroke-dasharray': '5 3'
  });
  const centre = svg('path', { class: 'ink-line', d: `M${x(first.value)} 0V${rows * ROW}` });
  const plot = picture('intervals so far, and the next one', W, rows * ROW, ...trail, forecast, centre);
  const next = html('strong');
  const cost = html('strong');
  const said = announcer();
  const frame = eachFrame(() => show());
  const losses = slider({
    label: `+${first.symbol}`,
    range,
    value: loss,
    ends: ['pay little more', 'pay much more'],
    input: value => {
      loss = value;
      frame.ask();
    },
    change: () => link.choose({ loss })
  });
  const release = releaseButton(() => {
    const { name, kind } = link.facts();
    return `${name} = ${name}.remeasure(${kind}=${significant(loss, 3)})\n${name}`;
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'Measure again'), html('code', {}, first.question)),
      html('span', { class: 'soft' }, 'Nothing is spent by dragging.')
    ),
    plot.node,
    html(
      'p',
      { class: 'soft' },
      `Solid: the ${first.trail.length === 1 ? 'interval' : 'intervals'} so far, oldest on top. Dashed: what to expect.`
    ),
    losses.node,
    html(
      'div',
      { class: 'figures' },
      html('div', {}, next, html('span', { class: 'soft' }, 'expected 95 % privacy interval')),
      html('div', {}, cost, html('span', { class: 'soft' }, 'paid on top'))
    ),
    said,
    html('div', { class: 'buttons' }, release.node)
  );

  function show(): void {
    const facts = link.facts();
    const now = facts.trail.at(-1)!;
    const half = (now.high - now.low) / 2;
    const expected = combined(half, widthAt(facts.curve, loss));
    const middle = (now.high + now.low) / 2;
    set(forecast, {
      x: x(middle - expected),
      width: Math.max(x(middle + expected) - x(middle - expected), 3)
    });
    const fits = loss <= facts.left * (1 + 1e-9);
    next.textContent = `± ${halfWidth(expected)}`;
    cost.textContent = `${facts.symbol} ${significant(loss, 3)}`;
    release.button.disabled = !fits;
    const percent = number(100 * (1 - expected / half), 0);
    const words = fits
      ? `Now ${span(now.low, now.high, decimalsFor([half]))}; the next would be about ${percent} % narrower. Both answers are combined.`
      : `Only ${facts.symbol} ${significant(facts.left, 3)} is left: this would be refused.`;
    said.textContent = words;
    said.className = fits ? 'say' : 'say warn';
    losses.words(`${facts.symbol} ${significant(loss, 3)} more: ± ${halfWidth(expected)}. ${words}`);
    losses.show(loss);
    plot.describe(`± ${halfWidth(half)} now, ± ${halfWidth(expected)} expected`);
  }

  show();
  return {
    update: () => {
      loss = link.chosen().loss ?? loss;
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
