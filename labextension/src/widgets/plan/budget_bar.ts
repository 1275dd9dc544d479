/** The budget of a plan as a bar: spent, this plan as a ghost, and the room that stays. */
import { set, svg, unique } from '../parts/dom';
import type { PlanFacts } from './model';
import { percentOf } from './split';

export function budgetBar(): {
  readonly node: SVGSVGElement;
  readonly show: (facts: PlanFacts, cost: number, said: string) => void;
} {
  const hatch = unique('ghost');
  const stripe = svg('path', { d: 'M0 0V6' });
  const used = svg('rect', { x: 0, y: 0, height: 10, class: 'used' });
  const ghost = svg('rect', { y: 0, height: 10, fill: `url(#${hatch})`, class: 'ghost' });
  const node = svg(
    'svg',
    { height: 10, role: 'img', class: 'budget' },
    svg(
      'defs',
      {},
      svg(
        'pattern',
        { id: hatch, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
        stripe
      )
    ),
    svg('rect', { x: 0, y: 0, width: '100%', height: 10, class: 'room' }),
    used,
    ghost
  );
  return {
    node,
    show: ({ cap, left }, cost, said) => {
      const spent = percentOf(cap - left, cap);
      set(stripe, { class: cost <= left * (1 + 1e-9) ? 'pv-line' : 'hatch' });
      set(used, { width: spent });
      set(ghost, { x: spent, width: percentOf(Math.min(cost, left), cap) });
      set(node, { 'aria-label': `budget: ${said}` });
    }
  };
}
