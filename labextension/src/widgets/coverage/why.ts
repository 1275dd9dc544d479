/** Why intervals miss: one small drawing of each method at a time, chosen by a row of buttons. */
import { number, significant } from '../../maths/digits';
import { type Child, button, html, picture, set, svg, type Part } from '../parts/dom';
import { ends, text } from '../parts/layout';
import { WIDE, pathThrough } from './curves';
import type { CoverageFacts, Partition, StudyFacts } from './facts';
import { percent } from './looks';

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
    ends(low, high)
  );
}

/** Their standard errors, with a spike at zero. */
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
  const d = pathThrough(
    Array.from({ length: 81 }, (_, i) => [(HW * i) / 80, HH - tall(-4 + i / 10)] as const)
  );
  const far = found.filter((_, i) => Math.abs(-4 + step * (i + 0.5)) > 2).reduce((a, b) => a + b, 0);
  return bars(
    name,
    ` ${percent(far)} beyond ± 2`,
    found,
    ['−4', '4'],
    [svg('path', { d, class: 'ink-line', 'stroke-dasharray': '4 3' })]
  );
}

const { w: W, h: H } = WIDE;

/** One resample as a partition of the rows: why a bootstrap needs more noise than its print says. A column of those it holds 0, 1, 2, … times, beside what is expected. */
function parted(found: Partition, at: number): HTMLElement {
  const counts = found.counts[at] ?? [];
  const wide = W / counts.length;
  const top = Math.max(...counts, ...found.expected);
  const tall = (count: number): number => (count / top) * (H - 60);
  const plot = picture(
    'one resample',
    W,
    H,
    ...counts.flatMap((count, i) => {
      const [middle, expected] = [(i + 0.5) * wide, found.expected[i] ?? 0];
      return [
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
          d: `M${i * wide + 4} ${H - 36 - tall(expected)}h${wide - 8}`
        }),
        text(middle, H - 42 - tall(Math.max(count, expected)), number(count, 0)),
        text(middle, H - 18, i === counts.length - 1 ? `× ${i} +` : `× ${i}`),
        i === found.you[at] || (i === counts.length - 1 && (found.you[at] ?? 0) >= i)
          ? text(middle, H - 2, '▲ you')
          : null
      ];
    })
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
      `This resample leaves out ${number(counts[0] ?? 0, 0)} of ${number(found.n, 0)} rows and contains ${number(twice, 0)} twice or more. ` +
        'A row that occurs twice moves the answer twice as far: noise that hides one copy does not hide two.'
    ),
    html('p', { class: 'soft' }, `One row, “you”, in these resamples: ${found.you.join(' ')} times.`)
  );
}

/** What can be looked at, and what is said of it. */
const WORDS = {
  'standard errors':
    'Half a width over the normal quantile. A spike at zero is a certain miss: all of the spread was mistaken for noise.',
  'z-scores':
    'How far off, in standard errors. Dashed: a normal law; the end bars include everything beyond.',
  releases: 'What the studies answered: sampling and noise together.',
  'one resample': ''
} as const;
type Look = keyof typeof WORDS;

export type Why = Part<[run: StudyFacts, facts: CoverageFacts]>;

/** The answers of the studies, a histogram for each number that was released. */
function releases({ releases: found }: StudyFacts): HTMLElement[] {
  return Object.entries(found).map(([name, { low, step, shares }]) =>
    bars(name, '', shares, [significant(low, 3), significant(low + step * shares.length, 3)])
  );
}

/** The drawings of a look. */
function drawings(chosen: Look, run: StudyFacts, shown: readonly string[]): HTMLElement[] {
  if (chosen === 'releases') {
    return releases(run);
  }
  const draw = chosen === 'z-scores' ? scores : errors;
  return shown.filter(name => run.methods[name] !== undefined).map(name => draw(run, name));
}

/** The buttons that choose what is looked at. */
function tabs(choose: (name: Look) => void): Part<[chosen: Look, parts: Partition | null]> {
  const made = (Object.keys(WORDS) as Look[]).map(name => {
    return [name, button(name, () => choose(name), { 'aria-pressed': 'false' })] as const;
  });
  return {
    node: html(
      'div',
      { class: 'buttons', role: 'group', 'aria-label': 'what to look at' },
      ...made.map(([, tab]) => tab)
    ),
    show: (chosen, parts) => {
      for (const [name, tab] of made) {
        set(tab, { 'aria-pressed': String(name === chosen), class: name === chosen ? 'strong' : null });
        tab.hidden = name === 'one resample' && parts === null;
      }
    }
  };
}

/** Why intervals miss: their standard errors with a spike at zero, z-scores, what was released, and a resample parted. */
export function why(): Why {
  let chosen: Look = 'standard errors';
  let [last, shown]: [StudyFacts | null, string] = [null, ''];
  let now: CoverageFacts | null = null;
  const places = html('div', { class: 'stacks' });
  const words = html('p', { class: 'soft say' });
  const which = html('input', { type: 'range', min: 1, max: 24, value: 1, 'aria-label': 'which resample' });
  const choice = tabs(name => {
    chosen = name;
    draw();
  });
  which.addEventListener('input', () => draw());

  const drawResample = (parts: Partition): void => {
    which.max = String(parts.counts.length);
    const at = Math.min(Number(which.value), parts.counts.length);
    set(which, { 'aria-valuetext': `resample ${at} of ${parts.k}` });
    words.textContent = `Resample ${at} of ${parts.k}. Dashed: what is expected.`;
    places.replaceChildren(parted(parts, at - 1));
  };
  const draw = (): void => {
    const run = now?.run ?? null;
    if (run === null || now === null) {
      return;
    }
    const parts = now.partition;
    if (chosen === 'one resample' && parts === null) {
      chosen = 'standard errors';
    }
    const one = chosen === 'one resample';
    choice.show(chosen, parts);
    which.hidden = !one;
    places.className = one ? '' : 'stacks';
    if (one && parts !== null) {
      drawResample(parts);
    } else {
      words.textContent = WORDS[chosen];
      places.replaceChildren(...drawings(chosen, run, now.shown));
    }
  };
  return {
    node: html('section', {}, html('h4', { class: 'say' }, 'Why?'), choice.node, which, words, places),
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
