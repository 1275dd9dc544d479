/** One resample as a partition of the rows: why a bootstrap needs more noise than its print says. */
import { number } from '../../maths/digits';
import { WIDE } from './curves';
import { html, picture, svg } from '../parts/dom';
import { text } from '../parts/layout';
import type { Partition } from './facts';

const { w: W, h: H } = WIDE;

/** One resample as a partition of the rows: a column of those it holds 0, 1, 2, … times, beside what is expected. */
export function parted(found: Partition, at: number): HTMLElement {
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
      `This resample leaves out ${number(counts[0] ?? 0, 0)} of ${number(found.n, 0)} rows and holds ${number(twice, 0)} twice or more. ` +
        'A row that is held twice moves the answer twice as far: noise that hides one copy does not hide two.'
    ),
    html('p', { class: 'soft' }, `One row, “you”, in these resamples: ${found.you.join(' ')} times.`)
  );
}
