/** Lines that are named where they end: each name beside its line, and none on another. */
import { text } from './layout';

/** Where labels stand that would lie on each other: in their order, at least so far apart, inside two ends. */
export function apart(places: readonly number[], gap: number, bottom: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  const found = [...places];
  order.forEach((i, rank) => {
    const before = rank === 0 ? -Infinity : found[order[rank - 1]!]!;
    found[i] = Math.max(found[i]!, before + gap);
  });
  const over = Math.max(0, Math.max(...found) - bottom);
  return found.map(place => place - over);
}

/** A name of no more letters than there is room for. */
export const cut = (name: string, most: number): string =>
  name.length > most ? `${name.slice(0, most - 1)}…` : name;

/** The names of lines that end at some heights, right of a place; `unit` is what a pixel measures. */
export function lineNames(
  ends: readonly (readonly [name: string, y: number])[],
  { x, bottom, unit, most }: Readonly<Record<'x' | 'bottom' | 'unit' | 'most', number>>
): SVGTextElement[] {
  const places = apart(
    ends.map(([, y]) => y),
    17 * unit,
    bottom
  );
  return ends.map(([name], i) => text(x, places[i]! + 4 * unit, cut(name, most), 'start'));
}
