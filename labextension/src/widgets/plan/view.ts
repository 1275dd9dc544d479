/** Plan before you spend: the questions of a cell, their shares under the hand, and a button that leaves the cell behind. */
import { evened } from '../../maths/budget';
import { scrolling } from '../parts/scroll_region';
import { brief } from '../parts/session_state';
import { announcer, eachFrame, html, set, svg, unique } from '../parts/dom';
import { lossWords } from '../parts/loss_words';
import {
  cellOf,
  chargeOf,
  derivedWords,
  everyNow,
  said3,
  splitOf,
  writtenOf,
  type Now,
  type PlanFacts,
  type PlanSet
} from './model';
import { releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import { splitBar } from './split_bar';
import { fits, largest, remedies as remediesOf, scaled, type Remedy } from './remedies';
import { remedyList } from './remedy_list';
import type { Link, View } from '../parts/widget';

/** The part of a budget that one preset keeps. */
const KEPT = 0.2;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Spent, this plan as a ghost, and the room that stays. */
function budgetBar(): { node: SVGSVGElement; show: (facts: PlanFacts, cost: number, said: string) => void } {
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
    show: (facts, cost, said) => {
      const percent = (loss: number): string =>
        `${facts.cap > 0 ? Math.min(Math.max((100 * loss) / facts.cap, 0), 100).toFixed(2) : 0}%`;
      set(stripe, { class: cost <= facts.left * (1 + 1e-9) ? 'pv-line' : 'hatch' });
      set(used, { width: percent(facts.cap - facts.left) });
      set(ghost, { x: percent(facts.cap - facts.left), width: percent(Math.min(cost, facts.left)) });
      set(node, { 'aria-label': `budget: ${said}` });
    }
  };
}

interface Row {
  readonly row: HTMLElement;
  readonly width: HTMLElement;
  readonly cost: HTMLElement;
  readonly box: HTMLInputElement | null;
}

function rowOf(name: string, text: string, box: HTMLInputElement | null): Row {
  const head = html('th', { scope: 'row' });
  head.append(...(box === null ? [name] : [html('label', { class: 'check' }, box, ` ${name}`)]));
  if (name !== text) {
    head.append(html('br'), html('code', {}, text));
  }
  const [width, cost] = [html('td', {}), html('td', { class: 'num' })];
  return { row: html('tr', {}, head, width, cost), width, cost, box };
}

/** The controls of a plan, without a title: what a card grows in place, too. */
export function planControls(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  const first = link.facts();
  const split = splitOf(first);
  const free = first.pinned === '' && split.length > 1;
  let losses = startOf(first, link.chosen());
  let kept = [...losses];

  const tell = (): void => {
    const total = sum(losses);
    link.choose({ loss: total, shares: losses.map(loss => (total === 0 ? 0 : loss / total)) });
    frame.ask();
  };
  const take = (next: readonly number[]): void => {
    losses = [...next];
    tell();
  };
  const frame = eachFrame(() => show());
  const low = first.kind === 'epsilon' ? 0.01 : 0.0001;
  const range = { low: Math.min(low, first.loss || low), high: Math.max(10, first.loss) };
  const control = slider({
    label: `${first.symbol} of this cell`,
    range,
    value: sum(losses) || range.low,
    ends: ['more private', 'more accurate'],
    input: value => {
      losses = scaled(losses, value);
      frame.ask();
    },
    change: tell
  });
  const included = (): number[] => losses.flatMap((loss, i) => (loss > 0 ? [i] : []));
  const bar = splitBar(
    free,
    shares => {
      const places = included();
      const whole = sum(losses);
      losses = losses.map((loss, i) => (places.includes(i) ? whole * shares[places.indexOf(i)]! : loss));
      frame.ask();
    },
    tell
  );
  const boxFor = (i: number): HTMLInputElement => {
    const box = html('input', { type: 'checkbox', checked: '', 'aria-label': `ask ${split[i]!.name}` });
    box.addEventListener('change', () => {
      if (!box.checked) {
        kept = losses.map((loss, k) => (loss > 0 ? loss : kept[k]!));
      }
      take(losses.map((loss, k) => (k === i ? (box.checked ? kept[k]! : 0) : loss)));
    });
    return box;
  };
  let next = 0;
  const rows = first.questions.map(one => {
    const i = one.state === 'split' ? next++ : -1;
    return rowOf(one.name, one.text, free && i >= 0 && one.nameable ? boxFor(i) : null);
  });
  const derived = first.derived.map(one => rowOf(one.name, one.text, null));
  const preset = (label: string, title: string, make: () => number[]): HTMLButtonElement => {
    const button = html('button', { type: 'button', title }, label);
    button.addEventListener('click', () => take(make()));
    return button;
  };
  const presets = [
    preset('Equal shares', 'every question takes the same', () => {
      const places = included();
      return losses.map(loss => (loss > 0 ? sum(losses) / places.length : 0));
    }),
    preset('Even out the relative ±', 'every ± is the same part of its public range', () => {
      const facts = link.facts();
      const list = splitOf(facts);
      return evened(
        list.map(one => one.curve),
        list.map(one => one.span),
        losses
      );
    })
  ];
  const reserve = preset(
    'Keep 20 % of the budget',
    'ask so much that a fifth of the whole budget stays',
    () => {
      const facts = link.facts();
      return scaled(losses, largest(facts, losses, facts.left - KEPT * facts.cap, Math.max(sum(losses), 10)));
    }
  );
  const ghost = budgetBar();
  const said = announcer();
  const remedies = remedyList();
  const notes = html('p', { class: 'soft', role: 'status' });
  const problem = html('p', { class: 'warn', role: 'status' });
  const cell = html('code', { class: 'cell' });
  const release = releaseButton(() => cellOf(link.facts(), writtenOf(link.facts(), losses)));
  const heads = ['question', 'expected accuracy (95 %)'].map(name => html('th', { scope: 'col' }, name));

  root.append(
    ...(split.length > 0 ? [control.node] : []),
    ...(split.length > 1
      ? [
          html(
            'p',
            { class: 'say' },
            html('strong', {}, 'The split: '),
            html('span', { class: 'soft' }, free ? 'drag a divider' : first.pinned)
          ),
          bar.node
        ]
      : []),
    scrolling(
      'what the cell asks',
      html(
        'table',
        { class: 'planned' },
        html('thead', {}, html('tr', {}, ...heads, html('th', { scope: 'col', class: 'num' }, 'cost'))),
        html('tbody', {}, ...[...rows, ...derived].map(one => one.row))
      )
    ),
    said,
    ghost.node,
    remedies.node,
    notes,
    html(
      'div',
      { class: 'buttons' },
      release.node,
      ...(free ? presets : []),
      ...(split.length > 0 ? [reserve] : [])
    ),
    html('p', { class: 'say' }, html('span', { class: 'soft' }, 'It releases with '), cell),
    problem
  );

  /** A click sets the split of the way; Release then leaves its cell. */
  function chosen(way: Remedy): HTMLElement {
    const button = html('button', { type: 'button' }, way.label);
    button.disabled = way.cell === '';
    button.addEventListener('click', () => take(way.losses));
    return button;
  }

  function showRows(facts: PlanFacts, now: readonly Now[]): void {
    rows.forEach((one, place) => {
      const { words, cost, stored } = now[place]!;
      const { state } = facts.questions[place]!;
      const out = words === 'left out';
      one.width.textContent = words;
      one.cost.textContent = out
        ? '–'
        : state === 'public'
          ? 'public · free'
          : stored
            ? `stored · ${facts.paid.symbol} 0`
            : `${facts.paid.symbol} ${brief(cost)}`;
      one.row.classList.toggle('out', out);
      if (one.box !== null) {
        one.box.checked = !out;
      }
    });
    derived.forEach((one, place) => {
      one.width.textContent = derivedWords(facts, place, now);
      one.cost.textContent = 'free';
    });
  }

  function show(): void {
    const facts = link.facts();
    const listed = splitOf(facts);
    const written = writtenOf(facts, losses);
    const now = everyNow(facts, written.losses);
    const places = included();
    const whole = sum(losses);
    const mine = facts.questions.flatMap((one, i) => (one.state === 'split' ? [now[i]!] : []));
    bar.show(
      places.map(i => ({
        name: listed[i]!.name,
        share: losses[i]! / whole,
        free: mine[i]!.stored,
        words: `${listed[i]!.name} ${mine[i]!.stored ? 'stored, free' : `${facts.symbol} ${brief(losses[i]!)}`}`
      }))
    );
    showRows(facts, now);
    const cost = chargeOf(facts, written.losses);
    const asked = whole > 0 || facts.questions.some(one => one.state === 'own');
    const room = fits(facts, written.losses);
    const { symbol } = facts.paid;
    said.className = room ? 'say' : 'say warn';
    said.textContent = !asked
      ? 'Every question is left out: tick one to ask it.'
      : room
        ? `This cell would cost ${symbol} ${brief(cost)}; ${symbol} ${brief(facts.left - cost)} of ${brief(facts.cap)} would be left.`
        : `This cell would cost ${symbol} ${brief(cost)}, and only ${symbol} ${brief(facts.left)} is left: it would be refused.`;
    ghost.show(facts, cost, said.textContent);
    remedies.show(room ? [] : remediesOf(facts, losses), chosen);
    const anew = listed.filter((one, i) => one.held !== null && losses[i]! > 0 && !mine[i]!.stored);
    notes.textContent = anew
      .map(
        one =>
          `${one.name} was answered before at ${facts.symbol} ${brief(one.held!.amount)}; asked more, it is bought anew, in full.`
      )
      .join(' ');
    release.button.disabled = !room || !asked;
    reserve.disabled = !(facts.left > KEPT * facts.cap * (1 + 1e-9));
    cell.textContent = cellOf(facts, written).split('\n')[0]!;
    control.words(lossWords(facts.kind, whole, said.textContent));
    if (whole > 0) {
      control.show(said3(whole));
    }
    problem.textContent = facts.problem;
  }

  show();
  return {
    update: () => {
      losses = startOf(link.facts(), link.chosen(), losses);
      show();
    },
    dispose: () => {
      frame.stop();
      bar.dispose();
    }
  };
}

/** The losses that were set last, where they are a split of these questions; else as planned. */
function startOf(facts: PlanFacts, chosen: Partial<PlanSet>, now?: readonly number[]): number[] {
  const { loss, shares } = chosen;
  const good = (x: unknown): boolean => typeof x === 'number' && Number.isFinite(x) && x >= 0;
  const set = Array.isArray(shares) && shares.length === facts.shares.length && shares.every(good);
  const total = good(loss) ? loss! : facts.loss;
  if (!set && now?.length === facts.shares.length) {
    return [...now];
  }
  return (set ? shares : facts.shares).map(share => total * share);
}

export function planView(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, `Plan for ${link.facts().dataset}`),
      html('span', { class: 'soft' }, 'Nothing was spent.')
    )
  );
  return planControls(root, link);
}
