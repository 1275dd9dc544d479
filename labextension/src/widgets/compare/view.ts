/** Several questions against ε: one line each, its name and ± at its dot, and a handle on the axis that it moves. */
import { number } from '../../maths/digits';
import { place, ticks, valueAt } from '../../maths/scale';
import { announcer, html, picture, set, svg, unitOf } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { head, text, under } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { cut, apart } from '../parts/line_names';
import { draggable } from '../parts/pointer';
import { slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { leaves, partAt, partsOf, rangeOf, toldAt, type CompareFacts, type CompareSet } from './model';

const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 270, 58, 14, 14, 30];
const LOOKS = ['', '7 3', '2 3', '9 3 2 3', '4 4', '1 4'];
const LONGEST = 20;
/** A colour and a shape for each question; both repeat after the fourth, and the dashes do not. */
const COLOURS = ['var(--dp-accent)', 'var(--ink)', '#a163c2', '#857400'];
const SHAPES = [
  'M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z',
  'M-5 -5H5V5H-5Z',
  'M0 -7L7 0L0 7L-7 0Z',
  'M0 -6L6 5H-6Z'
];
const colourOf = (place: number): string => COLOURS[place % COLOURS.length]!;

interface Chart {
  readonly node: SVGSVGElement;
  readonly lay: (facts: CompareFacts) => void;
  readonly show: (facts: CompareFacts, loss: number, words: string) => void;
}

/** Where losses and parts of ranges stand. */
function paper(facts: CompareFacts): { x: (loss: number) => number; y: (part: number) => number } {
  const [range, tall] = [rangeOf(facts), partsOf(facts)];
  return {
    x: loss => LEFT + place(range, loss) * (W - LEFT - RIGHT),
    y: part => TOP + (1 - place(tall, part)) * (H - TOP - BOTTOM)
  };
}

/** The line of each question, in its colour and its dashes. */
function lines(facts: CompareFacts): SVGElement[] {
  const [range, { x, y }] = [rangeOf(facts), paper(facts)];
  const losses = Array.from({ length: 80 }, (_, i) => range.low * (range.high / range.low) ** (i / 79));
  return facts.questions.map((one, i) => {
    const path = losses.map(loss => `${x(loss).toFixed(1)} ${y(partAt(one, loss)).toFixed(1)}`).join('L');
    const dashes = LOOKS[i % LOOKS.length]!;
    return svg('path', {
      class: 'pv-line',
      d: `M${path}`,
      style: `stroke:${colourOf(i)}`,
      'stroke-dasharray': dashes
    });
  });
}

/** The name and the ± of each question, beside its dot; more than a line of letters apart, and inside of the drawing. */
function labels(facts: CompareFacts, loss: number, unit: number, nodes: readonly SVGTextElement[]): void {
  const { x, y } = paper(facts);
  const heights = facts.questions.map(one => y(partAt(one, loss)) - 7 * unit);
  const places = apart(heights, 18 * unit, H - BOTTOM - 4 * unit);
  const left = x(loss) > (LEFT + W) / 2;
  nodes.forEach((node, i) => {
    const one = facts.questions[i]!;
    set(node, {
      x: x(loss) + (left ? -11 : 11) * unit,
      y: places[i]! + 4 * unit,
      'text-anchor': left ? 'end' : 'start'
    });
    const words = `${cut(one.name, LONGEST)} ${toldAt(one, loss)}`;
    if (node.textContent !== words) {
      node.textContent = words;
    }
  });
}

function axes(facts: CompareFacts): SVGElement[] {
  const { x, y } = paper(facts);
  const first = (value: number): boolean => /^[0.]*1/.test(String(value));
  const parts = ticks(partsOf(facts)).filter(first);
  return [
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${H - BOTTOM}H${W - RIGHT}` }),
    ...ticks(rangeOf(facts))
      .filter(first)
      .map(loss => under(x(loss), H - BOTTOM, `${facts.symbol} ${loss}`)),
    ...parts.map(part => text(LEFT - 8, y(part) + 4, `${number(100 * part)} %`, 'end'))
  ];
}

function chartOf(first: CompareFacts, moves: { loss: (loss: number) => void; end: () => void }): Chart {
  const [still, cursor] = [svg('g'), svg('path', { class: 'axis' })];
  const points = first.questions.map((_, i) =>
    svg('path', { d: SHAPES[i % SHAPES.length]!, style: `fill:${colourOf(i)};stroke:var(--page)` })
  );
  const names = first.questions.map(() => svg('text', { style: 'fill:var(--ink)' }));
  const marks = [still, cursor, ...points, ...names];
  const drawn = picture('± of each question, as a part of its public range', W, H, ...marks);
  draggable(drawn.node, {
    move: at => moves.loss(valueAt(rangeOf(first), (at - LEFT) / (W - LEFT - RIGHT))),
    end: moves.end
  });
  return {
    node: drawn.node,
    lay: facts => still.replaceChildren(...axes(facts), ...lines(facts)),
    show: (facts, loss, words) => {
      const { x, y } = paper(facts);
      set(cursor, { d: `M${x(loss)} ${TOP}V${H - BOTTOM}` });
      points.forEach((point, i) => {
        set(point, { transform: `translate(${x(loss)} ${y(partAt(facts.questions[i]!, loss))})` });
      });
      labels(facts, loss, unitOf(drawn.node), names);
      drawn.describe(words);
    }
  };
}

function compareView(root: HTMLElement, link: Link<CompareFacts, CompareSet>): View {
  const first = link.facts();
  const held = dragState(link, { loss: first.start }, () => show(), { loss: rangeOf(first) });
  const chart = chartOf(first, { loss: loss => held.move({ loss }), end: held.tell });
  const losses = slider({
    label: first.symbol,
    range: rangeOf(first),
    value: held.now.loss,
    input: loss => held.move({ loss }),
    change: held.tell
  });
  onAxis(losses, { wide: W, from: LEFT, to: W - RIGHT, below: BOTTOM });
  chart.node.addEventListener('even', () => show());
  const [odds, cost] = [announcer(), html('p', { class: 'soft' })];
  root.append(
    head('How accurate each question would be', 'Nothing is spent.', first.dataset),
    chart.node,
    losses.node,
    odds,
    cost
  );

  function show(): void {
    const [facts, { loss }] = [link.facts(), held.now];
    const words = facts.questions.map(one => `${one.name} ${toldAt(one, loss)}`).join('; ');
    chart.lay(facts);
    chart.show(facts, loss, words);
    losses.show(loss);
    losses.words(lossWords(facts.kind, loss, words));
    odds.textContent = oddsWords(facts.kind, loss);
    cost.textContent = facts.problem || leaves(facts, loss);
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(compareView);
