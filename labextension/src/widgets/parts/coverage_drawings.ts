/** The drawings of the coverage lab. Methods differ by colour, by dashes and by marker; misses by a cross as well. */
import { missed, verdict, wilson } from '../../maths/coverage';
import { number, significant } from '../../maths/digits';
import { place, ticks } from '../../maths/scale';
import { html, picture, set, svg, type Child } from './dom';
import { draggable } from './pointer';
import type { CoverageFacts, Partition, Row, Stack, StudyFacts, SweepFacts } from './coverage_facts';

interface Look {
  readonly stroke: string;
  readonly dashes: string;
  /** A marker around (0, 0). */
  readonly marker: string;
}

const [ACCENT, INK, WARN, SOFT] = ['var(--dp-accent)', 'var(--ink)', 'var(--dp-warn)', 'var(--soft)'];
const [SQUARE, DISC, DOWN, UP, DIAMOND, PLUS, SAW, BAR, STAR] = [
  'M-4 -4H4V4H-4Z',
  'M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z',
  'M0 5L-5 -4H5Z',
  'M0 -5L5 4H-5Z',
  'M0 -5.5L5.5 0L0 5.5L-5.5 0Z',
  'M-2 -5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z',
  'M-5 -5L0 0L5 -5V5L0 0L-5 5Z',
  'M-2.5 -6H2.5V6H-2.5Z',
  'M0 -6L2 -2H6L2 1L4 6L0 3L-4 6L-2 1L-6 -2H-2Z'
] as const;
const look = (stroke: string, dashes: string, marker: string): Look => ({ stroke, dashes, marker });
const LOOKS: Readonly<Record<string, Look>> = {
  naive: look(WARN, '7 4', DOWN),
  normal: look(SOFT, '2 3', DIAMOND),
  confidence: look(INK, '', DISC),
  'monte carlo': look(ACCENT, '8 3 2 3', UP),
  privacy: look(ACCENT, '', SQUARE),
  unbiased: look(WARN, '2 3', SAW),
  conservative: look(INK, '8 3 2 3', PLUS),
  'most conservative': look(ACCENT, '7 4', BAR),
  deconvolved: look(SOFT, '', STAR)
};
const PLAIN = look(SOFT, '', PLUS);

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

const [SIDE, ROW] = [200, 5];
/** How many studies are seen. */
export const LAST = 40;

/** One method's last intervals, newest below: a line that holds, a heavier one with a cross that misses. */
export function stack(
  row: Row,
  visible: Stack,
  { middle, reach }: { middle: number; reach: number }
): HTMLElement {
  const x = (value: number): number =>
    SIDE / 2 + Math.min(Math.max((value - middle) / reach, -1), 1) * (SIDE / 2 - 4);
  let [holds, misses, crosses, truths] = ['', '', '', ''];
  let failed = 0;
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
      failed += 1;
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
      : `${failed} of the last ${visible.length} miss`
  );
  return html(
    'figure',
    { class: 'stack' },
    html('figcaption', {}, html('strong', {}, row.name)),
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
      const points = (run.methods[name]?.trail ?? []).flatMap(([studies, known, held]) => {
        const band_ = wilson(held, known);
        return band_ === null || studies > now
          ? []
          : [{ studies, share: held / known, low: band_[0], high: band_[1] }];
      });
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

const [HW, HH] = [200, 74];

/** Bars from left to right; `extra` is drawn above them. */
function bars(
  title: string,
  words: string,
  shares_: readonly number[],
  [low, high]: readonly [string, string],
  extra: readonly Child[] = []
): HTMLElement {
  const top = Math.max(...shares_, 1e-9);
  const wide = HW / shares_.length;
  const d = shares_
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
  plot.describe(`${words} from ${low} to ${high}`);
  return html(
    'figure',
    { class: 'stack' },
    html('figcaption', {}, html('strong', {}, title), html('span', { class: 'soft' }, words)),
    plot.node,
    html('div', { class: 'ends', 'aria-hidden': 'true' }, html('span', {}, low), html('span', {}, high))
  );
}

function errors(run: StudyFacts, name: string): HTMLElement {
  const found = run.methods[name]!;
  const all = [...found.errors, found.wide];
  const tall = (found.zero / Math.max(...all, found.zero, 1e-9)) * (HH - 4);
  const spike = svg('path', { d: `M2 ${HH}v${-tall}m-4 -4l8 8m0 -8l-8 8`, class: 'spike' });
  const words = found.zero > 0 ? ` ✕ ${percent(found.zero)} are zero` : ' none is zero';
  const high = found.wide > 0 ? `${significant(run.top, 2)} or more` : significant(run.top, 2);
  return bars(name, words, all, ['0', high], found.zero > 0 ? [spike] : []);
}

function scores(run: StudyFacts, name: string): HTMLElement {
  const found = run.methods[name]!.scores;
  const top = Math.max(...found, 1e-9);
  const step = 8 / found.length;
  const tall = (z: number): number =>
    Math.min(((step * Math.exp(-z * z * 0.5)) / Math.sqrt(2 * Math.PI) / top) * (HH - 4), HH);
  const d = Array.from({ length: 81 }, (_, i) => {
    const z = -4 + i / 10;
    return `${i === 0 ? 'M' : 'L'}${((HW * i) / 80).toFixed(1)} ${(HH - tall(z)).toFixed(1)}`;
  }).join('');
  const far = found.filter((_, i) => Math.abs(-4 + step * (i + 0.5)) > 2).reduce((a, b) => a + b, 0);
  return bars(
    name,
    ` ${percent(far)} beyond ± 2`,
    found,
    ['−4', '4'],
    [svg('path', { d, class: 'ink-line', 'stroke-dasharray': '4 3' })]
  );
}

/** One resample as a partition of the rows: a column of those it holds 0, 1, 2, … times, beside what is expected. */
function parted(found: Partition, at: number): HTMLElement {
  const counts = found.counts[at] ?? [];
  const wide = W / counts.length;
  const top = Math.max(...counts, ...found.expected);
  const tall = (count: number): number => (count / top) * (H - 60);
  const plot = picture(
    'one resample',
    W,
    H,
    ...counts.flatMap((count, i) => [
      svg('rect', {
        x: i * wide + 8,
        y: H - 36 - tall(count),
        width: wide - 16,
        height: tall(count),
        fill: i < 2 ? 'var(--dp-soft)' : 'var(--dp-warn)',
        opacity: 0.65
      }),
      svg('path', {
        class: 'ink-line',
        'stroke-dasharray': '4 3',
        d: `M${i * wide + 4} ${H - 36 - tall(found.expected[i] ?? 0)}h${wide - 8}`
      }),
      svg(
        'text',
        { x: (i + 0.5) * wide, y: H - 42 - tall(count), 'text-anchor': 'middle' },
        number(count, 0)
      ),
      svg(
        'text',
        { x: (i + 0.5) * wide, y: H - 18, 'text-anchor': 'middle' },
        i === counts.length - 1 ? `× ${i} +` : `× ${i}`
      ),
      i === found.you[at] || (i === counts.length - 1 && (found.you[at] ?? 0) >= i)
        ? svg('text', { x: (i + 0.5) * wide, y: H - 2, 'text-anchor': 'middle' }, '▲ you')
        : null
    ])
  );
  const twice = counts.slice(2).reduce((a, b) => a + b, 0);
  plot.describe(counts.map((count, i) => `${count} rows ${i} times`).join(', '));
  return html(
    'div',
    {},
    plot.node,
    html(
      'p',
      { class: 'say' },
      `This resample leaves out ${number(counts[0] ?? 0, 0)} of ${number(found.n, 0)} rows and holds ${number(twice, 0)} twice or more. ` +
        'A row that is held twice moves the answer twice as far: noise that hides one copy does not hide two.'
    ),
    html('p', { class: 'soft' }, `One row, “you”, in these resamples: ${found.you.join(' ')} times.`)
  );
}

const WHY = ['standard errors', 'z-scores', 'releases', 'one resample'] as const;

export interface Why {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts, facts: CoverageFacts) => void;
}

/** Why intervals miss: their standard errors with a spike at zero, z-scores, what was released, and a resample parted. */
export function why(): Why {
  let chosen: (typeof WHY)[number] = 'standard errors';
  let [last, shown]: [StudyFacts | null, string] = [null, ''];
  let now: CoverageFacts | null = null;
  const places = html('div', { class: 'stacks' });
  const words = html('p', { class: 'soft' });
  const which = html('input', { type: 'range', min: 1, max: 24, value: 1, 'aria-label': 'which resample' });
  const tabs = WHY.map(name => {
    const tab = html('button', { type: 'button', 'aria-pressed': 'false' }, name);
    tab.addEventListener('click', () => {
      chosen = name;
      draw();
    });
    return { name, tab };
  });
  which.addEventListener('input', () => draw());
  const draw = (): void => {
    const run = now?.run ?? null;
    if (run === null || now === null) {
      return;
    }
    const parts = now.partition;
    if (chosen === 'one resample' && parts === null) {
      chosen = 'standard errors';
    }
    for (const { name, tab } of tabs) {
      set(tab, { 'aria-pressed': String(name === chosen), class: name === chosen ? 'strong' : null });
      tab.hidden = name === 'one resample' && parts === null;
    }
    const names = now.shown.filter(name => run.methods[name] !== undefined);
    which.hidden = chosen !== 'one resample';
    places.className = chosen === 'one resample' ? '' : 'stacks';
    if (chosen === 'one resample' && parts !== null) {
      which.max = String(parts.counts.length);
      const at = Math.min(Number(which.value), parts.counts.length);
      set(which, { 'aria-valuetext': `resample ${at} of ${parts.k}` });
      words.textContent = `Resample ${at} of ${parts.k}. Dashed: what is expected.`;
      places.replaceChildren(parted(parts, at - 1));
    } else if (chosen === 'releases') {
      words.textContent = 'What the studies answered: sampling and noise together.';
      places.replaceChildren(
        ...Object.entries(run.releases).map(([name, found]) =>
          bars(name, '', found.shares, [
            significant(found.low, 3),
            significant(found.low + found.step * found.shares.length, 3)
          ])
        )
      );
    } else {
      words.textContent =
        chosen === 'z-scores'
          ? 'How far off, in standard errors. Dashed: what a normal law would do; the ends hold what lies beyond.'
          : 'Half a width over the normal quantile. A spike at zero is a certain miss: the noise was taken for all the spread.';
      places.replaceChildren(
        ...names.map(name => (chosen === 'z-scores' ? scores(run, name) : errors(run, name)))
      );
    }
  };
  return {
    node: html(
      'section',
      {},
      html('h4', {}, 'Why?'),
      html(
        'div',
        { class: 'buttons', role: 'group', 'aria-label': 'what to look at' },
        ...tabs.map(one => one.tab)
      ),
      words,
      which,
      places
    ),
    show: (run, facts) => {
      now = facts;
      const names = facts.shown.join();
      if (run !== last || names !== shown) {
        [last, shown] = [run, names];
        draw();
      }
    }
  };
}

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

/** What is varied in a sweep, or paid. */
export function symbolOf(facts: CoverageFacts): string {
  const over = facts.sweep?.over ?? 'loss';
  return over === 'loss' ? (facts.setup.kind === 'rho' ? 'ρ' : 'ε') : over;
}

/** How many studies of a method there are on the screen, and how many of their intervals held. */
export function countsOf(
  facts: CoverageFacts,
  name: string,
  at: number,
  now: number
): { studies: number; held: number; width: number | null; reason: string } | null {
  if (facts.sweep !== null) {
    const line = facts.sweep.rows.find(one => one.name === name);
    const studies = line?.studies[at] ?? 0;
    return line === undefined || studies === 0
      ? null
      : { studies, held: line.held[at] ?? 0, width: line.width[at] ?? null, reason: '' };
  }
  const row = facts.run?.rows.find(one => one.name === name);
  if (row === undefined || now === 0) {
    return null;
  }
  // while a block is played, the numbers are those of its part that is on the screen
  const point = facts.run?.methods[name]?.trail.filter(one => one[0] <= now).at(-1);
  return point !== undefined && now < row.studies ? { ...row, studies: point[1], held: point[2] } : row;
}

const MARKS = { 'too few': '✕', 'as promised': '✓', more: '▲' } as const;

/** What is seen, in words: one line for each method that is shown. */
export function sentences(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  return facts.shown.flatMap(name => {
    const found = countsOf(facts, name, at, now);
    if (found === null) {
      return [];
    }
    if (found.studies === 0) {
      return [html('li', {}, sample(name), ` ${name}: none. ${found.reason}`)];
    }
    const mark = MARKS[verdict(found.held, found.studies, facts.setup.level)];
    const words = missed(name, found.held, found.studies, facts.setup.level);
    return [
      html('li', {}, sample(name), html('span', { class: mark === '✕' ? 'bad' : 'mark' }, ` ${mark} `), words)
    ];
  });
}

/** The columns of the table: charges and print only where something is resampled. */
export function head(facts: CoverageFacts): HTMLElement {
  const more = charged(facts);
  const names = ['interval', 'coverage', '95 % band', 'mean width', ...(more.length > 0 ? more : ['about'])];
  return html(
    'tr',
    {},
    ...names.map((name, i) =>
      html(
        'th',
        { scope: 'col', class: i > 0 && i < 4 ? 'num' : i === 4 && more.length === 0 ? 'wide' : null },
        name
      )
    )
  );
}

function charged(facts: CoverageFacts): string[] {
  const some = facts.methods.some(one => one.resampled && facts.shown.includes(one.name));
  const print = facts.methods.some(one => one.printed !== null);
  return [
    ...(print ? ['in print'] : []),
    ...(some && facts.sweep === null ? ['charged in print', 'true charge'] : [])
  ];
}

/** One row for each method that is shown: the same numbers as in the drawings. */
export function table(facts: CoverageFacts, at: number, now: number): HTMLElement[] {
  const more = charged(facts);
  return facts.shown.map(name => {
    const found = countsOf(facts, name, at, now);
    const method = facts.methods.find(one => one.name === name);
    const band_ = found === null ? null : wilson(found.held, found.studies);
    const cell = (words: string): HTMLElement => html('td', { class: 'num' }, words);
    return html(
      'tr',
      {},
      html('th', { scope: 'row' }, sample(name), ` ${name}`),
      cell(found === null || band_ === null ? '–' : percent(found.held / found.studies)),
      cell(band_ === null ? '–' : `${number(100 * band_[0], 1)} to ${number(100 * band_[1], 1)} %`),
      cell(band_ === null || found?.width === null || found === null ? '–' : significant(found.width, 3)),
      ...(more.includes('in print')
        ? [html('td', {}, method?.printed === null || method === undefined ? '' : percent(method.printed))]
        : []),
      ...(more.includes('true charge')
        ? [html('td', {}, method?.published ?? ''), html('td', {}, method?.true ?? '')]
        : []),
      more.length > 0 ? null : html('td', { class: 'soft wide' }, method?.words ?? '')
    );
  });
}
