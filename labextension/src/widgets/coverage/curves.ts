/** Coverages as curves with their bands, wherever the lab draws them: along the studies, a loss, or what a sweep varies. */
import { number } from '../../maths/digits';
import { picture, svg } from '../parts/dom';
import { text } from '../parts/layout';
import { lineNames } from '../parts/line_names';
import { band, layered, line, marker, percent, roomFor } from './looks';

/** The size of a drawing, and what lies around its curves. */
export type Frame = Readonly<Record<'w' | 'h' | 'left' | 'right' | 'top' | 'bottom', number>>;
export const WIDE: Frame = { w: 640, h: 180, left: 56, right: 124, top: 10, bottom: 28 };
export const SMALL: Frame = { w: 360, h: 230, left: 44, right: 14, top: 12, bottom: 40 };

/** A share with its band at a place of the axis. */
export interface CurvePoint {
  readonly x: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface Curve {
  readonly name: string;
  readonly points: readonly CurvePoint[];
}

type Place = (value: number) => number;

/** A line across a drawing, and what it stands for. */
export function rule({ w, left, right }: Frame, y: number, words: string): SVGElement[] {
  return [
    svg('path', { class: 'axis', d: `M${left} ${y}H${w - right}` }),
    text(left - 6, y + 4, words, 'end')
  ];
}

/** A line through points. */
export function pathThrough(points: readonly (readonly [number, number])[]): string {
  return points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${a.toFixed(1)} ${b.toFixed(1)}`).join('');
}

/** The axis of coverages, from a round share below all bands up to 1. */
export function shares(frame: Frame, lowest: number, level: number): { y: Place; grid: SVGElement[] } {
  const { w, h, left, right, top, bottom } = frame;
  const floor = Math.max(Math.floor((Math.min(lowest, level - 0.05) - 0.01) * 20) / 20, 0);
  const y: Place = share => Math.min(top + ((1 - share) / (1 - floor)) * (h - top - bottom), h - bottom);
  const gap = 1 - floor > 0.5 ? 0.2 : 1 - floor > 0.2 ? 0.1 : 0.05;
  const marks = Array.from({ length: 21 }, (_, i) => 1 - i * gap).filter(share => share >= floor - 1e-9);
  const grid: SVGElement[] = marks.flatMap(share => rule(frame, y(share), `${number(100 * share, 0)} %`));
  grid.push(
    svg('path', { class: 'ink-line', 'stroke-dasharray': '2 4', d: `M${left} ${y(level)}H${w - right}` })
  );
  return { y, grid };
}

/** The lowest end of all bands, and no more than the level. */
export function lowest(found: readonly Curve[], level: number): number {
  return Math.min(level, ...found.flatMap(({ points }) => points.map(one => one.low)));
}

/** Bands below, then lines, then their names at the right end. */
export function drawn(
  found: readonly Curve[],
  x: Place,
  y: Place,
  names: { x: number; bottom: number; unit: number; most: number } | null
): SVGElement[] {
  const lines = layered(found);
  const ends = found.flatMap(({ name, points }) =>
    points.length === 0 ? [] : [[name, y(points.at(-1)!.share)] as const]
  );
  return [
    ...lines.map(({ name, points }) =>
      band(
        points.map(one => [x(one.x), y(one.low), y(one.high)]),
        name
      )
    ),
    ...lines.map(({ name, points }) =>
      line(name, pathThrough(points.map(one => [x(one.x), y(one.share)] as const)))
    ),
    ...(names === null ? [] : lineNames(ends, names))
  ];
}

/** The markers of some of the points. */
export function markers(
  found: readonly Curve[],
  x: Place,
  y: Place,
  of: (points: Curve['points']) => Curve['points']
): SVGElement[] {
  return layered(found).flatMap(({ name, points }) =>
    of(points).map(one => marker(name, x(one.x), y(one.share)))
  );
}

/** From so many studies on the running coverage decides its axis: the first few would make it jump. */
const SETTLED = 100;

/** The running coverage, study by study up to `end`; several curves are named at their ends. */
export function runningPicture(title: string, frame: Frame) {
  const body = svg('g');
  const plot = picture(title, frame.w, frame.h, body);
  const { w, h, left, right, bottom } = frame;
  return {
    node: plot.node,
    show: (found: readonly Curve[], end: number, level: number): void => {
      const later = found.map(({ name, points }) => {
        const settled = Math.min(points.at(-1)?.x ?? 0, SETTLED);
        return { name, points: points.filter(one => one.x >= settled) };
      });
      const { y, grid } = shares(frame, lowest(later, level), level);
      const x: Place = studies => left + (studies / end) * (w - left - right);
      const names =
        found.length > 1 ? { x: w - right + 10, bottom: h - bottom, ...roomFor(plot.node) } : null;
      body.replaceChildren(
        ...grid,
        text(left, h - 8, '0'),
        text(w - right, h - 8, `${number(end)} studies`, 'end'),
        ...drawn(found, x, y, names),
        ...markers(found, x, y, points => points.slice(-1))
      );
      const ends = found.flatMap(({ name, points }) =>
        points.length === 0 ? [] : [`${name} ${percent(points.at(-1)!.share)}`]
      );
      plot.describe(ends.length === 0 ? 'there are no intervals' : ends.join(', '));
    }
  };
}
