/** Which relations synthetic rows can keep: a matrix of two-way tables to choose from, a loss to drag, and what both give. */
import { number, significant } from '../../maths/digits';
import { announcer, html, set, type Part } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { checkField, figures, head } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { scrolling } from '../parts/scroll_region';
import { slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import {
  LEVELS,
  lossNote,
  pairsOf,
  pairWords,
  RANGES,
  sentence,
  standingOf,
  startOf,
  type Standing,
  type SyntheticFacts,
  type SyntheticSet
} from './model';

/** The matrix: a row and a column for each column of the data, a box for each pair; `ticked` hears which table is asked. */
function matrix(
  facts: SyntheticFacts,
  kept: (place: number, on: boolean) => void,
  ticked: (place: number, on: boolean) => void
): Part<[now: SyntheticSet, standing: Standing]> {
  const pairs = pairsOf(facts.columns.length);
  const boxes = pairs.map((_, place) => {
    const box = html('input', { type: 'checkbox' });
    box.addEventListener('change', () => ticked(place, box.checked));
    return box;
  });
  const cells = boxes.map(box => html('td', {}, box));
  const names = facts.columns.map(({ name, levels }, i) =>
    checkField(`${name} (${levels})`, on => kept(i, on))
  );
  const rows = names.map((name, j) => {
    const [from, to] = [(j * (j - 1)) / 2, (j * (j + 1)) / 2];
    return html(
      'tr',
      {},
      html('th', { scope: 'row' }, name.node),
      ...cells.slice(from, to),
      html('td', {}, String(j + 1))
    );
  });
  const table = html('table', { class: 'pairs' }, html('tbody', {}, ...rows));
  return {
    node: scrolling('which pairs of columns are measured', table),
    show: (now, { states }) => {
      names.forEach((name, i) => name.show(now.columns[i] === 1));
      pairs.forEach((pair, place) => {
        const [state, box] = [states[place]!, boxes[place]!];
        box.checked = now.pairs[place] === 1;
        box.disabled = state === 'out';
        set(box, { 'aria-label': pairWords(facts, pair, state) });
        set(cells[place]!, { class: state });
      });
    }
  };
}

const flipped = (before: readonly number[], place: number, on: boolean): number[] =>
  before.map((one, i) => (i === place ? Number(on) : one));

function syntheticView(root: HTMLElement, link: Link<SyntheticFacts, SyntheticSet>): View {
  const first = link.facts();
  const held = dragState(link, startOf(first), () => show(), {
    loss: RANGES[first.kind],
    columns: { low: 0, high: 1 },
    pairs: { low: 0, high: 1 }
  });
  const { now } = held;
  const take = (part: Partial<SyntheticSet>): void => {
    held.move(part);
    held.tell();
  };
  const losses = slider({
    label: first.kind === 'rho' ? 'ρ' : 'ε',
    range: RANGES[first.kind],
    value: now.loss,
    input: loss => held.move({ loss }),
    change: held.tell
  });
  const pairs = matrix(
    first,
    (place, on) => take({ columns: flipped(now.columns, place, on) }),
    (place, on) => take({ pairs: flipped(now.pairs, place, on) })
  );
  const told = figures('g: people per cell, over σ', 'σ: noise of a cell, sd', 'intervals');
  const said = announcer();
  const problem = html('p', { class: 'warn' });
  root.append(
    head('Which relations the rows can keep', 'Nothing is spent.', first.dataset),
    ...[losses, told, pairs].map(one => one.node),
    said,
    problem
  );

  function show(): void {
    const facts = link.facts();
    const standing = standingOf(facts, now);
    const words = sentence(standing);
    pairs.show(now, standing);
    told.say(
      significant(standing.g, 2),
      standing.tables > 0 ? number(standing.sigma) : '–',
      LEVELS[standing.level]
    );
    told.note(
      2,
      standing.level === 'about' ? 'weak signal: some cover less' : 'intervals',
      standing.level === 'about'
    );
    said.textContent = words;
    problem.textContent = facts.problem;
    losses.words(lossWords(facts.kind, now.loss, words));
    losses.note(lossNote(facts, now.loss));
    losses.show(now.loss);
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(syntheticView);
