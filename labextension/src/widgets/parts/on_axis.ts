/** A slider that stands on the axis it moves: its track is the axis of a drawing above it, its thumb the handle. */
import type { Slider } from './slider';

/** Half a browser's thumb, which never leaves its track. */
const THUMB = 8;

/** The axis of a drawing: `from` one place `to` another of what is `wide`, with so much of it `below`. */
export interface Axis {
  readonly wide: number;
  readonly from: number;
  readonly to: number;
  readonly below: number;
}

/** Lay a slider's track on the axis of the drawing before it. */
export function onAxis(
  { node, range }: Pick<Slider, 'node' | 'range'>,
  { wide, from, to, below }: Axis
): void {
  const part = (length: number): string => `${(100 * length) / wide}%`;
  const words = node.querySelector<HTMLElement>('.ends');
  node.style.marginTop = '0';
  // the drawing ends with a margin of var(--s2), the track runs through the middle of its 1.7rem, and numbers stand below it
  range.style.cssText =
    `display:block;position:relative;width:calc(${part(to - from)} + ${2 * THUMB}px);` +
    `margin:calc(-${part(below)} - var(--s2) - .85rem) 0 12px calc(${part(from)} - ${THUMB}px)`;
  node.prepend(range);
  if (words !== null) {
    words.style.cssText = `margin:0 ${part(wide - to)} 0 ${part(from)}`;
    range.after(words);
  }
}

/** Lay it back where it was: below its label. */
export function offAxis({ node, range }: Pick<Slider, 'node' | 'range'>): void {
  const words = node.querySelector<HTMLElement>('.ends');
  for (const one of [node, range, words]) {
    one?.removeAttribute('style');
  }
  node.append(range, ...(words === null ? [] : [words]));
}
