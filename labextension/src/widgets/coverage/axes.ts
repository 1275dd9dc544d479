/** The frame of the wide drawings of the coverage lab, and its axis of coverages. */
import { number } from '../../maths/digits';
import { svg, type Child } from '../parts/dom';

export const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 180, 56, 14, 10, 28];

interface Axes {
  readonly y: (share: number) => number;
  readonly grid: Child[];
}

/** The axis of coverages, from a round share below all bands up to 1. */
export function shares(lowest: number, level: number): Axes {
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
