/** A lever of an exhibit: one number under the hand, and what was promised, found and mended at each of its settings. */
import { significant } from '../../maths/digits';
import { eachFrame, html, picture, set, svg, unique } from '../parts/dom';
import { draggable } from '../parts/pointer';
import type { Lever, Reach } from './facts';

const [W, H, LEFT, RIGHT, TOP, FLOOR] = [640, 210, 66, 12, 12, 176];
/** From this ratio of the largest to the smallest on, the axis is logarithmic; as in the still picture. */
const SPAN = 100;

export const said = (value: Reach): string => (value === 'inf' ? 'infinite' : significant(value, 4));

/** Where a value lies between floor and ceiling; what is infinite lies on the edge of the picture. */
function scale(lever: Lever): { y: (value: Reach) => number; ends: readonly [number, number] } {
  const known = [...lever.promised, ...lever.found, ...(lever.mended ?? [])].filter(v => v !== 'inf');
  const top = Math.max(...known);
  const least = Math.min(...known.filter(v => v > 0));
  const room = FLOOR - TOP - 6;
  const steep = top > SPAN * least && Math.min(...known) > 0;
  const share = (value: number): number =>
    steep ? Math.log(value / least) / Math.log(top / least) : value / top;
  return {
    y: value => (value === 'inf' ? TOP : FLOOR - room * share(value)),
    ends: [steep ? least : 0, top]
  };
}

export interface LeverView {
  readonly node: HTMLElement;
  readonly stop: () => void;
}

export function leverView(lever: Lever, start: number, moved: (at: number) => void): LeverView {
  const last = lever.values.length - 1;
  const { y, ends } = scale(lever);
  const x = (at: number): number => LEFT + ((W - LEFT - RIGHT) * at) / last;
  let at = Math.min(Math.max(Math.round(start), 0), last);
  const id = unique('lever');
  const range = html('input', { type: 'range', min: 0, max: last, step: 1, id });
  const now = html('strong');
  const cursor = svg('path', { class: 'soft-line' });
  const here = svg('circle', { class: 'handle', r: 8 });
  const line = (values: readonly Reach[]): string =>
    values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('');
  // kept and broken differ by shape: a dot, and a cross
  const dots = lever.found.map((value, i) => (lever.kept[i]! ? dot(x(i), y(value)) : '')).join('');
  const crosses = lever.found.map((value, i) => (lever.kept[i]! ? '' : cross(x(i), y(value)))).join('');
  const plot = picture(
    `${lever.unit} along ${lever.label}`,
    W,
    H,
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${FLOOR}H${W - RIGHT}` }),
    ...ends.map(end =>
      svg('text', { x: LEFT - 6, y: y(end) + 4, 'text-anchor': 'end' }, significant(end, 3))
    ),
    svg('text', { x: x(0), y: FLOOR + 22 }, significant(lever.values[0]!, 4)),
    svg('text', { x: x(last), y: FLOOR + 22, 'text-anchor': 'end' }, significant(lever.values[last]!, 4)),
    svg('path', { class: 'soft-line', 'stroke-dasharray': '7 5', d: line(lever.promised) }),
    lever.mended === null
      ? null
      : svg('path', { class: 'pv-line', 'stroke-dasharray': '2 4', d: line(lever.mended) }),
    svg('path', { class: 'warn-line', d: line(lever.found) }),
    svg('path', { class: 'warn-fill', d: dots }),
    svg('path', { class: 'warn-line', d: crosses }),
    cursor,
    here
  );
  const verdict = html('p', { class: 'say', 'aria-live': 'polite' });
  const frame = eachFrame(() => show());
  const go = (next: number): void => {
    at = Math.min(Math.max(Math.round(next), 0), last);
    frame.ask();
  };
  range.addEventListener('input', () => go(Number(range.value)));
  range.addEventListener('change', () => moved(at));
  draggable(plot.node, {
    move: px => go((last * (px - LEFT)) / (W - LEFT - RIGHT)),
    end: () => moved(at)
  });

  function show(): void {
    range.value = String(at);
    const [promised, found] = [said(lever.promised[at]!), said(lever.found[at]!)];
    const end = lever.kept[at]! ? '✓ kept' : '✕ broken';
    const mended = lever.mended === null ? '' : `, ${said(lever.mended[at]!)} mended`;
    now.textContent = said(lever.values[at]!);
    verdict.textContent = `${lever.unit}: ${promised} promised, ${found} found${mended}. ${end}.`;
    set(range, { 'aria-valuetext': `${now.textContent}: ${verdict.textContent}` });
    set(cursor, { d: `M${x(at)} ${TOP}V${FLOOR}` });
    set(here, { cx: x(at), cy: y(lever.found[at]!) });
    plot.describe(`at ${now.textContent}, ${verdict.textContent}`);
  }

  show();
  return {
    node: html(
      'div',
      { class: 'lever' },
      html('div', { class: 'control' }, html('label', { for: id }, `${lever.label}: `), now, range),
      plot.node,
      html(
        'p',
        { class: 'key' },
        html('span', {}, '╌ promised'),
        html('span', { class: 'w' }, '━ found: ● kept, ✕ broken'),
        lever.mended === null ? null : html('span', { class: 'p' }, '┄ mended'),
        html('span', {}, lever.unit)
      ),
      verdict,
      html('p', { class: 'soft' }, lever.says)
    ),
    stop: frame.stop
  };
}

const dot = (x: number, y: number): string => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
const cross = (x: number, y: number): string => `M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`;
