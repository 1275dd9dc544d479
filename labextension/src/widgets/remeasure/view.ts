/** Remeasure: drag what you would pay on top; the forecast interval shrinks, and the earlier ones stay as a trail. */
import { combined } from '../../maths/budget';
import { lossFor, widthAt, type Curve } from '../../maths/curve';
import { decimalsFor, halfWidth, number, significant, span } from '../../maths/digits';
import { announcer, eachFrame, html, picture, set, svg } from '../parts/dom';
import { lossWords, oddsWords } from '../parts/loss_words';
import { draggable } from '../parts/pointer';
import { releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';

export interface RemeasureFacts {
  readonly name: string;
  readonly question: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  readonly value: number;
  /** Which entry of a vector is drawn: its widest one. Empty for a single number. */
  readonly entry?: string;
  /** The privacy intervals so far, oldest first, and what had been paid until then. */
  readonly trail: readonly { readonly low: number; readonly high: number; readonly paid: string }[];
  readonly curve: Curve;
  readonly left: number;
  /** What was paid for all of it together, in the measure that is dragged. */
  readonly paid: number;
  readonly problem: string;
}

export interface RemeasureSet {
  loss: number;
}

const [ROW, LEFT, RIGHT] = [26, 96, 10];
const NARROWEST = 220;
const numbers = (x: unknown): boolean => Array.isArray(x) && x.length > 1 && x.every(Number.isFinite);

/** Whether an answer of the kernel can be drawn. */
export function isFacts(x: unknown): x is RemeasureFacts {
  const found = x as Partial<RemeasureFacts> | null;
  return (
    typeof found === 'object' &&
    found !== null &&
    typeof found.name === 'string' &&
    (found.kind === 'epsilon' || found.kind === 'rho') &&
    [found.left, found.paid, found.value].every(Number.isFinite) &&
    numbers(found.curve?.loss) &&
    numbers(found.curve?.width) &&
    found.curve?.loss.length === found.curve?.width.length &&
    Array.isArray(found.trail) &&
    found.trail.length > 0 &&
    (found.trail as RemeasureFacts['trail']).every(
      one => Number.isFinite(one.low) && Number.isFinite(one.high)
    )
  );
}

/** The picture, in pixels: the intervals so far, oldest on top and faintest, and below them the next one, dashed. */
function trailOf(facts: RemeasureFacts, W: number) {
  const rows = facts.trail.length + 1;
  const low = Math.min(...facts.trail.map(one => one.low));
  const high = Math.max(...facts.trail.map(one => one.high));
  const pad = (high - low) * 0.04 || 0.5;
  const reach = W - LEFT - RIGHT;
  const x = (value: number): number => LEFT + ((value - low + pad) / (high - low + 2 * pad)) * reach;
  const back = (at: number): number => low - pad + ((at - LEFT) / reach) * (high - low + 2 * pad);
  const label = (row: number, text: string): SVGTextElement => svg('text', { x: 0, y: row * ROW + 17 }, text);
  const drawn = facts.trail.flatMap((one, i) => [
    svg('path', { class: 'axis', d: `M${LEFT} ${i * ROW + 13}H${W - RIGHT}` }),
    svg('rect', {
      x: x(one.low),
      width: Math.max(x(one.high) - x(one.low), 2),
      y: i * ROW + 8,
      height: 10,
      class: 'pv',
      opacity: i === rows - 2 ? 1 : 0.3 + (0.4 * (i + 1)) / rows
    }),
    label(i, one.paid)
  ]);
  const y = (rows - 1) * ROW + 13;
  const next = svg('rect', { y: y - 7, height: 14, class: 'next' });
  const handle = svg('circle', { class: 'handle', r: 7, cy: y });
  const plus = label(rows - 1, '');
  const value = svg('path', { class: 'ink-line', d: `M${x(facts.value)} 2V${rows * ROW}` });
  const axis = svg('path', { class: 'axis', d: `M${LEFT} ${y}H${W - RIGHT}` });
  const plot = picture(
    'intervals so far, and the next one',
    W,
    rows * ROW,
    ...drawn,
    axis,
    plus,
    next,
    value,
    handle
  );
  plot.node.classList.add('trail');
  return {
    plot,
    back,
    show: (from: number, to: number, words: string) => {
      set(next, { x: x(from), width: Math.max(x(to) - x(from), 3) });
      set(handle, { cx: x(to) });
      plus.textContent = words;
    }
  };
}

/** The forecast without a title, for a place that has one. */
export function forecast(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  const first = link.facts();
  const { symbol } = first;
  const range = { low: first.curve.loss[0]!, high: first.curve.loss.at(-1)! };
  // at first: as much again as was paid, or what is left of it
  let loss =
    link.chosen().loss ??
    Math.min(Math.max(Number(Math.min(first.paid, first.left).toPrecision(2)), range.low), range.high);
  let width = 640;
  let trail = trailOf(first, width);
  let drawn = '';
  const place = html('div');
  const next = html('strong');
  const nextNote = html('span', { class: 'soft' });
  const cost = html('strong');
  const costNote = html('span', { class: 'soft' });
  const said = announcer();
  const frame = eachFrame(() => show());
  const settled = (): void => link.choose({ loss });
  const losses = slider({
    label: `+${symbol}`,
    range,
    value: loss,
    ends: ['more private', 'more accurate'],
    input: value => {
      loss = value;
      frame.ask();
    },
    change: settled
  });
  const release = releaseButton(() => {
    const { name, kind } = link.facts();
    return `${name} = ${name}.remeasure(${kind}=${significant(loss, 3)})\n${name}`;
  });
  root.append(
    place,
    losses.node,
    html('div', { class: 'figures' }, html('div', {}, next, nextNote), html('div', {}, cost, costNote)),
    said,
    html('div', { class: 'buttons' }, release.node)
  );

  const last = () => link.facts().trail.at(-1)!;
  const half = (): number => (last().high - last().low) / 2;
  // around the value, where the present interval holds it
  const middle = (): number => {
    const { low, high } = last();
    const { value } = link.facts();
    return value > low && value < high ? value : (low + high) / 2;
  };
  function grab(): void {
    draggable(trail.plot.node, {
      move: at => {
        const wanted = Math.min(Math.abs(trail.back(at) - middle()), half() * (1 - 1e-6));
        // the answer to add: what is left of the wanted precision after the one that is there
        const width = 1 / Math.sqrt(1 / wanted ** 2 - 1 / half() ** 2);
        loss = Number((lossFor(link.facts().curve, width) ?? range.high).toPrecision(2));
        frame.ask();
      },
      end: settled
    });
  }

  function show(): void {
    const facts = link.facts();
    const wanted = JSON.stringify([facts.trail, facts.value, width]);
    if (wanted !== drawn) {
      trail = trailOf(facts, width);
      drawn = wanted;
      place.replaceChildren(trail.plot.node);
      grab();
    }
    const now = last();
    const expected = combined(half(), widthAt(facts.curve, loss));
    const paid = `${symbol} ${significant(loss, 3)}`;
    trail.show(middle() - expected, middle() + expected, `+ ${paid}`);
    const fits = loss <= facts.left * (1 + 1e-9);
    next.textContent = `± ${halfWidth(expected)}`;
    const about = facts.entry ? `, for ${facts.entry}, the widest` : '';
    nextNote.textContent = `expected, at 95 %; now ± ${halfWidth(half())}${about}`;
    cost.textContent = `+ ${paid}`;
    const together = facts.paid + loss;
    costNote.textContent = fits
      ? `paid on top: ${symbol} ${significant(together, 3)} for both together`
      : `only ${symbol} ${significant(facts.left, 3)} is left: this would be refused`;
    costNote.className = fits ? 'soft' : 'warn';
    const { button } = release;
    button.disabled = !fits || facts.problem !== '';
    said.textContent = facts.problem === '' ? oddsWords(facts.kind, together) : facts.problem;
    said.className = facts.problem === '' ? 'say' : 'say warn';
    losses.words(
      `${paid} more, together ${lossWords(facts.kind, together, `± ${halfWidth(expected)}. ${costNote.textContent}. ${facts.problem}`)}`
    );
    losses.show(loss);
    const percent = number(100 * (1 - expected / half()), 0);
    trail.plot.describe(
      `now ${span(now.low, now.high, decimalsFor([half()]))}; the next is expected ${percent} % narrower, ± ${halfWidth(expected)}`
    );
  }

  const seen = new ResizeObserver(() => {
    const now = Math.round(place.clientWidth);
    if (now !== width && now > 0) {
      width = Math.max(now, NARROWEST);
      frame.ask();
    }
  });
  seen.observe(place);
  show();
  return {
    update: () => {
      loss = link.chosen().loss ?? loss;
      show();
    },
    dispose: () => {
      frame.stop();
      seen.disconnect();
    }
  };
}

export function remeasureView(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  root.append(
    html(
      'div',
      { class: 'head' },
      html('div', {}, html('h3', {}, 'Measure again'), html('code', {}, link.facts().question)),
      html('span', { class: 'soft' }, 'Nothing is spent by dragging.')
    )
  );
  return forecast(root, link);
}
