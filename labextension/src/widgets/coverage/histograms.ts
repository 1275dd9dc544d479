/** Small histograms of what the studies gave: standard errors with a spike at zero, z-scores, and what was released. */
import { significant } from '../../maths/digits';
import { pathThrough } from './curves';
import { html, picture, svg, type Child } from '../parts/dom';
import { ends } from '../parts/layout';
import type { StudyFacts } from './facts';
import { percent } from './looks';

const [HW, HH] = [200, 74];

/** Bars from left to right; `extra` is drawn above them. */
export function bars(
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

export function errors(run: StudyFacts, name: string): HTMLElement {
  const found = run.methods[name]!;
  const all = [...found.errors, found.wide];
  const tall = (found.zero / Math.max(...all, found.zero, 1e-9)) * (HH - 4);
  const spike = svg('path', { d: `M2 ${HH}v${-tall}m-4 -4l8 8m0 -8l-8 8`, class: 'spike' });
  const words = found.zero > 0 ? ` ✕ ${percent(found.zero)} are zero` : ' none is zero';
  const high = found.wide > 0 ? `${significant(run.top, 2)} or more` : significant(run.top, 2);
  return bars(name, words, all, ['0', high], found.zero > 0 ? [spike] : []);
}

export function scores(run: StudyFacts, name: string): HTMLElement {
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
