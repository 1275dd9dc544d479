/** A slider that stands on the axis it moves: its track is the axis of a drawing above it, its thumb the handle. */
import { html } from './dom';
import type { Slider } from './slider';

/** Half a browser's thumb, which never leaves its track. */
const THUMB = 8;

/** The axis of a drawing: `from` one place `to` another of what is `wide`, with so much of it `below`. */
export interface Axis {
  readonly wide: number;
  readonly from: number;
  readonly to: number;
  readonly below: number;
  /** Where the words below it end, where that is not where the track does. */
  readonly said?: number;
}

/** Lay a slider's track on the axis of the drawing before it. */
export function onAxis(
  { node, range }: Pick<Slider, 'node' | 'range'>,
  { wide, from, to, below, said = to }: Axis
): void {
  const part = (length: number): string => `${(100 * length) / wide}%`;
  const words = node.querySelector<HTMLElement>('.ends');
  node.style.marginTop = '0';
  // the drawing ends with a margin of var(--s1), the track runs through the middle of its 1.7rem, and numbers stand below it
  range.style.cssText =
    `display:block;position:relative;width:calc(${part(to - from)} + ${2 * THUMB}px);` +
    `margin:calc(-${part(below)} - var(--s1) - .85rem) 0 12px calc(${part(from)} - ${THUMB}px)`;
  node.prepend(range);
  if (words !== null) {
    words.style.cssText = `margin:0 ${part(wide - said)} 0 ${part(from)}`;
    range.after(words);
  }
}

/** An upright axis of a drawing: its places in what is `wide` and `high`, from `top` to `bottom` at `left`. */
export type Upright = Readonly<Record<'wide' | 'high' | 'left' | 'top' | 'bottom', number>>;

/** The place of a drawing on which sliders stand upright. */
export function upright(drawing: SVGSVGElement): HTMLElement {
  drawing.style.marginBottom = '0';
  return html('div', { style: 'position:relative;margin-bottom:var(--s1)' }, drawing);
}

/** Lay a slider's track on an upright axis of a drawing, the larger values above. */
export function onUpright(
  place: HTMLElement,
  { node, range }: Pick<Slider, 'node' | 'range'>,
  { wide, high, left, top, bottom }: Upright
): void {
  range.style.cssText =
    `position:absolute;writing-mode:vertical-lr;direction:rtl;width:1.7rem;` +
    `left:calc(${(100 * left) / wide}% - .85rem);top:calc(${(100 * top) / high}% - ${THUMB}px);` +
    `height:calc(${(100 * (bottom - top)) / high}% + ${2 * THUMB}px)`;
  if (range.parentElement !== place) {
    place.append(range);
    node.querySelector('.ends')?.remove(); // the axis says which end is which
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
