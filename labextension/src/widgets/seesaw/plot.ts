/** What each loss buys, on logarithmic paper: the curve of ± with people at the right, and a point to drag along it. */
import { number, significant } from '../../maths/digits';
import { place, ticks, valueAt, type Range } from '../../maths/scale';
import { picture, set, svg, unique } from '../parts/dom';
import { text, under } from '../parts/layout';
import { draggable } from '../parts/pointer';
import type { Upright } from '../parts/on_axis';
import {
  narrowest,
  rangeOf,
  widthForPeople,
  widthOf,
  widthsOf,
  type Balance,
  type SeesawFacts
} from './model';

const [W, H, LEFT, TOP, BOTTOM] = [640, 216, 64, 24, 30];

/** Where the axis of losses runs. */
export const axisOf = (facts: Pick<SeesawFacts, 'people'>) => ({
  ...{ wide: W, from: LEFT, below: BOTTOM },
  to: W - (facts.people === null ? 14 : 58)
});
/** Where the axis of ± runs. */
export function uprightOf(facts: SeesawFacts): Upright {
  const { y } = paperOf(facts);
  const { low, high } = widthsOf(facts);
  return { wide: W, high: H, left: LEFT, top: y(high), bottom: y(low) };
}
const SHARES = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999];

/** Where losses and ± stand. */
interface Paper {
  readonly range: Range;
  readonly tall: Range;
  /** Where the plot ends at the right. */
  readonly edge: number;
  readonly x: (loss: number) => number;
  readonly y: (width: number) => number;
}

function paperOf(facts: SeesawFacts): Paper {
  const range = rangeOf(facts);
  const tall = { low: narrowest(facts) * 0.8, high: facts.curve.width[0]! };
  const edge = axisOf(facts).to;
  return {
    range,
    tall,
    edge,
    x: loss => LEFT + place(range, loss) * (edge - LEFT),
    y: width => TOP + (1 - place(tall, width)) * (H - TOP - BOTTOM)
  };
}

function peopleTicks(facts: SeesawFacts, { edge, y }: Paper): SVGElement[] {
  const { people } = facts;
  if (people === null) {
    return [];
  }
  const found: SVGElement[] = [text(W, TOP - 10, 'people', 'end')];
  let last = TOP - 8;
  for (const tick of SHARES.map(share => Math.floor(share * people.n))) {
    const width = tick > 0 ? widthForPeople(facts, tick) : null;
    const at = width === null ? null : y(width);
    if (at !== null && at - last > 22) {
      found.push(
        text(edge + 8, at + 4, number(tick), 'start'),
        svg('path', { class: 'axis', d: `M${edge} ${at}h5` })
      );
      last = at;
    }
  }
  return found;
}

/** Marks above the plot where others published. */
function published({ register }: SeesawFacts, { x }: Paper): SVGElement[] {
  const d = register.map(one => `M${x(one.epsilon)} ${TOP - 7}V${TOP}`).join('');
  const title = svg('title', {}, register.map(one => `ε ${one.epsilon}: ${one.words}`).join('\n'));
  const marks = svg('path', { class: 'soft-line', d }, title);
  return register.length === 0
    ? [marks]
    : [marks, text(x(register[0]!.epsilon) - 6, TOP - 2, 'published by others', 'end')];
}

function axes(facts: SeesawFacts, paper: Paper): SVGElement[] {
  const { range, tall, edge, x, y } = paper;
  const losses = ticks(range).filter(tick => /^[0.]*1/.test(String(tick)));
  const widths = ticks(tall).filter(tick => /^[0.]*1|^1/.test(significant(tick, 1)));
  return [
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${H - BOTTOM}H${edge}V${TOP}` }),
    ...losses.map(tick => under(x(tick), H - BOTTOM, `${facts.symbol} ${tick}`)),
    ...widths.map(tick => text(LEFT - 14, y(tick) + 4, number(tick), 'end')),
    ...peopleTicks(facts, paper),
    ...published(facts, paper)
  ];
}

function curve(facts: SeesawFacts, { range, x, y }: Paper): string {
  let path = '';
  for (let i = 0; i <= 500; i++) {
    const at = range.low * (range.high / range.low) ** (i / 500);
    path += `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(widthOf(facts, at)).toFixed(1)}`;
  }
  return path;
}

function hatch(id: string): SVGElement {
  const about = { id, width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
  return svg('defs', {}, svg('pattern', about, svg('path', { d: 'M0 0V7', class: 'hatch' })));
}

/** What a hand in the plot moves: the loss. */
export interface Moves {
  readonly loss: (loss: number) => void;
  readonly end: () => void;
}

interface BalancePlot {
  readonly node: SVGSVGElement;
  /** Draw the curve and its axes from newer facts. */
  readonly lay: (facts: SeesawFacts) => void;
  readonly show: (facts: SeesawFacts, balance: Balance) => void;
}

export function balancePlot(first: SeesawFacts, moves: Moves): BalancePlot {
  let paper = paperOf(first);
  const id = unique('hatch');
  const over = svg('rect', { y: TOP, height: H - TOP - BOTTOM, fill: `url(#${id})` });
  const grid = svg('g');
  const line = svg('path', { class: 'pv-line' });
  const cross = svg('path', { class: 'axis', 'stroke-dasharray': '3 3' });
  const point = svg('circle', { class: 'dot', r: 5 });
  const layers = [hatch(id), over, grid, cross, line, point];
  const plot = picture('accuracy bought by each loss', W, H, ...layers);
  draggable(plot.node, {
    move: at => moves.loss(valueAt(paper.range, (at - LEFT) / (paper.edge - LEFT))),
    end: moves.end
  });
  return {
    node: plot.node,
    lay: facts => {
      paper = paperOf(facts);
      const { range, edge, x } = paper;
      const from = facts.left >= range.high ? edge : x(Math.max(facts.left, range.low));
      const room = Math.max(edge - from, 0);
      set(over, { x: from, width: room });
      const words = room > 110 ? [text(from + room / 2, TOP + 18, 'more than is left')] : [];
      grid.replaceChildren(...axes(facts, paper), ...words);
      set(line, { d: curve(facts, paper) });
    },
    show: (facts, { loss, width, description }) => {
      const [at, up, foot] = [paper.x(loss), paper.y(width), H - BOTTOM];
      set(point, { cx: at, cy: up });
      set(cross, { d: `M${LEFT} ${up}H${facts.people === null ? at : paper.edge}M${at} ${TOP}V${foot}` });
      plot.describe(description);
    }
  };
}
