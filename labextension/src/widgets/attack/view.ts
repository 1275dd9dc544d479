/** The attack bench: choose an attack, drag ε, and read what it recovers beside guessing and beside what ε lets through. */
import { significant } from '../../maths/digits';
import { codeBox } from '../parts/code_box';
import { announcer, eachFrame, html, set, svg, unique, type Part } from '../parts/dom';
import { integerField } from '../parts/integer_field';
import { head } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { type Slider, slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import { AXIS, lossPlot } from './curve';
import {
  type Attack,
  type AttackFacts,
  type AttackSet,
  PRIVATE,
  type Published,
  type Reading,
  type State,
  chosenOf,
  drawnOf,
  fallWords,
  heard,
  percent,
  rangeOf,
  readingOf,
  sentence,
  startOf,
  within
} from './model';
import { type Repeat, repeat } from './repeat';

type Row = Part<[reading: Reading, baseline: number, chosen: boolean]>;

function row(one: Published, name: string, choose: () => void): Row {
  const box = html('input', { type: 'radio', name });
  box.addEventListener('change', choose);
  const length = svg('path', { class: 'pv' });
  const most = svg('path', { stroke: 'var(--ink)', 'stroke-width': 3 });
  const guess = svg('path', { class: 'ink-line', 'stroke-dasharray': '3 2' });
  const view = svg(
    'svg',
    { viewBox: '0 0 400 18', 'aria-hidden': 'true', preserveAspectRatio: 'none', height: 18 },
    svg('path', { class: 'room', d: 'M0 3H400V15H0Z' }),
    length,
    guess,
    most
  );
  const figure = html('strong');
  const spread = html('span', { class: 'soft wide' });
  return {
    node: html(
      'tr',
      {},
      html('th', { scope: 'row' }, html('label', {}, box, one.label)),
      html('td', {}, view),
      html('td', { class: 'num' }, figure, spread)
    ),
    show: ({ share, error, bound }, baseline, chosen) => {
      box.checked = chosen;
      set(guess, { d: `M${400 * baseline} 0V18` });
      set(length, { d: `M0 3H${400 * share}V15H0Z` });
      set(most, { d: bound === null ? 'M0 0' : `M${400 * bound} 0V18` });
      figure.textContent = percent(share);
      spread.textContent = ` ± ${significant(200 * error, 2)}`;
    }
  };
}

/** The publications as a table: a name to choose each by, its share as a bar, and the number. The rows are in their order. */
function publicationTable(
  publications: readonly Published[],
  choose: (key: string) => void
): { readonly node: HTMLElement; readonly rows: readonly Row[] } {
  const name = unique('published');
  const rows = publications.map(one => row(one, name, () => choose(one.key)));
  const node = html(
    'table',
    { class: 'bars' },
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        html('th', { scope: 'col' }, 'published'),
        html('th', { scope: 'col', 'aria-hidden': 'true' }),
        html('th', { scope: 'col', class: 'num' }, 'recovered')
      )
    ),
    html('tbody', {}, ...rows.map(one => one.node))
  );
  return { node, rows };
}

/** The state that is set, and what follows a change of it. */
interface Bench {
  readonly state: State;
  readonly link: Link<AttackFacts, AttackSet>;
  readonly tell: () => void;
  readonly show: () => void;
  /** Draw with the next frame. */
  readonly ask: () => void;
}

/** Which attack, from which seed, how often. */
function choices({ state, link, tell, show }: Bench, again: Repeat): Part<[facts: AttackFacts]> {
  const id = unique('attack');
  const names = link.facts().attacks.map(name => html('option', { value: name }, name));
  const attacks = html('select', { id }, ...names);
  attacks.addEventListener('change', () => {
    state.attack = attacks.value;
    state.published = PRIVATE;
    again.stop();
    tell();
    show();
  });
  const seed = integerField('seed', [0, 2 ** 53], rng => {
    again.stop();
    link.choose({ rng });
  });
  const times = integerField('repetitions', [1, 200], reps => link.choose({ reps }));
  return {
    node: html(
      'div',
      { class: 'choices' },
      html('div', { class: 'control' }, html('label', { for: id }, 'attack'), ' ', attacks),
      seed.node,
      times.node
    ),
    show: ({ rng, reps }) => {
      attacks.value = state.attack;
      seed.show(rng);
      times.show(reps);
    }
  };
}

/** A button to the loss at which the attack does no better than guessing. */
function fallButton({ state, tell, show }: Bench): Part<[falls: number | null]> {
  const button = html('button', { type: 'button' });
  let target: number | null = null;
  button.addEventListener('click', () => {
    state.epsilon = target ?? state.epsilon;
    tell();
    show();
  });
  return {
    node: html('div', { class: 'buttons' }, button),
    show: falls => {
      target = falls;
      button.textContent = fallWords(falls);
      button.disabled = falls === null;
    }
  };
}

function lossSlider({ state, tell, ask }: Bench, plan: Attack): Slider {
  const losses = slider({
    label: 'ε',
    range: rangeOf(plan),
    value: state.epsilon,
    input: value => {
      state.epsilon = value;
      ask();
    },
    change: tell
  });
  losses.note(`pays for ${plan.loss}`);
  return losses;
}

const legend = (guess: string): HTMLElement =>
  html(
    'p',
    { class: 'key' },
    html('span', { class: 'p' }, html('i'), 'recovered'),
    html('span', {}, `┆ guessing: ${guess}`),
    html('span', { class: 'k' }, '▮ the most that ε allows')
  );

const DOTS =
  'Dots were simulated, with two standard errors either way; between them the line is straight. Each repetition is on new people.';

/** What belongs to one attack: `show` draws what is known of it for the loss and the publication that are set. */
function results(
  bench: Bench,
  plan: Attack
): { readonly nodes: Node[]; readonly show: Part<[plan: Attack]>['show'] } {
  const { state, tell, show, ask } = bench;
  const table = publicationTable(plan.publications, key => {
    state.published = key;
    tell();
    show();
  });
  const move = (epsilon: number): void => {
    state.epsilon = epsilon;
    ask();
  };
  const plot = lossPlot(plan, move, tell);
  const losses = lossSlider(bench, plan);
  onAxis(losses, AXIS);
  const [said, title, fall] = [announcer(), html('h4', { class: 'say' }), fallButton(bench)];
  const dots = html('p', { class: 'soft' }, DOTS);
  return {
    nodes: [table.node, legend(plan.guess), title, plot.node, losses.node, said, dots, fall.node],
    show: attack => {
      const { baseline, publications } = attack;
      const { epsilon, published } = state;
      table.rows.forEach((row, i) => {
        const one = publications[i]!;
        row.show(readingOf(plan, one, epsilon), baseline, one.key === published);
      });
      const one = chosenOf(attack, published);
      const drawn = drawnOf(attack, one);
      const reading = readingOf(plan, drawn, epsilon);
      title.textContent = drawn.label;
      plot.show(attack, drawn, reading, epsilon);
      fall.show(drawn.falls);
      said.textContent = sentence(one, readingOf(plan, one, epsilon), baseline, epsilon);
      losses.words(lossWords('epsilon', epsilon, `${drawn.label}: ${percent(reading.share)} recovered`));
      losses.show(epsilon);
    }
  };
}

const ABSENT = 'The kernel computes this attack; without a kernel it cannot be shown.';

function attackView(root: HTMLElement, link: Link<AttackFacts, AttackSet>): View {
  const first = link.facts();
  const state = startOf(first, link.chosen());
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ ...state });
  const bench: Bench = { state, link, tell, show: () => show(), ask: frame.ask };
  const again = repeat(pull => link.choose({ pull }));
  const [chosen, code] = [choices(bench, again), codeBox(3)];
  const problem = html('p', { class: 'warn', role: 'status' });
  const goal = html('p', { class: 'say' });
  const absent = html('p', { class: 'warn', role: 'status' });
  const body = html('div');
  root.append(
    head('Attack bench', 'simulated people; the attack sees answers alone'),
    ...[chosen.node, goal, absent, problem, body, again.node, code.node]
  );
  let laid = '';
  let update: Part<[plan: Attack]>['show'] = () => undefined;

  function show(): void {
    const facts = link.facts();
    const attack = facts.run[state.attack];
    chosen.show(facts);
    problem.textContent = facts.problem;
    code.show(facts.code, 'The code that reproduces this, to the bit');
    again.show(attack === undefined ? null : { ...facts, done: attack.done });
    absent.textContent = attack === undefined ? ABSENT : '';
    absent.hidden = attack !== undefined;
    body.hidden = attack === undefined;
    goal.textContent = attack?.goal ?? '';
    if (attack !== undefined && laid !== state.attack) {
      laid = state.attack;
      const found = results(bench, attack);
      body.replaceChildren(...found.nodes);
      update = found.show;
    }
    if (attack !== undefined) {
      state.epsilon = within(rangeOf(attack), state.epsilon); // a loss may be set from elsewhere
      update(attack);
    }
  }

  show();
  return {
    update: () => {
      Object.assign(state, heard(first, link.chosen()));
      show();
    },
    dispose: () => {
      again.stop();
      frame.stop();
    }
  };
}

export default widget(attackView);
