/** Plan before you spend: the questions of a cell, their shares to drag, and a button that inserts the cell. */
import {
  announcer,
  coded,
  eachFrame,
  html,
  sayCode,
  set,
  svg,
  unique,
  type Part,
  type Parts
} from '../parts/dom';
import { dataTable, head } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { releaseButton } from '../parts/release';
import { scrolling } from '../parts/scroll_region';
import { type Slider, slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import {
  type Now,
  type PlanFacts,
  type PlanSet,
  cellOf,
  derivedWords,
  said3,
  splitOf,
  writtenOf
} from './model';
import { type Remedy, scaled } from './remedies';
import { remedyList } from './remedy_list';
import {
  type Standing,
  canReserve,
  costWords,
  equal,
  even,
  isFree,
  percentOf,
  rangeOf,
  remembered,
  reserving,
  reshared,
  standingOf,
  startOf,
  sum,
  toldOf
} from './split';
import { type SplitBar, splitBar } from './split_bar';

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
    head.append(html('br'), html('code', {}, ...coded(text)));
  }
  const [width, cost] = [html('td', {}), html('td', { class: 'num' })];
  return { row: html('tr', {}, head, width, cost), width, cost, box };
}

function tick(name: string, ticked: (on: boolean) => void): HTMLInputElement {
  const box = html('input', { type: 'checkbox', checked: '', 'aria-label': `ask ${name}` });
  box.addEventListener('change', () => ticked(box.checked));
  return box;
}

/** What a cell asks, a line each with accuracy and cost, and its derived values; `ticked` hears which question of the split is asked or left out. */
function questionTable(
  first: PlanFacts,
  ticked: (place: number, on: boolean) => void
): Part<[facts: PlanFacts, now: readonly Now[]]> {
  const free = isFree(first);
  let next = 0;
  const rows = first.questions.map(({ name, text, state, nameable }) => {
    const i = state === 'split' ? next++ : -1;
    return rowOf(name, text, free && i >= 0 && nameable ? tick(name, on => ticked(i, on)) : null);
  });
  const derived = first.derived.map(one => rowOf(one.name, one.text, null));
  const lines = [...rows, ...derived].map(one => one.row);
  const columns = ['question', 'expected accuracy (95 %)', ['cost', 'num']] as const;
  const table = dataTable(columns, html('tbody', {}, ...lines), 'planned');
  return {
    node: scrolling('what the cell asks', table),
    show: (facts, now) => {
      rows.forEach((one, i) => {
        const out = now[i]!.words === 'left out';
        one.width.textContent = now[i]!.words;
        one.cost.textContent = costWords(facts.questions[i]!, now[i]!, facts.paid.symbol);
        one.row.classList.toggle('out', out);
        if (one.box !== null) {
          one.box.checked = !out;
        }
      });
      derived.forEach((one, i) => {
        one.width.textContent = derivedWords(facts, i, now);
        one.cost.textContent = 'free';
      });
    }
  };
}

/** The budget of a plan as a bar: spent, this plan as a ghost, and the room that stays. */
function budgetBar(): Part<[facts: PlanFacts, cost: number, said: string], SVGSVGElement> {
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

/** The losses that are set. */
interface Held {
  readonly link: Link<PlanFacts, PlanSet>;
  losses: number[];
  /** Draw these with the next frame; `tell` says so to the kernel when the drag ends. */
  readonly move: (losses: number[]) => void;
  readonly tell: () => void;
  readonly take: (losses: readonly number[]) => void;
}

function lossSlider(held: Held): Slider {
  const first = held.link.facts();
  const range = rangeOf(first);
  return slider({
    label: `${first.symbol} of this cell`,
    range,
    value: sum(held.losses) || range.low,
    input: value => held.move(scaled(held.losses, value)),
    change: held.tell
  });
}

/** The bar of the split, with what can be done to it, where there is something to split. */
function splitPart(bar: SplitBar, facts: PlanFacts): HTMLElement[] {
  if (splitOf(facts).length < 2) {
    return [];
  }
  const how = html('span', { class: 'soft' }, isFree(facts) ? 'drag a divider' : facts.pinned);
  return [html('p', { class: 'say' }, html('strong', {}, 'The split: '), how), bar.node];
}

type Preset = readonly [
  label: string,
  title: string,
  make: (facts: PlanFacts, losses: readonly number[]) => number[]
];

const PRESETS: readonly Preset[] = [
  ['Equal shares', 'every question gets the same', (_, losses) => equal(losses)],
  ['Even out the relative ±', 'every ± is the same part of its public range', even]
];
const RESERVE: Preset = [
  'Keep 20 % of the budget',
  'spend only so much that a fifth of the whole budget remains',
  reserving
];

function presetButton(held: Held, [label, title, make]: Preset): HTMLButtonElement {
  const button = html('button', { type: 'button', title }, label);
  button.addEventListener('click', () => held.take(make(held.link.facts(), held.losses)));
  return button;
}

/** A click sets the split of a remedy; Release then leaves its cell. */
function remedyButton({ label, cell, losses }: Remedy, held: Held): HTMLElement {
  const button = html('button', { type: 'button' }, label);
  button.disabled = cell === '';
  button.addEventListener('click', () => held.take(losses));
  return button;
}

type Told = Parts<[facts: PlanFacts, standing: Standing], Element>;

/** What the split comes to, and what to do when it exceeds the budget. */
function verdictPart(held: Held): Told {
  const [ghost, said, remedies] = [budgetBar(), announcer(), remedyList()];
  const notes = html('p', { class: 'soft', role: 'status' });
  return {
    nodes: [said, ghost.node, remedies.node, notes],
    show: (facts, standing) => {
      said.className = standing.fits ? 'say' : 'say warn';
      said.textContent = standing.sentence;
      ghost.show(facts, standing.cost, standing.sentence);
      remedies.show(standing.remedies, one => remedyButton(one, held));
      notes.textContent = standing.notes;
    }
  };
}

/** The buttons, and the line of the cell that Release leaves behind. */
function releasePart(held: Held): Told {
  const first = held.link.facts();
  const cell = html('code', { class: 'cell' });
  const problem = html('p', { class: 'warn', role: 'status' });
  const release = releaseButton(() => {
    const facts = held.link.facts();
    return cellOf(facts, writtenOf(facts, held.losses));
  });
  const presets = (isFree(first) ? PRESETS : []).map(one => presetButton(held, one));
  const reserve = presetButton(held, RESERVE);
  const ends = splitOf(first).length > 0 ? [reserve] : [];
  return {
    nodes: [
      html('div', { class: 'buttons' }, release.node, ...presets, ...ends),
      html('p', { class: 'say' }, html('span', { class: 'soft' }, 'It releases with '), cell),
      problem
    ],
    show: (facts, { fits, asks, line }) => {
      release.allow(fits && asks && facts.problem === '');
      reserve.disabled = !canReserve(facts);
      sayCode(cell, line);
      problem.textContent = facts.problem;
    }
  };
}

function heldLosses(link: Link<PlanFacts, PlanSet>, ask: () => void): Held {
  const held: Held = {
    link,
    losses: startOf(link.facts(), link.chosen()),
    move: losses => {
      held.losses = losses;
      ask();
    },
    tell: () => {
      link.choose(toldOf(held.losses));
      ask();
    },
    take: losses => {
      held.losses = [...losses];
      held.tell();
    }
  };
  return held;
}

/** The controls of a plan, without a title: what a card grows in place, too. */
export function planControls(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  const first = link.facts();
  const frame = eachFrame(() => show());
  const held = heldLosses(link, frame.ask);
  let kept = [...held.losses];
  const control = lossSlider(held);
  const bar = splitBar(isFree(first), shares => held.move(reshared(held.losses, shares)), held.tell);
  const table = questionTable(first, (place, on) => {
    if (!on) {
      kept = remembered(held.losses, kept);
    }
    held.take(held.losses.map((loss, i) => (i === place ? (on ? kept[i]! : 0) : loss)));
  });
  const [verdict, release] = [verdictPart(held), releasePart(held)];
  root.append(
    ...(splitOf(first).length > 0 ? [control.node] : []),
    ...splitPart(bar, first),
    table.node,
    ...verdict.nodes,
    ...release.nodes
  );

  function show(): void {
    const facts = link.facts();
    const standing = standingOf(facts, held.losses);
    bar.show(standing.pieces);
    table.show(facts, standing.questions);
    verdict.show(facts, standing);
    release.show(facts, standing);
    control.words(lossWords(facts.kind, standing.whole, standing.sentence));
    if (standing.whole > 0) {
      control.show(said3(standing.whole));
    }
  }

  show();
  return {
    update: () => {
      held.losses = startOf(link.facts(), link.chosen(), held.losses);
      show();
    },
    dispose: () => {
      frame.stop();
      bar.dispose();
    }
  };
}

function planView(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  root.append(head(`Plan for ${link.facts().dataset}`, 'Nothing was spent.'));
  return planControls(root, link);
}

export default widget(planView);
