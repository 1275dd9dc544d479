/** Coverage and mean width along losses or sizes, with one cursor for both. */
import { wilson } from '../../maths/coverage';
import { number } from '../../maths/digits';
import { place, ticks } from '../../maths/scale';
import { BOTTOM, H, LEFT, RIGHT, TOP, W, shares } from './axes';
import { html, picture, set, svg, type Child } from '../parts/dom';
import type { CoverageFacts, SweepFacts } from './facts';
import { band, layered, line, marker, percent, sample } from './looks';
import { symbolOf } from './table';
import { draggable } from '../parts/pointer';

/** A width beside its axis, where there is little room: 20 k, 2 M. */
const brief = (width: number): string => {
  const [size, letter] = width >= 1e6 ? [1e6, ' M'] : width >= 1e4 ? [1e3, ' k'] : [1, ''];
  return `${number(width / size)}${letter}`;
};

export interface Sweep {
  readonly node: HTMLElement;
  readonly show: (swept: SweepFacts, facts: CoverageFacts) => void;
  /** Where the cursor stands. */
  readonly at: () => number;
  /** Who hears of it while it moves, and when it rests. */
  readonly moved: (heard: () => void, rested: () => void) => void;
}

/** Coverage and width along losses or sizes, with a cursor that is dragged or stepped from value to value. */
export function sweepPicture(): Sweep {
  let at = 0;
  let count = 1;
  let told = '';
  let heard = (): void => undefined;
  let settled = (): void => undefined;
  let x = (i: number): number => i;
  const above = svg('g');
  const below = svg('g');
  const lines = [svg('path', { class: 'soft-line' }), svg('path', { class: 'soft-line' })] as const;
  const handle = svg('circle', {
    class: 'handle',
    r: 8,
    cy: H - BOTTOM,
    tabindex: 0,
    role: 'slider',
    'aria-label': 'cursor of the sweep'
  });
  const coverage = picture('coverage along the sweep', W, H, above, lines[0], handle);
  const widths = picture('mean width along the sweep', W, H, below, lines[1]);
  const go = (to: number): void => {
    at = Math.min(Math.max(to, 0), count - 1);
    heard();
  };
  for (const plot of [coverage, widths]) {
    draggable(plot.node, {
      move: from => {
        const places = Array.from({ length: count }, (_, i) => Math.abs(x(i) - from));
        go(places.indexOf(Math.min(...places)));
      },
      end: () => settled()
    });
  }
  handle.addEventListener('keydown', event => {
    const ways: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    const way = ways[event.key] ?? (event.key === 'Home' ? -count : event.key === 'End' ? count : undefined);
    if (way !== undefined) {
      event.preventDefault();
      go(at + way);
      settled();
    }
  });

  const show = (swept: SweepFacts, facts: CoverageFacts): void => {
    const { values } = swept;
    count = values.length;
    if (told !== JSON.stringify([values, swept.at])) {
      told = JSON.stringify([values, swept.at]);
      at = swept.at; // where it was put, or what the lab is set to
    }
    const range = { low: values[0]!, high: values.at(-1)! };
    x = i => LEFT + 10 + place(range, values[i]!) * (W - LEFT - RIGHT - 20);
    const symbol = symbolOf(facts);
    const rows = swept.rows
      .filter(row => facts.shown.includes(row.name))
      .map(row => {
        const bands = row.held.map((held, i) => wilson(held, row.studies[i] ?? 0));
        return {
          ...row,
          coverage: row.held.map((held, i) => ((row.studies[i] ?? 0) === 0 ? null : held / row.studies[i]!)),
          low: bands.map(one => one?.[0] ?? null),
          high: bands.map(one => one?.[1] ?? null)
        };
      });
    const drawn = layered(rows);
    const known = (list: readonly (number | null)[]): { i: number; value: number }[] =>
      list.flatMap((value, i) => (value === null ? [] : [{ i, value }]));
    const lows = rows.flatMap(row => known(row.low).map(one => one.value));
    const { y, grid } = shares(Math.min(facts.setup.level, ...lows), facts.setup.level);
    const path = (points: readonly (readonly [number, number])[]): string =>
      points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${a.toFixed(1)} ${b.toFixed(1)}`).join('');
    const labels = (): Child[] =>
      values.map((value, i) =>
        svg(
          'text',
          { x: x(i), y: H - 6, 'text-anchor': 'middle', class: i % 2 === 1 ? 'wide' : null },
          i === 0 ? `${symbol} ${number(value)}` : number(value)
        )
      );
    above.replaceChildren(
      ...[...grid, ...labels()].filter(one => one !== null),
      ...rows.map(row =>
        band(
          known(row.low).map(({ i, value }) => [x(i), y(value), y(row.high[i] ?? 1)] as const),
          row.name
        )
      ),
      ...drawn.map(row => line(row.name, path(known(row.coverage).map(({ i, value }) => [x(i), y(value)])))),
      ...drawn.flatMap(row => known(row.coverage).map(({ i, value }) => marker(row.name, x(i), y(value))))
    );
    const all = rows.flatMap(row => known(row.width).map(one => one.value)).filter(width => width > 0);
    const tall = { low: Math.min(...all, 1) * 0.9, high: Math.max(...all, 1e-9) * 1.1 };
    if (all.length > 0) {
      tall.low = Math.min(...all) * 0.9;
    }
    const up = (width: number): number =>
      TOP + (1 - place(tall, Math.max(width, tall.low))) * (H - TOP - BOTTOM);
    const marks = all.length === 0 ? [] : ticks(tall).filter((_, i, list) => list.length < 7 || i % 3 === 0);
    below.replaceChildren(
      ...marks.flatMap(width => [
        svg('path', { class: 'axis', d: `M${LEFT} ${up(width)}H${W - RIGHT}` }),
        svg('text', { x: LEFT - 6, y: up(width) + 4, 'text-anchor': 'end' }, brief(width))
      ]),
      ...labels().filter(one => one !== null),
      ...drawn.map(row => line(row.name, path(known(row.width).map(({ i, value }) => [x(i), up(value)])))),
      ...drawn.flatMap(row => known(row.width).map(({ i, value }) => marker(row.name, x(i), up(value))))
    );
    for (const one of lines) {
      set(one, { d: `M${x(at)} ${TOP}V${H - BOTTOM}` });
    }
    const words = `${symbol} ${number(values[at]!)}`;
    const said = rows.flatMap(row => {
      const share = row.coverage[at] ?? null;
      return share === null ? [] : [`${row.name} ${percent(share)}`];
    });
    set(handle, {
      cx: x(at),
      'aria-valuemin': 0,
      'aria-valuemax': count - 1,
      'aria-valuenow': at,
      'aria-valuetext': [words, ...said].join(', ')
    });
    coverage.describe(said.length === 0 ? 'nothing is simulated yet' : `${words}: ${said.join(', ')}`);
    widths.describe(`at ${words}`);
    key.replaceChildren(...facts.shown.map(name => html('span', {}, sample(name), ` ${name}`)));
    const note = swept.notes[at] ?? '';
    at_.textContent = `${note === '' ? '' : `${note} `}The numbers below are those at ${words}. Drag the line, or step it with the arrow keys.`;
  };
  const key = html('p', { class: 'key' });
  const at_ = html('p', { class: 'soft' });
  const node = html(
    'div',
    {},
    html('h4', { class: 'say' }, 'Coverage, with its 95 % Wilson band'),
    coverage.node,
    html('h4', {}, 'Mean width'),
    widths.node,
    key,
    at_
  );
  return {
    node,
    show,
    at: () => at,
    moved: (listener, rested) => {
      heard = listener;
      settled = rested;
    }
  };
}
