/** Plan before you spend: the questions of a cell, their shares under the hand, and a button that leaves the cell behind. */
import { announcer, eachFrame, html, sayCode } from '../parts/dom';
import { head } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { releaseButton } from '../parts/release';
import { slider, type Slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { budgetBar } from './budget_bar';
import { cellOf, said3, splitOf, writtenOf, type PlanFacts, type PlanSet } from './model';
import { questionTable } from './question_table';
import { scaled, type Remedy } from './remedies';
import { remedyList } from './remedy_list';
import {
  canReserve,
  equal,
  even,
  isFree,
  rangeOf,
  remembered,
  reserving,
  reshared,
  standingOf,
  startOf,
  sum,
  toldOf,
  type Standing
} from './split';
import { splitBar, type SplitBar } from './split_bar';

/** The losses under the hand. */
interface Held {
  readonly link: Link<PlanFacts, PlanSet>;
  losses: number[];
  /** Draw these with the next frame; `tell` says so to the kernel when the hand lets go. */
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
    ends: ['more private', 'more accurate'],
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
  ['Equal shares', 'every question takes the same', (_, losses) => equal(losses)],
  ['Even out the relative ±', 'every ± is the same part of its public range', even]
];
const RESERVE: Preset = [
  'Keep 20 % of the budget',
  'ask so much that a fifth of the whole budget stays',
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

interface Part {
  readonly nodes: readonly Element[];
  readonly show: (facts: PlanFacts, standing: Standing) => void;
}

/** What the split comes to, and what to do when it exceeds the budget. */
function verdictPart(held: Held): Part {
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
function releasePart(held: Held): Part {
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

export function planView(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  root.append(head(`Plan for ${link.facts().dataset}`, 'Nothing was spent.'));
  return planControls(root, link);
}

export default widget(planView);
