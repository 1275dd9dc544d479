/** ε ↔ ±: drag either, the other follows. Moving them spends nothing. */
import { lossFor, widthAt, type Curve } from '../maths/curve';
import { halfWidth, number, significant } from '../maths/digits';
import { tailRadius, type Law } from '../maths/laws';
import { place, ticks, valueAt } from '../maths/scale';
import { announcer, eachFrame, html, picture, set, svg, unique } from './parts/dom';
import { oddsWords } from './parts/odds_words';
import { draggable } from './parts/pointer';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface SeesawFacts {
  readonly question: string;
  readonly dataset: string;
  readonly symbol: 'ε' | 'ρ';
  readonly kind: 'epsilon' | 'rho';
  readonly curve: Curve;
  /** Where the noise is one law: its scale (or σ) at a loss of 1. */
  readonly law: (Law & { readonly unit: number }) | null;
  readonly unit: string;
  readonly left: number;
  readonly size: { readonly planned: number | null; readonly asked: boolean };
  readonly start: number;
  /** The whole public range of the answer, for comparison. */
  readonly domain: readonly [number, number];
  readonly problem: string;
}

export interface SeesawSet {
  loss: number;
  size: number;
}

const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 190, 64, 14, 12, 30];

/** The half-width at a loss: exact where the law is known, read from the priced curve elsewhere. */
export function widthOf(facts: SeesawFacts, loss: number): number {
  if (facts.law === null) {
    return widthAt(facts.curve, loss);
  }
  const shrink = facts.kind === 'epsilon' ? loss : Math.sqrt(loss);
  return facts.law.unit * tailRadius({ kind: facts.law.kind, scale: facts.law.scale / shrink }, 0.05);
}

function draw(root: HTMLElement, link: Link<SeesawFacts, SeesawSet>): View {
  const first = link.facts();
  const range = { low: first.curve.loss[0]!, high: first.curve.loss.at(-1)! };
  let loss = link.chosen().loss ?? first.start;

  // the plot: both axes logarithmic
  const x = (value: number): number => LEFT + place(range, value) * (W - LEFT - RIGHT);
  let tall = { low: 1, high: 10 };
  const y = (width: number): number => TOP + (1 - place(tall, width)) * (H - TOP - BOTTOM);
  const hatchId = unique('hatch');
  const over = svg('rect', { y: TOP, height: H - TOP - BOTTOM, fill: `url(#${hatchId})` });
  const grid = svg('g');
  const line = svg('path', { class: 'pv-line' });
  const cross = svg('path', { class: 'axis', 'stroke-dasharray': '3 3' });
  const point = svg('circle', { class: 'handle', r: 8 });
  const hatch = svg(
    'defs',
    {},
    svg(
      'pattern',
      {
        id: hatchId,
        width: 7,
        height: 7,
        patternUnits: 'userSpaceOnUse',
        patternTransform: 'rotate(45)'
      },
      svg('path', { d: 'M0 0V7', class: 'hatch' })
    )
  );
  const plot = picture('accuracy bought by each loss', W, H, hatch, over, grid, cross, line, point);

  const written = (value: number): string =>
    first.law === null ? halfWidth(value) : number(Math.round(value));
  const named = (value: number): string => `± ${written(value)}${first.unit === '' ? '' : ` ${first.unit}`}`;
  const narrowest = (): number => {
    const { curve, law } = link.facts();
    return law === null ? Math.max(curve.width.at(-1)!, curve.width[0]! * 1e-6) : law.unit;
  };
  const interval = html('strong');
  const cost = html('strong');
  const costNote = html('span', { class: 'soft' });
  const odds = announcer();
  const problem = html('p', { class: 'warn', role: 'status' });

  const settled = (): void => link.choose({ loss });
  const frame = eachFrame(() => show());
  const losses = slider({
    label: first.symbol,
    range,
    value: loss,
    ends: ['more private', 'more accurate'],
    input: value => {
      loss = value;
      frame.ask();
    },
    change: settled
  });
  const widths = slider({
    label: '±',
    range: { low: narrowest(), high: first.curve.width[0]! },
    value: widthOf(first, loss),
    ends: ['wider', 'narrower'],
    reversed: true,
    write: written,
    input: value => {
      loss = lossFor(link.facts().curve, value) ?? range.high;
      loss = Number(loss.toPrecision(3));
      frame.ask();
    },
    change: settled
  });
  const size = html('input', {
    type: 'text',
    inputmode: 'numeric',
    'aria-label': 'number of people to plan with'
  });
  const sizeLine = html(
    'p',
    { class: 'soft say' },
    'planned for ',
    size,
    ' people: the true number is private'
  );
  const plan = (): void => {
    const typed = Number(size.value.trim().replaceAll(',', ''));
    const good = Number.isInteger(typed) && typed > 0;
    set(size, { 'aria-invalid': good ? null : 'true' });
    problem.textContent = good ? '' : 'The number of people is a whole number above 0.';
    if (good) {
      link.choose({ size: typed });
    }
  };
  size.addEventListener('change', plan);
  size.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      plan();
    }
  });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'What accuracy costs'), html('code', {}, first.question)),
      html('span', { class: 'soft' }, 'Nothing is spent.')
    ),
    plot.node,
    losses.node,
    widths.node,
    html(
      'div',
      { class: 'figures' },
      html('div', {}, interval, html('span', { class: 'soft' }, '95 % privacy interval')),
      html('div', {}, cost, costNote)
    ),
    odds,
    sizeLine,
    problem
  );

  function axes(): void {
    const { curve } = link.facts();
    tall = { low: narrowest() * 0.8, high: curve.width[0]! };
    grid.replaceChildren(
      svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${H - BOTTOM}H${W - RIGHT}` }),
      ...ticks(range)
        .filter(tick => /^[0.]*1/.test(String(tick)))
        .map(tick =>
          svg('text', { x: x(tick), y: H - 12, 'text-anchor': 'middle' }, `${first.symbol} ${tick}`)
        ),
      ...ticks(tall)
        .filter(tick => /^[0.]*1|^1/.test(significant(tick, 1)))
        .map(tick => svg('text', { x: LEFT - 6, y: y(tick) + 4, 'text-anchor': 'end' }, number(tick)))
    );
    const { left } = link.facts();
    const from = left >= range.high ? W - RIGHT : x(Math.max(left, range.low));
    set(over, { x: from, width: Math.max(W - RIGHT - from, 0) });
    let path = '';
    for (let i = 0; i <= 500; i++) {
      const at = range.low * (range.high / range.low) ** (i / 500);
      path += `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(widthOf(link.facts(), at)).toFixed(1)}`;
    }
    set(line, { d: path });
    const { planned, asked } = link.facts().size;
    sizeLine.hidden = !asked;
    if (document.activeElement !== size) {
      size.value = planned === null ? '' : number(planned);
    }
    problem.textContent = link.facts().problem;
  }

  function show(): void {
    const facts = link.facts();
    const width = widthOf(facts, loss);
    set(point, { cx: x(loss), cy: y(width) });
    set(cross, { d: `M${LEFT} ${y(width)}H${x(loss)}V${H - BOTTOM}` });
    losses.show(loss);
    widths.show(width);
    const fits = loss <= facts.left * (1 + 1e-9);
    const rest = Math.max(facts.left - loss, 0);
    interval.textContent = named(width);
    cost.textContent = `${facts.symbol} ${significant(loss, 3)}`;
    costNote.textContent = fits
      ? `${facts.symbol} ${significant(rest, 3)} would be left in ${facts.dataset}`
      : `only ${facts.symbol} ${significant(facts.left, 3)} is left: this would be refused`;
    costNote.className = fits ? 'soft' : 'warn';
    const words = oddsWords(facts.kind, loss);
    odds.textContent = words;
    losses.words(`${facts.symbol} ${significant(loss, 3)}: ${named(width)}. ${words}`);
    widths.words(`${named(width)} costs ${facts.symbol} ${significant(loss, 3)}`);
    plot.describe(`${named(width)} at ${facts.symbol} ${significant(loss, 3)}`);
  }

  draggable(plot.node, {
    move: at => {
      loss = valueAt(range, (at - LEFT) / (W - LEFT - RIGHT));
      frame.ask();
    },
    end: settled
  });

  axes();
  show();
  return {
    update: () => {
      loss = link.chosen().loss ?? loss;
      axes();
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
