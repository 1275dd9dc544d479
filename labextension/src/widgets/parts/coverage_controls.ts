/** What is simulated, under the hand: statistic, population, loss, size, methods, view, number of studies and seed. */
import { number } from '../../maths/digits';
import { html, unique } from './dom';
import { slider } from './slider';
import type { CoverageFacts, CoverageSet, CoverageSetup } from './coverage_facts';

export interface Controls {
  readonly node: HTMLElement;
  readonly show: (facts: CoverageFacts) => void;
}

interface Choice {
  readonly key: string;
  readonly label: string;
}

const VIEWS: readonly Choice[] = [
  { key: 'studies', label: 'study by study' },
  { key: 'loss', label: 'sweep over the loss' },
  { key: 'n', label: 'sweep over n' },
  { key: 'k', label: 'bootstrap, over its resamples k' }
];
const KINDS: readonly Choice[] = [
  { key: 'epsilon', label: 'ε (pure)' },
  { key: 'rho', label: 'ρ (zero-concentrated)' }
];

function select(
  label: string,
  change: (key: string) => void
): { node: HTMLElement; show: (choices: readonly Choice[], chosen: string) => void } {
  const id = unique('select');
  const field = html('select', { id });
  field.addEventListener('change', () => change(field.value));
  let offered = '';
  return {
    node: html('div', { class: 'control' }, html('label', { for: id }, label), field),
    show: (choices, chosen) => {
      const offers = JSON.stringify(choices);
      if (offers !== offered) {
        offered = offers;
        field.replaceChildren(...choices.map(one => html('option', { value: one.key }, one.label)));
      }
      field.value = chosen;
    }
  };
}

function whole(
  label: string,
  [low, high]: readonly [number, number],
  change: (value: number) => void
): { node: HTMLElement; show: (value: number) => void } {
  const id = unique('whole');
  const field = html('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off', id });
  const wrong = html('span', { class: 'warn', role: 'alert' });
  const take = (): void => {
    const typed = Number(field.value.replaceAll(/[,\s]/g, ''));
    const bad = field.value.trim() === '' || !Number.isInteger(typed) || typed < low || typed > high;
    if (bad) {
      field.setAttribute('aria-invalid', 'true');
    } else {
      field.removeAttribute('aria-invalid');
      change(typed);
    }
    wrong.textContent = bad ? `A whole number from ${number(low)} to ${number(high)}.` : '';
  };
  field.addEventListener('change', take);
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      take();
    }
  });
  return {
    node: html('div', { class: 'control' }, html('label', { for: id }, label), field, wrong),
    show: value => {
      if (document.activeElement !== field) {
        field.value = number(value);
      }
    }
  };
}

const sent = ({ statistic, population, n, kind, loss, reps, seed, level }: CoverageSetup): CoverageSetup => ({
  statistic,
  population,
  n,
  kind,
  loss,
  reps,
  seed,
  level
});

/** The bootstrap is of a mean, and calibrated in ρ. */
const bootstrapped = (setup: CoverageSetup): CoverageSetup => ({
  ...sent(setup),
  statistic: 'mean',
  kind: 'rho',
  loss: setup.kind === 'rho' ? setup.loss : 0.5
});

export function controls(first: CoverageFacts, choose: (chosen: Partial<CoverageSet>) => void): Controls {
  let setup: CoverageSetup = first.setup;
  let shown: readonly string[] = first.shown;
  const set = (change: Partial<CoverageSetup>): void => {
    setup = { ...setup, ...change };
    choose({ setup: sent(setup) });
  };
  const statistic = select('statistic', key => set({ statistic: key }));
  const population = select('population', key => set({ population: key }));
  const view = select('view', key =>
    choose(key === 'k' ? { view: key, setup: bootstrapped(setup) } : { view: key })
  );
  const kind = select('measured in', key =>
    set(key === 'rho' ? { kind: 'rho', loss: 0.1 } : { kind: 'epsilon', loss: 0.5 })
  );
  const nothing = (): void => undefined;
  const loss = (symbol: string, low: number, high: number): ReturnType<typeof slider> =>
    slider({
      label: symbol,
      range: { low, high },
      value: Math.min(Math.max(setup.loss, low), high),
      ends: ['more private', 'more accurate'],
      input: nothing,
      change: value => set({ loss: value })
    });
  const losses = { epsilon: loss('ε', 0.01, 10), rho: loss('ρ', 0.0005, 5) };
  const sizes = slider({
    label: 'n',
    range: { low: 10, high: 20_000 },
    value: setup.n,
    ends: ['10 rows', '20,000 rows'],
    write: value => number(Math.round(value)),
    input: nothing,
    change: value => set({ n: Math.round(value) })
  });
  const reps = whole('studies', [1, 1_000_000], value => set({ reps: value }));
  const seed = whole('seed', [0, 2 ** 53 - 1], value => set({ seed: value }));
  const boxes = first.methods.map(method => {
    const box = html('input', { type: 'checkbox' });
    box.addEventListener('change', () => {
      const next = first.methods
        .map(one => one.name)
        .filter(name => (name === method.name ? box.checked : shown.includes(name)));
      if (next.length === 0) {
        box.checked = true; // one method is always there
        return;
      }
      choose({ shown: next });
    });
    return {
      name: method.name,
      box,
      node: html('label', { title: method.words, class: 'check' }, box, ` ${method.name}`)
    };
  });

  const methods = html(
    'div',
    { class: 'choices', role: 'group', 'aria-label': 'interval methods' },
    ...boxes.map(one => one.node)
  );
  const show = (facts: CoverageFacts): void => {
    ({ setup, shown } = facts);
    statistic.show(facts.statistics, setup.statistic);
    population.show(facts.populations, setup.population);
    view.show(VIEWS, facts.view);
    kind.show(KINDS, setup.kind);
    losses.epsilon.node.hidden = setup.kind !== 'epsilon' || facts.view === 'loss';
    losses.rho.node.hidden = setup.kind !== 'rho' || facts.view === 'loss';
    sizes.node.hidden = facts.view === 'n';
    kind.node.hidden = facts.view === 'k';
    statistic.node.hidden = facts.view === 'k';
    methods.hidden = facts.view === 'k';
    losses[setup.kind].show(setup.loss);
    losses[setup.kind].words(`${setup.kind === 'rho' ? 'ρ' : 'ε'} ${number(setup.loss)}`);
    sizes.show(setup.n);
    sizes.words(`${number(setup.n)} rows in each study`);
    reps.show(setup.reps);
    seed.show(setup.seed);
    for (const one of boxes) {
      one.box.checked = shown.includes(one.name);
    }
  };
  const node = html(
    'div',
    {},
    html('div', { class: 'choices' }, statistic.node, population.node, view.node, kind.node),
    html('div', { class: 'two' }, losses.epsilon.node, losses.rho.node, sizes.node),
    methods,
    html('div', { class: 'choices' }, reps.node, seed.node)
  );
  losses.epsilon.words(`ε ${number(losses.epsilon.value())}`);
  losses.rho.words(`ρ ${number(losses.rho.value())}`);
  show(first);
  return { node, show };
}
