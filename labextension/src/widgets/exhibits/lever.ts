/** A lever of an exhibit: one number to drag, and what is claimed, actual and corrected at each of its settings. */
import { significant } from '../../maths/digits';
import { eachFrame, html, picture, set, svg, unique, type Picture } from '../parts/dom';
import { under } from '../parts/layout';
import { onAxis } from '../parts/on_axis';
import { draggable } from '../parts/pointer';
import type { Lever } from './facts';
import {
  FLOOR,
  H,
  LEFT,
  lineThrough,
  marksOf,
  plotOf,
  RIGHT,
  said,
  settingOf,
  TOP,
  verdictOf,
  W,
  type Plot
} from './model';

export interface LeverView {
  readonly node: HTMLElement;
  readonly stop: () => void;
}

/** The curves of a lever, with their axis; `hand` is drawn above them. */
function curves(lever: Lever, plot: Plot, ...hand: SVGElement[]): Picture {
  const { x, y, ends, last } = plot;
  const { dots, crosses } = marksOf(plot, lever);
  const end = (i: number): string => significant(lever.values[i]!, 4);
  return picture(
    `${lever.unit} along ${lever.label}`,
    W,
    H,
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${FLOOR}H${W - RIGHT}` }),
    ...ends.map((value, i) => {
      const place = { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end', class: i === 0 ? 'above' : null };
      return svg('text', place, significant(value, 3));
    }),
    under(x(0), FLOOR, end(0), 'start'),
    under(x(last), FLOOR, end(last), 'end'),
    svg('path', { class: 'soft-line', 'stroke-dasharray': '7 5', d: lineThrough(plot, lever.claimed) }),
    lever.corrected === null
      ? null
      : svg('path', { class: 'pv-line', 'stroke-dasharray': '2 4', d: lineThrough(plot, lever.corrected) }),
    svg('path', { class: 'warn-line', d: lineThrough(plot, lever.actual) }),
    svg('path', { class: 'warn-fill', d: dots }),
    svg('path', { class: 'warn-line', d: crosses }),
    ...hand
  );
}

function key(lever: Lever): HTMLElement {
  return html(
    'p',
    { class: 'key' },
    html('span', {}, '╌ claimed'),
    html('span', { class: 'w' }, '━ actual: ● kept, ✕ broken'),
    lever.corrected === null ? null : html('span', { class: 'p' }, '┄ corrected'),
    html('span', {}, lever.unit)
  );
}

export function leverView(lever: Lever, start: number, moved: (at: number) => void): LeverView {
  const plot = plotOf(lever);
  let at = settingOf(plot, start);
  const id = unique('lever');
  const range = html('input', { type: 'range', min: 0, max: plot.last, step: 1, id });
  const control = html('div', { class: 'control' }, range);
  onAxis({ node: control, range }, { wide: W, from: LEFT, to: W - RIGHT, below: H - FLOOR });
  const now = html('strong');
  const cursor = svg('path', { class: 'soft-line' });
  const here = svg('circle', { class: 'dot', r: 5 });
  const drawn = curves(lever, plot, cursor, here);
  const verdict = html('p', { class: 'say', 'aria-live': 'polite' });
  const frame = eachFrame(() => show());
  const go = (next: number): void => {
    at = settingOf(plot, next);
    frame.ask();
  };
  range.addEventListener('input', () => go(Number(range.value)));
  range.addEventListener('change', () => moved(at));
  draggable(drawn.node, { move: x => go(plot.under(x)), end: () => moved(at) });

  function show(): void {
    range.value = String(at);
    now.textContent = said(lever.values[at]!);
    verdict.textContent = verdictOf(lever, at);
    set(range, { 'aria-valuetext': `${now.textContent}: ${verdict.textContent}` });
    set(cursor, { d: `M${plot.x(at)} ${TOP}V${FLOOR}` });
    set(here, { cx: plot.x(at), cy: plot.y(lever.actual[at]!) });
    drawn.describe(`at ${now.textContent}, ${verdict.textContent}`);
  }

  show();
  return {
    node: html(
      'div',
      { class: 'lever' },
      html('div', { class: 'control' }, html('label', { for: id }, `${lever.label}: `), now),
      drawn.node,
      control,
      key(lever),
      verdict,
      html('p', { class: 'soft' }, lever.says)
    ),
    stop: frame.stop
  };
}
