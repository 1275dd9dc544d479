/** The errors of both noises: as a hundred dots each, as densities, or as shares of errors below. */
import { halfWidth } from '../../maths/digits';
import { html, picture, set, svg } from '../parts/dom';
import { key, text } from '../parts/layout';
import { curvesOf, type Noises, type Shape } from './model';

const [W, H, MIDDLE, FLOOR] = [640, 190, 86, 166];
const POINTS = 500;

/** How far from the middle an error stands, at most at the edge. */
const offset = (error: number, reach: number): number =>
  (Math.min(Math.max(error / reach, -1), 1) * (W - 20)) / 2;

const at = (error: number, reach: number): number => W / 2 + offset(error, reach);

/** A stack of dots: each error falls into a column, and columns grow away from the middle line. */
function stack(errors: readonly number[], reach: number, up: boolean): string {
  const columns = errors.map(error => Math.round(offset(error, reach) / 8));
  const heights = new Map<number, number>();
  for (const column of columns) {
    heights.set(column, (heights.get(column) ?? 0) + 1);
  }
  const gap = Math.min(7.4, (MIDDLE - 8) / Math.max(...heights.values()));
  heights.clear();
  let path = '';
  for (const column of columns) {
    const height = (heights.get(column) ?? 0) + 1;
    heights.set(column, height);
    const y = up ? MIDDLE - 4 - height * gap : MIDDLE + 4 + height * gap;
    path += up
      ? `M${W / 2 + column * 8} ${y.toFixed(1)}h0`
      : `M${W / 2 + column * 8 - 2.8} ${y.toFixed(1)}h5.6`;
  }
  return path;
}

/** A curve of 500 points over the errors that are drawn. */
function curve(reach: number, height: (error: number) => number): string {
  let path = '';
  for (let i = 0; i <= POINTS; i++) {
    const error = reach * ((2 * i) / POINTS - 1);
    path += `${i === 0 ? 'M' : 'L'}${at(error, reach).toFixed(1)} ${(FLOOR - (FLOOR - 12) * height(error)).toFixed(1)}`;
  }
  return path;
}

function scale(reach: number, base: number): SVGElement[] {
  return [
    svg('path', { class: 'axis', d: `M0 ${base}H${W}M${W / 2} 0V${FLOOR}` }),
    text(10, H - 6, `−${halfWidth(reach)}`, 'start'),
    text(W / 2, H - 6, 'the truth'),
    text(W - 10, H - 6, `+${halfWidth(reach)}`, 'end')
  ];
}

interface ErrorPicture {
  readonly node: SVGSVGElement;
  readonly keys: HTMLElement;
  readonly describe: (words: string) => void;
  /** Draw both noises, and one hypothetical release. */
  readonly show: (noises: Noises, shape: Shape, error: number) => void;
}

export function errorPicture(): ErrorPicture {
  const mark = { 'stroke-width': 7, fill: 'none' };
  const sampling = svg('path', { ...mark, 'stroke-linecap': 'round', stroke: 'var(--ink)' });
  const privacy = svg('path', { ...mark, 'stroke-width': 5.6, stroke: 'var(--dp-accent)' });
  const one = svg('path', { class: 'ink-line', 'stroke-dasharray': '5 3' });
  const two = svg('path', { class: 'pv-line' });
  const shown = svg('path', { class: 'soft-line', 'stroke-width': 2.5 });
  const [axes, keys] = [svg('g'), html('div')];
  const plot = picture('two noises', W, H, axes, sampling, privacy, one, two, shown);
  return {
    ...plot,
    keys,
    show: (noises, shape, error) => {
      const { drawn, added, reach } = noises;
      const dots = shape === 'dots';
      set(sampling, { d: dots ? stack(drawn, reach, true) : '' });
      set(privacy, { d: dots ? stack(added, reach, false) : '' });
      const [first, second] = dots ? ['', ''] : curvesOf(noises, shape).map(height => curve(reach, height));
      set(one, { d: first! });
      set(two, { d: second! });
      set(shown, { d: `M${at(error, reach).toFixed(1)} 0V${FLOOR}` });
      axes.replaceChildren(...scale(reach, dots ? MIDDLE : FLOOR));
      keys.replaceChildren(
        dots
          ? key(['k', 'above: sampling'], ['p', 'below: privacy'])
          : key(['k', 'dashed: sampling'], ['p', 'solid: privacy'])
      );
    }
  };
}
