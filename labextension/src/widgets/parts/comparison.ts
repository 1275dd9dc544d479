/** zCDP compared with adding up: one promise counted both ways, so that it shows what the tighter way saves. A display; no charge changes. */
import { compared, type Compared, type Event } from '../../maths/composition';
import { usedShare } from '../../maths/budget';
import { button, html, set, svg, unique, type Part } from './dom';
import { brief, type Counting, type Dataset } from './session_state';

const SMALL = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/** A δ as people write it: `10⁻⁶`. */
export function power(delta: number): string {
  const [digits = '', tens = ''] = delta.toExponential(2).split('e');
  const raised = tens
    .replace('-', '⁻')
    .replace('+', '')
    .replace(/\d/g, digit => SMALL[Number(digit)]!);
  return Number(digits) === 1 ? `10${raised}` : `${Number(digits)}·10${raised}`;
}

/** A part of a whole in words; more than the whole as how many times it. */
export function part(share: number | null): string {
  if (share === null) {
    return '–';
  }
  return share > 1 ? `${brief(share)} times the budget` : `${brief(100 * share)} %`;
}

/** What the comparison comes to, in one or two sentences. */
export function verdict(
  { kept, whole }: Pick<Counting, 'kept' | 'whole'>,
  found: Compared,
  delta: number
): string[] {
  const { adding, zcdp, even } = found;
  if (adding === null || zcdp === null) {
    return [`With δ = ${power(delta)} there is no ρ for this promise: choose a larger δ.`];
  }
  if (found.added === 0) {
    return [
      whole
        ? 'Nothing was charged yet: there is nothing to compare.'
        : 'No charge here is yours: for others you see only the total.'
    ];
  }
  const tighter = zcdp < adding ? 'zCDP' : 'Adding';
  const [less, more] = zcdp < adding ? [zcdp, adding] : [adding, zcdp];
  const said = [`${tighter} is the tighter count here: ${part(less)} instead of ${part(more)}.`];
  if (kept === 'adding') {
    said.push(
      `Releases below ε ${brief(even ?? 0)} take less of a zCDP budget, larger ones more.`,
      `Adding needs no δ; zCDP's ε is for δ = ${power(delta)}.`
    );
  } else {
    said.push(
      whole && adding > 1 && zcdp <= 1 ? 'Counted by adding, the budget would have run out before now.' : '',
      `Adding counts each Gaussian release alone, at an equal part of δ = ${power(delta)}.`
    );
  }
  if (!whole) {
    said.push('Only your own charges on this dataset are counted: for others you see only the total.');
  }
  return said.filter(Boolean);
}

function measured(name: string, share: number | null, more: number | null): SVGSVGElement {
  const [spent, ghost] = [usedShare(share ?? 0, 1), usedShare(more ?? 0, 1)];
  return svg(
    'svg',
    { height: 8, role: 'img', 'aria-label': `${name}: ${part(share)}`, class: 'budget' },
    svg('rect', { x: 0, y: 0, width: '100%', height: 8, class: 'room' }),
    svg('rect', {
      x: 0,
      y: 0,
      width: `${100 * ghost}%`,
      height: 8,
      class: (more ?? 0) > 1 ? 'over' : 'pv',
      opacity: 0.45
    }),
    svg('rect', {
      x: 0,
      y: 0,
      width: `${100 * spent}%`,
      height: 8,
      class: (share ?? 0) > 1 ? 'over' : 'used'
    })
  );
}

/** The toggle, and behind it the two bars. */
export function countingView(): Part<[one: Dataset, plan?: readonly Event[]]> {
  const id = unique('counting');
  const open = (): void => {
    body.hidden = !body.hidden;
    set(toggle, { 'aria-expanded': String(!body.hidden) });
    draw();
  };
  const toggle = button('Compare zCDP with adding up', open, {
    'aria-expanded': 'false',
    'aria-controls': id
  });
  const bars = html('div', {});
  const said = html('div', { class: 'soft', role: 'status' });
  const choice = html('select', { 'aria-label': 'δ of the comparison' });
  const chosen = html('p', { class: 'soft' }, html('label', {}, 'at δ = ', choice));
  const body = html('div', { id, hidden: '', class: 'counting' }, bars, said, chosen);
  let now: { one: Dataset; plan: readonly Event[] } | null = null;

  const draw = (): void => {
    if (now === null || body.hidden) {
      return;
    }
    const { counting, title } = now.one;
    const delta = Number(choice.value);
    const { epsilon, rho, kept, events, whole } = counting;
    const found = compared(epsilon, rho, events, delta);
    const planned = now.plan.length > 0 ? compared(epsilon, rho, [...events, ...now.plan], delta) : found;
    const promise = `ε ${brief(found.epsilon)}`;
    const rows = [
      {
        name: 'Adding',
        mine: kept === 'adding',
        words: `ε ${brief(found.added)} of ${brief(found.epsilon)}`,
        share: found.adding,
        more: planned.adding
      },
      {
        name: 'zCDP',
        mine: kept === 'zcdp',
        words: `ρ ${brief(found.rhos)} of ${found.rho === null ? '–' : brief(found.rho)}`,
        share: found.zcdp,
        more: planned.zcdp
      }
    ];
    bars.replaceChildren(
      html('p', { class: 'soft' }, `One promise, ${promise}, counted two ways:`),
      ...rows.map(row =>
        html(
          'div',
          { class: 'counted' },
          html(
            'p',
            {},
            html('strong', {}, row.name),
            row.mine ? ' (this budget)' : '',
            html('span', { class: 'soft' }, ` ${row.words} · ${part(row.share)}`)
          ),
          measured(`${title}, ${row.name}`, row.share, row.more)
        )
      )
    );
    said.replaceChildren(...verdict({ kept, whole }, found, delta).map(line => html('p', {}, line)));
  };
  choice.addEventListener('change', draw);
  return {
    node: html('div', {}, html('div', { class: 'buttons' }, toggle), body),
    show: (one, plan = []) => {
      const { deltas } = one.counting;
      if (now === null || String(now.one.counting.deltas) !== String(deltas)) {
        const middle = deltas[Math.floor((deltas.length - 1) / 2)];
        choice.replaceChildren(...deltas.map(delta => html('option', { value: delta }, power(delta))));
        choice.value = String(middle);
        choice.disabled = deltas.length < 2;
      }
      now = { one, plan };
      draw();
    }
  };
}
