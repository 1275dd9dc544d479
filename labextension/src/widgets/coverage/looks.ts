/** How one interval of the coverage lab looks wherever it is drawn: methods differ by colour, by dashes and by marker. */
import { number } from '../../maths/digits';
import { html, svg, unitOf } from '../parts/dom';

interface Look {
  readonly stroke: string;
  readonly dashes: string;
  /** A marker around (0, 0). */
  readonly marker: string;
  /** Its line is this wide and lies below or above others, so that it is seen where it runs along one. */
  readonly width?: number;
  readonly layer?: number;
  /** Its marker is an outline around those of others. */
  readonly hollow?: boolean;
}

const [ACCENT, INK, WARN, SOFT] = ['var(--dp-accent)', 'var(--ink)', 'var(--dp-warn)', 'var(--soft)'];
/** Reads on light and dark alike. */
const FOURTH = '#a163c2';
const [SQUARE, DISC, DOWN, UP, DIAMOND, PLUS, SAW, BAR, STAR] = [
  'M-4.5 -4.5H4.5V4.5H-4.5Z',
  'M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z',
  'M0 5L-5 -4H5Z',
  'M0 -5L5 4H-5Z',
  'M0 -5.5L5.5 0L0 5.5L-5.5 0Z',
  'M-2 -5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z',
  'M-5 -5L0 0L5 -5V5L0 0L-5 5Z',
  'M-2.5 -6H2.5V6H-2.5Z',
  'M0 -6L2 -2H6L2 1L4 6L0 3L-4 6L-2 1L-6 -2H-2Z'
] as const;
const look = (stroke: string, dashes: string, marker: string): Look => ({ stroke, dashes, marker });
const LOOKS: Readonly<Record<string, Look>> = {
  naive: look(WARN, '7 4', DOWN),
  normal: { ...look(FOURTH, '3 5', DIAMOND), width: 2.8, layer: 3, hollow: true },
  confidence: look(INK, '', DISC),
  'monte carlo': look(ACCENT, '8 3 2 3', UP),
  privacy: { ...look(ACCENT, '', SQUARE), width: 3.2, layer: 0 },
  unbiased: look(WARN, '2 3', SAW),
  conservative: look(INK, '8 3 2 3', PLUS),
  'most conservative': look(ACCENT, '7 4', BAR),
  deconvolved: look(SOFT, '', STAR)
};
const PLAIN = look(SOFT, '', PLUS);

const lookOf = (name: string): Look => LOOKS[name] ?? PLAIN;

/** In the order in which methods are drawn: wide lines below whole ones, broken ones above, so that none is hidden. */
export function layered<T extends { readonly name: string }>(rows: readonly T[]): T[] {
  const layer = ({ layer, dashes }: Look): number => layer ?? (dashes === '' ? 1 : 2);
  return [...rows].sort((a, b) => layer(lookOf(a.name)) - layer(lookOf(b.name)));
}

export const percent = (share: number): string => `${number(100 * share, 1)} %`;

export function line(name: string, d: string): SVGPathElement {
  const look = lookOf(name);
  return svg('path', {
    d,
    fill: 'none',
    stroke: look.stroke,
    'stroke-width': look.width ?? 1.8,
    'stroke-dasharray': look.dashes === '' ? null : look.dashes
  });
}

export function marker(name: string, x: number, y: number): SVGPathElement {
  const look = lookOf(name);
  return svg('path', {
    d: look.marker,
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})${look.hollow === true ? ' scale(1.25)' : ''}`,
    fill: look.hollow === true ? 'none' : look.stroke,
    stroke: look.hollow === true ? look.stroke : 'var(--page)',
    'stroke-width': look.hollow === true ? 1.4 : 1
  });
}

export function sample(name: string): SVGSVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 34 12', class: 'sample', 'aria-hidden': 'true' },
    line(name, 'M1 6H33'),
    marker(name, 17, 6)
  );
}

/** Show the key of a drawing, a sample of each method and its name; the same key is left as it is. */
export function showSamples(key: HTMLElement, names: readonly string[]): void {
  const said = names.join();
  if (key.dataset.names !== said) {
    key.dataset.names = said;
    key.replaceChildren(...names.map(name => html('span', {}, sample(name), ` ${name}`)));
  }
}

export function band(points: readonly (readonly [number, number, number])[], name: string): SVGPathElement {
  const up = points.map(([x, , high]) => `${x.toFixed(1)} ${high.toFixed(1)}`);
  const down = [...points].reverse().map(([x, low]) => `${x.toFixed(1)} ${low.toFixed(1)}`);
  const d = points.length === 0 ? '' : `M${[...up, ...down].join('L')}Z`;
  return svg('path', { d, fill: lookOf(name).stroke, opacity: 0.13 });
}

/** How large letters are beside a drawing, and how many there is room for. */
export function roomFor(node: SVGSVGElement): { unit: number; most: number } {
  const unit = unitOf(node);
  return { unit, most: unit > 1.3 ? 10 : 18 };
}
