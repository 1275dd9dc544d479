/** The drawings of the coverage lab. Methods differ by colour, by dashes and by marker; misses by a cross as well. */
import { number, significant } from '../../maths/digits';
import { place, ticks } from '../../maths/scale';
import { html, picture, set, svg, type Child } from './dom';
import { draggable } from './pointer';
import type { CoverageFacts, Histogram, Row, Stack, StudyFacts, SweepFacts } from './coverage_facts';

interface Look {
  readonly stroke: string;
  readonly dashes: string;
  /** A marker around (0, 0). */
  readonly marker: string;
}

const LOOKS: Readonly<Record<string, Look>> = {
  privacy: { stroke: 'var(--dp-accent)', dashes: '', marker: 'M-4 -4H4V4H-4Z' },
  confidence: {
    stroke: 'var(--ink)',
    dashes: '',
    marker: 'M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z'
  },
  naive: { stroke: 'var(--dp-warn)', dashes: '7 4', marker: 'M0 5L-5 -4H5Z' },
  normal: { stroke: 'var(--soft)', dashes: '2 3', marker: 'M0 -5.5L5.5 0L0 5.5L-5.5 0Z' },
  unbiased: { stroke: 'var(--dp-warn)', dashes: '7 4', marker: 'M0 5L-5 -4H5Z' },
  conservative: {
    stroke: 'var(--ink)',
    dashes: '',
    marker: 'M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z'
  },
  'most conservative': { stroke: 'var(--dp-accent)', dashes: '', marker: 'M-4 -4H4V4H-4Z' },
  'monte carlo': { stroke: 'var(--dp-accent)', dashes: '8 3 2 3', marker: 'M0 -5L5 4H-5Z' }
};
const PLAIN: Look = { stroke: 'var(--soft)', dashes: '', marker: 'M-4 0H4M0 -4V4' };

export const lookOf = (name: string): Look => LOOKS[name] ?? PLAIN;

const percent = (share: number): string => `${number(100 * share, 1)} %`;

function line(name: string, d: string): SVGPathElement {
  const look = lookOf(name);
  return svg('path', {
    d,
    fill: 'none',
    stroke: look.stroke,
    'stroke-width': 1.8,
    'stroke-dasharray': look.dashes === '' ? null : look.dashes
  });
}

function marker(name: string, x: number, y: number): SVGPathElement {
  const look = lookOf(name);
  return svg('path', {
    d: look.marker,
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    fill: look.stroke,
    stroke: 'var(--page)',
    'stroke-width': 1
  });
}

function sample(name: string): SVGSVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 34 12', class: 'sample', 'aria-hidden': 'true' },
    line(name, 'M1 6H33'),
    marker(name, 17, 6)
  );
}

/** What most ends of the intervals lie within, around what is true. */
export function reachOf(stacks: readonly Stack[]): { middle: number; reach: number } {
  const truths: number[] = [];
  const ends: number[] = [];
  for (const one of stacks) {
    for (const [low, high, truth] of one) {
      if (low !== null && high !== null && truth !== null) {
        truths.push(truth);
        ends.push(Math.abs(low - truth), Math.abs(high - truth));
      }
    }
  }
  const at = (values: number[], share: number): number =>
    [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0;
  const reach = at(ends, 0.95) * 1.15;
  return { middle: at(truths, 0.5), reach: reach > 0 ? reach : 1 };
}

const [SIDE, ROW, LAST] = [200, 5, 40];

/** One method's last intervals, newest below: a line that holds, a heavier one with a cross that misses. */
export function stack(
  row: Row,
  before: Stack,
  latest: Stack,
  part: number,
  shown: readonly string[],
  all: Readonly<Record<string, Stack>>
): HTMLElement {
  const { middle, reach } = reachOf(shown.map(name => all[name] ?? []));
  const x = (value: number): number =>
    SIDE / 2 + Math.min(Math.max((value - middle) / reach, -1), 1) * (SIDE / 2 - 4);
  const upto = Math.round(latest.length * part);
  const visible = [...before, ...latest.slice(0, upto)].slice(-LAST);
  let [holds, misses, crosses, truths] = ['', '', '', ''];
  let missed = 0;
  visible.forEach(([low, high, truth, held], i) => {
    if (low === null || high === null || truth === null) {
      return;
    }
    const y = i * ROW + 4;
    const path = `M${x(low).toFixed(1)} ${y}H${x(high).toFixed(1)}`;
    const at = x(truth);
    truths += `M${at.toFixed(1)} ${y - 2.5}V${y + 2.5}`;
    if (held) {
      holds += path;
    } else {
      missed += 1;
      misses += path;
      const end = Math.abs(x(low) - at) < Math.abs(x(high) - at) ? x(low) : x(high);
      crosses += `M${(end - 3).toFixed(1)} ${y - 3}l6 6m0 -6l-6 6`;
    }
  });
  const plot = picture(
    `intervals of ${row.name}`,
    SIDE,
    LAST * ROW + 6,
    svg('path', { class: 'axis', d: `M${SIDE / 2} 0V${LAST * ROW + 6}` }),
    svg('path', { d: holds, stroke: 'var(--dp-accent)', 'stroke-width': 1.6, opacity: 0.75 }),
    svg('path', { d: misses, stroke: 'var(--dp-warn)', 'stroke-width': 2.4 }),
    svg('path', { d: truths, stroke: 'var(--ink)', 'stroke-width': 1.2 }),
    svg('path', { d: crosses, stroke: 'var(--dp-warn)', 'stroke-width': 1.8, fill: 'none' })
  );
  plot.describe(
    visible.length === 0
      ? row.reason === ''
        ? 'nothing is simulated yet'
        : row.reason
      : `${missed} of the last ${visible.length} miss`
  );
  return html(
    'figure',
    { class: 'stack' },
    html(
      'figcaption',
      {},
      html('strong', {}, row.name),
      html('span', { class: 'soft' }, ` of the ${row.about}`)
    ),
    row.reason === '' ? plot.node : html('p', { class: 'soft' }, `None. ${row.reason}`)
  );
}

const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 180, 56, 14, 10, 28];

interface Axes {
  readonly y: (share: number) => number;
  readonly grid: Child[];
}

/** The axis of coverages, from a round share below all bands up to 1. */
function shares(lowest: number, level: number): Axes {
  const floor = Math.max(Math.floor((Math.min(lowest, level - 0.05) - 0.01) * 20) / 20, 0);
  const y = (share: number): number => TOP + ((1 - share) / (1 - floor)) * (H - TOP - BOTTOM);
  const gap = 1 - floor > 0.5 ? 0.2 : 1 - floor > 0.2 ? 0.1 : 0.05;
  const marks = Array.from({ length: 21 }, (_, i) => 1 - i * gap).filter(share => share >= floor - 1e-9);
  const grid: Child[] = marks.flatMap(share => [
    svg('path', { class: 'axis', d: `M${LEFT} ${y(share)}H${W - RIGHT}` }),
    svg('text', { x: LEFT - 6, y: y(share) + 4, 'text-anchor': 'end' }, `${number(100 * share, 0)} %`)
  ]);
  grid.push(
    svg('path', { class: 'ink-line', 'stroke-dasharray': '2 4', d: `M${LEFT} ${y(level)}H${W - RIGHT}` })
  );
  return { y, grid };
}

function band(points: readonly (readonly [number, number, number])[], name: string): SVGPathElement {
  const up = points.map(([x, , high]) => `${x.toFixed(1)} ${high.toFixed(1)}`);
  const down = [...points].reverse().map(([x, low]) => `${x.toFixed(1)} ${low.toFixed(1)}`);
  const d = points.length === 0 ? '' : `M${[...up, ...down].join('L')}Z`;
  return svg('path', { d, fill: lookOf(name).stroke, opacity: 0.13 });
}

export interface Running {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts, facts: CoverageFacts, now: number) => void;
}

/** Coverage against the number of studies so far, for each method, with its band; the claim is dotted. */
export function running(): Running {
  const body = svg('g');
  const plot = picture('running coverage', W, H, body);
  const key = html('p', { class: 'key' });
  const show = (run: StudyFacts, facts: CoverageFacts, now: number): void => {
    const trails = facts.shown.flatMap(name => {
      const points = (run.trail[name] ?? []).flatMap(([studies, share, low, high]) =>
        share === null || low === null || high === null || studies > now
          ? []
          : [{ studies, share, low, high }]
      );
      return points.length === 0 ? [] : [{ name, points }];
    });
    // the first few studies would make the axis jump
    const later = trails.flatMap(one => one.points.filter(p => p.studies >= Math.min(now, 100)));
    const lowest = Math.min(facts.setup.level, ...later.map(p => p.low));
    const { y, grid } = shares(lowest, facts.setup.level);
    const x = (studies: number): number => LEFT + (studies / facts.reps) * (W - LEFT - RIGHT);
    const inside = (share: number): number => Math.min(y(share), H - BOTTOM);
    body.replaceChildren(
      ...grid.filter(one => one !== null),
      svg('text', { x: LEFT, y: H - 8, 'text-anchor': 'middle' }, '0'),
      svg('text', { x: W - RIGHT, y: H - 8, 'text-anchor': 'end' }, `${number(facts.reps)} studies`),
      ...trails.map(({ name, points }) =>
        band(
          points.map(p => [x(p.studies), inside(p.low), inside(p.high)] as const),
          name
        )
      ),
      ...trails.map(({ name, points }) =>
        line(
          name,
          points
            .map((p, i) => `${i === 0 ? 'M' : 'L'}${x(p.studies).toFixed(1)} ${inside(p.share).toFixed(1)}`)
            .join('')
        )
      ),
      ...trails.map(({ name, points }) =>
        marker(name, x(points.at(-1)!.studies), inside(points.at(-1)!.share))
      )
    );
    key.replaceChildren(...facts.shown.map(name => html('span', {}, sample(name), ` ${name}`)));
    plot.describe(
      trails.length === 0
        ? 'nothing is simulated yet'
        : trails.map(({ name, points }) => `${name} ${percent(points.at(-1)!.share)}`).join(', ')
    );
  };
  return { node: html('div', {}, plot.node, key), show };
}

export interface Histograms {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts) => void;
}

const [HW, HH] = [200, 74];

function bars(title: string, found: Histogram, extra: readonly Child[] = []): HTMLElement {
  const top = Math.max(...found.shares, 1e-9);
  const wide = HW / found.shares.length;
  const d = found.shares
    .map((share, i) => {
      const tall = (share / top) * (HH - 4);
      return `M${(i * wide).toFixed(1)} ${HH}v${(-tall).toFixed(1)}h${(wide * 0.9).toFixed(1)}V${HH}Z`;
    })
    .join('');
  const plot = picture(
    title,
    HW,
    HH + 1,
    svg('path', { d, class: 'used', opacity: 0.55 }),
    svg('path', { d: `M0 ${HH}H${HW}`, class: 'soft-line' }),
    ...extra
  );
  const high = found.low + found.step * found.shares.length;
  plot.describe(`from ${significant(found.low, 3)} to ${significant(high, 3)}`);
  return html(
    'figure',
    { class: 'stack' },
    html('figcaption', { class: 'soft' }, title),
    plot.node,
    html(
      'div',
      { class: 'ends', 'aria-hidden': 'true' },
      html('span', {}, significant(found.low, 3)),
      html('span', {}, significant(high, 3))
    )
  );
}

/** What was released, how large the standard errors are, and how the errors compare with them. */
export function histograms(): Histograms {
  const node = html('div', { class: 'stacks' });
  let last: StudyFacts | null = null;
  return {
    node,
    show: run => {
      if (run === last) {
        return;
      }
      last = run;
      const found: HTMLElement[] = [];
      if (run.releases !== null) {
        found.push(bars('released numbers', run.releases));
      }
      if (run.errors !== null) {
        const { zero } = run.errors;
        const spike =
          zero > 0 ? svg('path', { d: `M1 ${HH}V4`, stroke: 'var(--dp-warn)', 'stroke-width': 4 }) : null;
        const title = zero > 0 ? `standard errors, ${percent(zero)} of them zero` : 'standard errors';
        found.push(bars(title, run.errors, [spike]));
      }
      if (run.scores !== null) {
        const { scores } = run;
        const top = Math.max(...scores.shares);
        const tall = (z: number): number =>
          ((scores.step * Math.exp(-z * z * 0.5)) / Math.sqrt(2 * Math.PI) / top) * (HH - 4);
        const d = Array.from({ length: 81 }, (_, i) => {
          const z = -4 + i / 10;
          return `${i === 0 ? 'M' : 'L'}${((HW * i) / 80).toFixed(1)} ${(HH - tall(z)).toFixed(1)}`;
        }).join('');
        const about = scores.noise ? 'error ÷ noise' : 'error ÷ standard error';
        found.push(
          bars(`z: ${about}; dashed: normal`, scores, [
            svg('path', { d, class: 'ink-line', 'stroke-dasharray': '4 3' })
          ])
        );
      }
      node.replaceChildren(...found);
    }
  };
}

export interface Sweep {
  readonly node: HTMLElement;
  readonly show: (swept: SweepFacts, facts: CoverageFacts) => void;
  /** Where the cursor stands. */
  readonly at: () => number;
  readonly moved: (heard: () => void) => void;
}

/** Coverage and width along losses or sizes, with a cursor that is dragged or stepped from value to value. */
export function sweepPicture(): Sweep {
  let at = 4;
  let count = 1;
  let heard = (): void => undefined;
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
      end: () => undefined
    });
  }
  handle.addEventListener('keydown', event => {
    const ways: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    const way = ways[event.key] ?? (event.key === 'Home' ? -count : event.key === 'End' ? count : undefined);
    if (way !== undefined) {
      event.preventDefault();
      go(at + way);
    }
  });

  const show = (swept: SweepFacts, facts: CoverageFacts): void => {
    const { values } = swept;
    count = values.length;
    at = Math.min(at, count - 1);
    const range = { low: values[0]!, high: values.at(-1)! };
    x = i => LEFT + 10 + place(range, values[i]!) * (W - LEFT - RIGHT - 20);
    const symbol = symbolOf(facts);
    const rows = swept.rows.filter(row => facts.shown.includes(row.name));
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
      ...rows.map(row => line(row.name, path(known(row.coverage).map(({ i, value }) => [x(i), y(value)])))),
      ...rows.flatMap(row => known(row.coverage).map(({ i, value }) => marker(row.name, x(i), y(value))))
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
        svg('text', { x: LEFT - 6, y: up(width) + 4, 'text-anchor': 'end' }, number(width))
      ]),
      ...labels().filter(one => one !== null),
      ...rows.map(row => line(row.name, path(known(row.width).map(({ i, value }) => [x(i), up(value)])))),
      ...rows.flatMap(row => known(row.width).map(({ i, value }) => marker(row.name, x(i), up(value))))
    );
    for (const one of lines) {
      set(one, { d: `M${x(at)} ${TOP}V${H - BOTTOM}` });
    }
    const words = `${symbol} ${number(values[at]!)}`;
    const told = rows.flatMap(row => {
      const share = row.coverage[at] ?? null;
      return share === null ? [] : [`${row.name} ${percent(share)}`];
    });
    set(handle, {
      cx: x(at),
      'aria-valuemin': 0,
      'aria-valuemax': count - 1,
      'aria-valuenow': at,
      'aria-valuetext': [words, ...told].join(', ')
    });
    coverage.describe(told.length === 0 ? 'nothing is simulated yet' : `${words}: ${told.join(', ')}`);
    widths.describe(`at ${words}`);
    key.replaceChildren(...facts.shown.map(name => html('span', {}, sample(name), ` ${name}`)));
    const note = swept.notes?.[at] ?? '';
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
    moved: listener => {
      heard = listener;
    }
  };
}

/** What is varied in a sweep, or paid. */
export function symbolOf(facts: CoverageFacts): string {
  const over = facts.sweep?.over ?? 'loss';
  return over === 'loss' ? (facts.setup.kind === 'rho' ? 'ρ' : 'ε') : over;
}

/** One row for each method that is shown: the same numbers as in the drawings. */
export function table(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  return facts.shown.map(name => {
    const row = facts.run?.rows.find(one => one.name === name);
    const swept = facts.sweep?.rows.find(one => one.name === name);
    // while a block is played, the numbers are those of its part that is on the screen
    const point = facts.run?.trail[name]?.filter(one => one[0] <= now).at(-1);
    const early = point !== undefined && now < facts.studies;
    const share = early ? point[1] : now === 0 ? null : (row?.coverage ?? swept?.coverage[at] ?? null);
    const low = early ? point[2] : (row?.low ?? swept?.low[at] ?? null);
    const high = early ? point[3] : (row?.high ?? swept?.high[at] ?? null);
    const width = row?.width ?? swept?.width[at] ?? null;
    const off =
      share === null || low === null || high === null
        ? ''
        : high < facts.setup.level
          ? '✕ too few'
          : low > facts.setup.level
            ? '▲ more'
            : '';
    const about = facts.about[name] ?? '';
    return html(
      'tr',
      {},
      html('th', { scope: 'row' }, sample(name), ` ${name}`),
      html('td', { class: 'num' }, share === null ? '–' : percent(share)),
      html(
        'td',
        { class: 'num' },
        share === null || low === null || high === null
          ? '–'
          : `${number(100 * low, 1)} to ${number(100 * high, 1)} %`
      ),
      html('td', { class: 'num' }, share === null || width === null ? '–' : significant(width, 3)),
      html('td', { class: 'warn' }, off),
      html('td', { class: 'soft wide' }, about)
    );
  });
}
