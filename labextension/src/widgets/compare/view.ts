/** Several questions against ε: one line each, labelled where it ends, a handle on the axis that it moves, and a table of ±. */
import { number } from '../../maths/digits';
import { place, ticks, valueAt } from '../../maths/scale';
import { announcer, html, picture, set, svg, unitOf, type Part } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { dataTable, head, text, under } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { cut, apart } from '../parts/line_names';
import { draggable } from '../parts/pointer';
import { scrolling } from '../parts/scroll_region';
import { slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import {
  leaves,
  partAt,
  partsOf,
  partWords,
  rangeOf,
  toldAt,
  type CompareFacts,
  type CompareSet
} from './model';

const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 250, 58, 150, 14, 30];
const LOOKS = ['', '7 3', '2 3', '9 3 2 3', '4 4', '1 4'];
const LONGEST = 20;

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

/** The lines, each led to its name where it ends; names stand more than a line of letters apart. */
function lines(facts: CompareFacts, unit: number): SVGElement[] {
  const [range, { x, y }] = [rangeOf(facts), paper(facts)];
  const losses = Array.from({ length: 80 }, (_, i) => range.low * (range.high / range.low) ** (i / 79));
  const heights = facts.questions.map(one => y(partAt(one, range.high)));
  const ends = apart(heights, 17 * unit, H - BOTTOM - 4 * unit);
  return facts.questions.flatMap((one, i) => {
    const path = losses.map(loss => `${x(loss).toFixed(1)} ${y(partAt(one, loss)).toFixed(1)}`).join('L');
    return [
      svg('path', { class: 'pv-line', d: `M${path}`, 'stroke-dasharray': LOOKS[i % LOOKS.length]! }),
      svg('path', { class: 'axis', d: `M${W - RIGHT + 1} ${heights[i]!}L${W - RIGHT + 8} ${ends[i]!}` }),
      text(W - RIGHT + 11, ends[i]! + 4, cut(one.name, LONGEST), 'start')
    ];
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
  const points = first.questions.map(() => svg('circle', { class: 'dot', r: 4 }));
  const drawn = picture('± of each question, as a part of its public range', W, H, still, cursor, ...points);
  draggable(drawn.node, {
    move: at => moves.loss(valueAt(rangeOf(first), (at - LEFT) / (W - LEFT - RIGHT))),
    end: moves.end
  });
  return {
    node: drawn.node,
    lay: facts => still.replaceChildren(...axes(facts), ...lines(facts, unitOf(drawn.node))),
    show: (facts, loss, words) => {
      const { x, y } = paper(facts);
      set(cursor, { d: `M${x(loss)} ${TOP}V${H - BOTTOM}` });
      points.forEach((point, i) => set(point, { cx: x(loss), cy: y(partAt(facts.questions[i]!, loss)) }));
      drawn.describe(words);
    }
  };
}

/** The ± of each, in its own unit. */
function boughtTable(first: CompareFacts): Part<[facts: CompareFacts, loss: number]> {
  const rows = first.questions.map(one => {
    const [width, part] = [html('td', { class: 'num' }), html('td', { class: 'num' })];
    return {
      width,
      part,
      row: html('tr', {}, html('th', { scope: 'row' }, html('code', {}, one.name)), width, part)
    };
  });
  const columns = ['question', ['95 % privacy interval', 'num'], ['of its range', 'num']] as const;
  const table = dataTable(columns, html('tbody', {}, ...rows.map(one => one.row)));
  return {
    node: html('div', { class: 'say' }, scrolling('what the loss buys', table)),
    show: (facts, loss) =>
      rows.forEach(({ width, part }, i) => {
        width.textContent = toldAt(facts.questions[i]!, loss);
        part.textContent = partWords(partAt(facts.questions[i]!, loss));
      })
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
  chart.node.addEventListener('even', () => chart.lay(link.facts()));
  const [table, odds, cost] = [boughtTable(first), announcer(), html('p', { class: 'soft' })];
  root.append(
    head('How accurate each question would be', 'Nothing is spent.', first.dataset),
    chart.node,
    losses.node,
    table.node,
    odds,
    cost
  );

  function show(): void {
    const [facts, { loss }] = [link.facts(), held.now];
    const words = facts.questions.map(one => `${one.name} ${toldAt(one, loss)}`).join('; ');
    chart.lay(facts);
    chart.show(facts, loss, words);
    table.show(facts, loss);
    losses.show(loss);
    losses.words(lossWords(facts.kind, loss, words));
    odds.textContent = oddsWords(facts.kind, loss);
    cost.textContent = facts.problem || leaves(facts, loss);
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(compareView);
