/** What is simulated, under the hand: statistic, population and its shape, loss, size, methods, view, studies and seed. */
import { number } from '../../maths/digits';
import { html, picture, set as put, svg, unique } from '../parts/dom';
import { lossWords } from '../parts/loss_words';
import { slider } from '../parts/slider';
import type { CoverageFacts, CoverageSet, CoverageSetup } from './facts';
import { integerField } from '../parts/integer_field';

export interface Controls {
  readonly node: HTMLElement;
  readonly show: (facts: CoverageFacts) => void;
}

interface Choice {
  readonly key: string;
  readonly label: string;
  readonly group?: string;
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
        const groups = [...new Set(choices.map(one => one.group ?? ''))];
        field.replaceChildren(
          ...groups.flatMap(group => {
            const options = choices
              .filter(one => (one.group ?? '') === group)
              .map(one => html('option', { value: one.key }, one.label));
            return group === '' ? options : [html('optgroup', { label: group }, ...options)];
          })
        );
      }
      field.value = chosen;
    }
  };
}

function box(words: string, change: (on: boolean) => void): { node: HTMLElement; input: HTMLInputElement } {
  const input = html('input', { type: 'checkbox' });
  input.addEventListener('change', () => change(input.checked));
  return { input, node: html('label', { class: 'check' }, input, ` ${words}`) };
}

/** The bootstrap is of a mean, and calibrated in ρ. */
const bootstrapped = (setup: CoverageSetup): CoverageSetup => ({
  ...setup,
  statistic: setup.statistic === 'proportion' ? 'proportion' : 'mean',
  kind: 'rho',
  loss: setup.kind === 'rho' ? setup.loss : 0.5
});
/** The setup of the published table. */
const PRINT: Partial<CoverageSetup> = {
  statistic: 'mean',
  population: 'publication',
  n: 500,
  kind: 'rho',
  loss: 0.5,
  level: 0.95,
  k: 50,
  repaired: false
};

/** Bars from the line at `base` up, or down, as high as their share of `top`. */
const barsOf = (shares: readonly number[], base: number, tall: number, top: number): string =>
  shares
    .map((share, i) => {
      const wide = 200 / shares.length;
      return `M${(i * wide).toFixed(2)} ${base}v${((-tall * share) / top).toFixed(1)}h${(wide * 0.9).toFixed(2)}V${base}Z`;
    })
    .join('');

/** The population as it is drawn: so many rows lie so far to the right; two arms back to back, one up and one down. */
function shape(): { node: HTMLElement; show: (facts: CoverageFacts) => void } {
  const bars = svg('path', { class: 'used', opacity: 0.6 });
  const below = svg('path', { class: 'used', opacity: 0.3 });
  const floor = svg('path', { class: 'soft-line', d: 'M0 40H200' });
  const plot = picture('the population', 200, 40, bars, below, floor);
  const caption = html('figcaption', { class: 'soft' });
  const ends = [html('span'), html('span')];
  return {
    node: html(
      'figure',
      { class: 'stack people' },
      caption,
      plot.node,
      html('div', { class: 'ends', 'aria-hidden': 'true' }, ...ends)
    ),
    show: ({ shape: found, question }) => {
      plot.node.parentElement!.hidden = found === null;
      if (found !== null) {
        const [one, two] = found.parts;
        const top = Math.max(...found.parts.flatMap(part => part.shares), 1e-9);
        put(bars, { d: barsOf(one?.shares ?? [], 40, 36, top) });
        put(below, { d: two === undefined ? '' : barsOf(two.shares, 40, -36, top) });
        put(plot.node, { viewBox: `0 0 200 ${two === undefined ? 40 : 80}` });
        const arms = two === undefined ? '' : `: ${one!.name} above, ${two.name} below`;
        const [low, high] = [number(found.low), number(found.high)];
        caption.textContent = `the population${arms}`;
        ends[0]!.textContent = low;
        ends[1]!.textContent = high;
        plot.describe(`${question}, from ${low} to ${high}${arms}`);
      }
    }
  };
}

export function controls(first: CoverageFacts, choose: (chosen: Partial<CoverageSet>) => void): Controls {
  let { setup, shown, methods } = first;
  const set = (change: Partial<CoverageSetup>): void => {
    setup = { ...setup, ...change };
    choose({ setup });
  };
  const resampled = (): string[] => methods.filter(one => one.resampled).map(one => one.name);
  const withSome = (): string[] => [...new Set([...shown, ...resampled().slice(0, 3)])];
  const statistic = select('statistic', key => set({ statistic: key }));
  const population = select('population', key => set({ population: key }));
  const view = select('view', key =>
    choose(key === 'k' ? { view: key, setup: bootstrapped(setup), shown: [...withSome()] } : { view: key })
  );
  const kind = select('measured in', key =>
    set(key === 'rho' ? { kind: 'rho', loss: 0.1 } : { kind: 'epsilon', loss: 0.5 })
  );
  const made = (
    name: 'loss' | 'n' | 'k' | 'skew' | 'outliers' | 'share' | 'effect',
    label: string,
    [low, high]: readonly [number, number],
    ends: readonly [string, string],
    step?: number
  ): ReturnType<typeof slider> => {
    const rounded = name === 'n' || name === 'k';
    return slider({
      label,
      range: { low, high },
      value: Math.min(Math.max(setup[name], low), high),
      ends,
      ...(step === undefined ? {} : { step }),
      ...(rounded ? { write: (value: number) => number(Math.round(value)) } : {}),
      input: () => undefined,
      change: value => set({ [name]: rounded ? Math.round(value) : value })
    });
  };
  const paid = ['more private', 'more accurate'] as const;
  const epsilon = made('loss', 'ε', [0.01, 10], paid);
  const rho = made('loss', 'ρ', [0.0005, 5], paid);
  const sizes = made('n', 'n', [10, 20_000], ['10 rows', '20,000 rows']);
  const resamples = made('k', 'k', [10, 500], ['10 resamples', '500 resamples']);
  const skew = made('skew', 'skew', [-1, 1], ['long tail left', 'long tail right'], 0.05);
  const outliers = made('outliers', 'outliers', [0, 0.2], ['none', '20 % at the upper bound'], 0.005);
  const share = made('share', 'share', [0.005, 0.995], ['rare', 'nearly all'], 0.005);
  const effect = made('effect', 'effect', [-0.9, 0.9], ['negative', 'positive'], 0.05);
  const shapes = { skew, outliers, share, effect };
  const drawn = shape();
  const reps = integerField('studies', [1, 1_000_000], value => set({ reps: value }));
  const seed = integerField('seed', [0, 2 ** 53 - 1], value => set({ seed: value }));
  const boxes = methods.map(method => {
    const one = box(method.name, on => {
      const next = methods
        .map(other => other.name)
        .filter(name => (name === method.name ? on : shown.includes(name)));
      if (next.length === 0) {
        one.input.checked = true; // one method is always there
        return;
      }
      choose({ shown: next });
    });
    one.node.title = method.words;
    return { ...one, name: method.name, resampled: method.resampled };
  });
  const repaired = box('with the noise that keeps its promise', on => set({ repaired: on }));
  const compare = html('button', { type: 'button' }, 'Compare with the bootstrap: a mean, in ρ');
  compare.addEventListener('click', () => choose({ setup: bootstrapped(setup), shown: withSome() }));
  const print = html('button', { type: 'button' }, 'The published table');
  print.addEventListener('click', () => {
    choose({
      view: 'studies',
      setup: { ...setup, ...PRINT },
      shown: ['confidence', ...resampled().slice(0, 3)]
    });
  });
  const group = (label: string, nodes: readonly HTMLElement[]): HTMLElement =>
    html('div', { class: 'choices', role: 'group', 'aria-label': label }, ...nodes);
  const released = group(
    'intervals of the release',
    boxes.filter(one => !one.resampled).map(one => one.node)
  );
  const boot = group('intervals of the bootstrap', [
    html('span', { class: 'soft' }, 'bootstrap:'),
    ...boxes.filter(one => one.resampled).map(one => one.node),
    repaired.node
  ]);
  const from = html('p', { class: 'soft' });

  const show = (facts: CoverageFacts): void => {
    ({ setup, shown, methods } = facts);
    const unfit = methods.find(one => one.resampled)?.unfit ?? '';
    const some = shown.some(name => resampled().includes(name));
    statistic.show(facts.statistics, setup.statistic);
    population.show(facts.populations, setup.population);
    view.show(VIEWS, facts.view);
    kind.show(KINDS, setup.kind);
    from.textContent = facts.from;
    from.hidden = facts.from === '';
    epsilon.node.hidden = setup.kind !== 'epsilon' || facts.view === 'loss';
    rho.node.hidden = setup.kind !== 'rho' || facts.view === 'loss';
    sizes.node.hidden = facts.view === 'n';
    kind.node.hidden = statistic.node.hidden = facts.view === 'k';
    boot.hidden = unfit !== '';
    compare.hidden = !boot.hidden;
    resamples.node.hidden = !some || facts.view === 'k';
    repaired.node.hidden = !some;
    repaired.input.checked = setup.repaired;
    const loss = setup.kind === 'rho' ? rho : epsilon;
    loss.show(setup.loss);
    loss.words(lossWords(setup.kind, setup.loss));
    sizes.show(setup.n);
    sizes.words(`${number(setup.n)} rows in each study`);
    resamples.show(setup.k);
    resamples.words(`${number(setup.k)} resamples of each study`);
    for (const [name, one] of Object.entries(shapes)) {
      const value = setup[name as keyof typeof shapes];
      one.node.hidden = !facts.sliders.includes(name);
      one.show(value);
      one.words(`${name} ${number(value)}`);
    }
    drawn.show(facts);
    reps.show(setup.reps);
    seed.show(setup.seed);
    for (const one of boxes) {
      one.input.checked = shown.includes(one.name);
    }
  };
  const node = html(
    'div',
    {},
    from,
    html('div', { class: 'choices' }, statistic.node, population.node, view.node, kind.node),
    html(
      'div',
      { class: 'two' },
      epsilon.node,
      rho.node,
      sizes.node,
      ...Object.values(shapes).map(one => one.node),
      resamples.node,
      drawn.node
    ),
    released,
    boot,
    html('div', { class: 'choices' }, reps.node, seed.node, compare, print)
  );
  epsilon.words(lossWords('epsilon', epsilon.value()));
  rho.words(lossWords('rho', rho.value()));
  show(first);
  return { node, show };
}
