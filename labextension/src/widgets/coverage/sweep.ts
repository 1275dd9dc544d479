/** Coverage and mean width along losses or sizes, with one cursor for both. */
import { number } from '../../maths/digits';
import { html, picture, set, svg } from '../parts/dom';
import { draggable } from '../parts/pointer';
import { drawn, lowest, markers, pathThrough, rule, shares, WIDE } from './curves';
import type { CoverageFacts, SweepFacts } from './facts';
import { layered, line, marker, percent, roomFor, showSamples } from './looks';
import { along, brief, linesOf, nearest, strideOf, widthsOf, type SweepLine } from './sweep_model';
import { symbolOf } from './table';

const { w: W, h: H, left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM } = WIDE;

interface Sweep {
  readonly node: HTMLElement;
  readonly show: (swept: SweepFacts, facts: CoverageFacts) => void;
  /** Where the cursor stands. */
  readonly at: () => number;
}

type Place = (value: number) => number;

/** The values of the sweep below a drawing. */
function labels(values: readonly number[], symbol: string, x: Place): SVGElement[] {
  return values.map((value, i) =>
    svg(
      'text',
      { x: x(i), y: H - 6, 'text-anchor': 'middle', class: i % 2 === 1 ? 'wide' : null },
      i === 0 ? `${symbol} ${number(value)}` : number(value)
    )
  );
}

function coverages(
  lines: readonly SweepLine[],
  level: number,
  x: Place,
  below: SVGElement[],
  room: ReturnType<typeof roomFor>
): Node[] {
  const { y, grid } = shares(WIDE, lowest(lines, level), level);
  const names = { x: W - RIGHT + 4, bottom: H - BOTTOM, ...room };
  return [...grid, ...below, ...drawn(lines, x, y, names), ...markers(lines, x, y, points => points)];
}

function meanWidths(lines: readonly SweepLine[], x: Place, below: SVGElement[]): Node[] {
  const { at, marks } = widthsOf(lines);
  const y = (width: number): number => TOP + (1 - at(width)) * (H - TOP - BOTTOM);
  const found = layered(lines).map(one => ({
    name: one.name,
    points: one.widths.map(([i, width]) => [x(i), y(width)] as const)
  }));
  return [
    ...marks.flatMap(width => rule(WIDE, y(width), brief(width))),
    ...below,
    ...found.map(({ name, points }) => line(name, pathThrough(points))),
    ...found.flatMap(({ name, points }) => points.map(([a, b]) => marker(name, a, b)))
  ];
}

/** The coverage of each method at the cursor. */
function sharesAt(lines: readonly SweepLine[], at: number): string[] {
  return lines.flatMap(({ name, points }) =>
    points.filter(one => one.x === at).map(one => `${name} ${percent(one.share)}`)
  );
}

/** What moves the cursor. */
interface Hand {
  /** To a place of the drawing. */
  readonly move: (x: number) => void;
  /** By a key. */
  readonly key: (event: KeyboardEvent) => void;
  readonly end: () => void;
}

/** Two drawings, one above the other, with one cursor through both. */
function plots(hand: Hand): {
  readonly node: HTMLElement;
  readonly draw: (above: Node[], below: Node[]) => void;
  readonly room: () => ReturnType<typeof roomFor>;
  /** Move the cursor to a value, and say what is there. */
  readonly stand: (x: number, now: number, last: number, words: string, said: readonly string[]) => void;
} {
  const [above, below] = [svg('g'), svg('g')];
  const lines = [1, 2].map(() => svg('path', { class: 'soft-line' }));
  const handle = svg('circle', {
    class: 'handle',
    r: 8,
    cy: H - BOTTOM,
    tabindex: 0,
    role: 'slider',
    'aria-label': 'cursor of the sweep'
  });
  const coverage = picture('coverage along the sweep', W, H, above, lines[0]!, handle);
  const widths = picture('mean width along the sweep', W, H, below, lines[1]!);
  draggable(coverage.node, hand);
  draggable(widths.node, hand);
  handle.addEventListener('keydown', hand.key);
  const node = html(
    'div',
    {},
    html('h4', { class: 'say' }, 'Coverage, with its 95 % Wilson band'),
    coverage.node,
    html('h4', {}, 'Mean width'),
    widths.node
  );
  return {
    node,
    room: () => roomFor(coverage.node),
    draw: (high, low) => {
      above.replaceChildren(...high);
      below.replaceChildren(...low);
    },
    stand: (x, now, last, words, said) => {
      for (const one of lines) {
        set(one, { d: `M${x} ${TOP}V${H - BOTTOM}` });
      }
      set(handle, {
        cx: x,
        'aria-valuemin': 0,
        'aria-valuemax': last,
        'aria-valuenow': now,
        'aria-valuetext': [words, ...said].join(', ')
      });
      coverage.describe(said.length === 0 ? 'nothing is simulated yet' : `${words}: ${said.join(', ')}`);
      widths.describe(`at ${words}`);
    }
  };
}

/** Coverage and width along losses or sizes, with a cursor that is dragged or stepped: heard while it moves, and told when it rests. */
export function sweepPicture(heard: () => void, rested: (at: number) => void): Sweep {
  let [at, count, told, laid] = [0, 1, '', ''];
  let x: Place = i => i;
  const go = (to: number): void => {
    at = Math.min(Math.max(to, 0), count - 1);
    heard();
  };
  const { node, draw, room, stand } = plots({
    move: from => go(nearest(count, x, from)),
    end: () => rested(at),
    key: event => {
      const stride = strideOf(event.key, count);
      if (stride !== undefined) {
        event.preventDefault();
        go(at + stride);
        rested(at);
      }
    }
  });
  const key = html('p', { class: 'key' });
  const note = html('p', { class: 'soft' });
  node.append(key, note);
  return {
    node,
    show: (swept, facts) => {
      const { values, notes } = swept;
      count = values.length;
      const place = JSON.stringify([values, swept.at]);
      if (told !== place) {
        told = place;
        at = swept.at; // where it was put, or what the lab is set to
      }
      const share = along(values);
      x = i => LEFT + 10 + share(i) * (W - LEFT - RIGHT - 20);
      const symbol = symbolOf(facts);
      const lines = linesOf(swept, facts.shown);
      const below = (): SVGElement[] => labels(values, symbol, x);
      const next = JSON.stringify([values, swept.rows, facts.shown, facts.setup.level, symbol, room().unit]);
      if (next !== laid) {
        laid = next; // what does not move with the cursor is drawn once
        draw(coverages(lines, facts.setup.level, x, below(), room()), meanWidths(lines, x, below()));
      }
      const words = `${symbol} ${number(values[at]!)}`;
      stand(x(at), at, count - 1, words, sharesAt(lines, at));
      showSamples(key, facts.shown);
      const about = notes[at] ?? '';
      note.textContent = `${about === '' ? '' : `${about} `}The numbers below are for ${words}. Drag the line, or move it with the arrow keys.`;
    },
    at: () => at
  };
}
