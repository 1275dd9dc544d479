/** The last intervals of each method, stacked: a line that holds what is true, a heavier one with a cross that misses it. */
import { html, picture, svg } from '../parts/dom';
import type { Row, Stack } from './facts';

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
