/** The frame of the wide drawings of the coverage lab, and its axis of coverages. */
import { number } from '../../maths/digits';
import { svg } from '../parts/dom';
import { text } from '../parts/layout';

export const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 180, 56, 124, 10, 28];

/** A line across a drawing, and what it stands for. */
export function rule(y: number, words: string): SVGElement[] {
  return [
    svg('path', { class: 'axis', d: `M${LEFT} ${y}H${W - RIGHT}` }),
    text(LEFT - 6, y + 4, words, 'end')
  ];
}

/** A line through points. */
export function pathThrough(points: readonly (readonly [number, number])[]): string {
  return points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${a.toFixed(1)} ${b.toFixed(1)}`).join('');
}

interface Axes {
  readonly y: (share: number) => number;
  readonly grid: SVGElement[];
}

/** The axis of coverages, from a round share below all bands up to 1. */
export function shares(lowest: number, level: number): Axes {
  const floor = Math.max(Math.floor((Math.min(lowest, level - 0.05) - 0.01) * 20) / 20, 0);
  const y = (share: number): number => TOP + ((1 - share) / (1 - floor)) * (H - TOP - BOTTOM);
  const gap = 1 - floor > 0.5 ? 0.2 : 1 - floor > 0.2 ? 0.1 : 0.05;
  const marks = Array.from({ length: 21 }, (_, i) => 1 - i * gap).filter(share => share >= floor - 1e-9);
  const grid: SVGElement[] = marks.flatMap(share => rule(y(share), `${number(100 * share, 0)} %`));
  grid.push(
    svg('path', { class: 'ink-line', 'stroke-dasharray': '2 4', d: `M${LEFT} ${y(level)}H${W - RIGHT}` })
  );
  return { y, grid };
}
