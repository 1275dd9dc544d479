/** The controls of what is simulated: statistic, population and its shape, loss, size, methods, view, studies and seed. */
import { number } from '../../maths/digits';
import type { Range } from '../../maths/scale';
import { button, html, picture, set, svg, unique, type Part } from '../parts/dom';
import { integerField } from '../parts/integer_field';
import { checkField, ends, labelled } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { offAxis, onAxis } from '../parts/on_axis';
import { type Slider, slider } from '../parts/slider';
import type { CoverageFacts, CoverageSet, CoverageSetup } from './facts';
import {
  type Choice,
  KINDS,
  PRINT,
  SHAPES,
  type Shape,
  VIEWS,
  barsOf,
  bootstrapped,
  byName,
  grouped,
  idle,
  switched,
  withResampled
} from './setup';
import { AXIS } from './shared_picture';

/** The population as it is drawn: so many rows lie so far to the right; two arms back to back, one up and one down. */
function population(): Part<[facts: CoverageFacts]> {
  const bars = svg('path', { class: 'used', opacity: 0.6 });
  const below = svg('path', { class: 'used', opacity: 0.3 });
  const floor = svg('path', { class: 'soft-line', d: 'M0 40H200' });
  const plot = picture('the population', 200, 40, bars, below, floor);
  const caption = html('figcaption', { class: 'soft' });
  const edges = ends('', '');
  return {
    node: html('figure', { class: 'stack people' }, caption, plot.node, edges),
    show: ({ shape: found, question }) => {
      plot.node.parentElement!.hidden = found === null;
      if (found !== null) {
        const [one, two] = found.parts;
        const top = Math.max(...found.parts.flatMap(part => part.shares), 1e-9);
        set(bars, { d: barsOf(one?.shares ?? [], 40, 36, top) });
        set(below, { d: two === undefined ? '' : barsOf(two.shares, 40, -36, top) });
        set(plot.node, { viewBox: `0 0 200 ${two === undefined ? 40 : 80}` });
        const arms = two === undefined ? '' : `: ${one!.name} above, ${two.name} below`;
        const [low, high] = [number(found.low), number(found.high)];
        caption.textContent = `the population${arms}`;
        edges.children[0]!.textContent = low;
        edges.children[1]!.textContent = high;
        plot.describe(`${question}, from ${low} to ${high}${arms}`);
      }
    }
  };
}

interface Controls {
  /** What is asked of whom, as a line that reads as a sentence; `with` is behind it. */
  readonly sentence: (intervals: HTMLElement) => HTMLElement;
  /** All other choices. */
  readonly node: HTMLElement;
  readonly show: (facts: CoverageFacts) => void;
  /** Put the slider of the loss on an axis elsewhere, or back among the others. */
  readonly stand: (slot: HTMLElement, range: Range | null) => void;
  /** Follow the loss that moves there, in words too. */
  readonly follow: (loss: number, words: string) => void;
}

/** What the user has set on top of the facts, and who hears of it. */
interface Hand {
  readonly now: () => CoverageFacts;
  readonly set: (change: Partial<CoverageSetup>) => void;
  readonly choose: (chosen: Partial<CoverageSet>) => void;
  /** The loss while it moves. */
  readonly moved: (loss: number) => void;
}

/** Some of the controls: their nodes by name, and how they follow the facts. */
interface Group<Name extends string> {
  readonly nodes: Readonly<Record<Name, HTMLElement>>;
  readonly show: (facts: CoverageFacts) => void;
}

function select(
  label: string,
  change: (key: string) => void
): Part<[choices: readonly Choice[], chosen: string]> {
  const field = html('select', { id: unique('select') });
  field.addEventListener('change', () => change(field.value));
  let offered = '';
  return {
    node: labelled(label, field),
    show: (choices, chosen) => {
      const offers = JSON.stringify(choices);
      if (offers !== offered) {
        offered = offers;
        field.replaceChildren(
          ...grouped(choices).flatMap(([group, members]) => {
            const options = members.map(one => html('option', { value: one.key }, one.label));
            return group === '' ? options : [html('optgroup', { label: group }, ...options)];
          })
        );
      }
      field.value = chosen;
    }
  };
}

/** What is asked, of whom, and how it is looked at. */
function selects({ now, set, choose }: Hand): Group<'statistic' | 'population' | 'view' | 'kind'> {
  const statistic = select('statistic', key => set({ statistic: key }));
  const people = select('population', key => set({ population: key }));
  const view = select('view', key => {
    choose(key === 'k' ? { view: key, ...bootstrapped(now()) } : { view: key });
  });
  const kind = select('measured in', key =>
    set(key === 'rho' ? { kind: 'rho', loss: 0.1 } : { kind: 'epsilon', loss: 0.5 })
  );
  return {
    nodes: { statistic: statistic.node, population: people.node, view: view.node, kind: kind.node },
    show: ({ statistics, populations, setup, ...facts }) => {
      statistic.show(statistics, setup.statistic);
      people.show(populations, setup.population);
      view.show(VIEWS, facts.view);
      kind.show(KINDS, setup.kind);
    }
  };
}

type Ends = readonly [string, string];

/** A slider of one number of the setup, told when the drag ends; without a step it is logarithmic. */
function numbered(
  { now, set, moved }: Hand,
  name: 'loss' | 'n' | 'k' | Shape,
  label: string,
  [low, high]: readonly [number, number],
  ends: Ends,
  step?: number
): Slider {
  const rounded = name === 'n' || name === 'k';
  return slider({
    label,
    range: { low, high },
    value: Math.min(Math.max(now().setup[name], low), high),
    ends,
    step,
    ...(rounded ? { write: (value: number) => number(Math.round(value)) } : {}),
    input: value => {
      if (name === 'loss') {
        moved(value);
      }
    },
    change: value => set({ [name]: rounded ? Math.round(value) : value })
  });
}

const PAID: Ends = ['', ''];

/** The ends of each shaping number, in words too, and its step. */
const SHAPING: Readonly<Record<Shape, readonly [readonly [number, number], Ends, number]>> = {
  skew: [[-1, 1], ['long tail left', 'long tail right'], 0.05],
  outliers: [[0, 0.2], ['none', '20 % at the upper bound'], 0.005],
  share: [[0.005, 0.995], ['rare', 'nearly all'], 0.005],
  effect: [[-0.9, 0.9], ['negative', 'positive'], 0.05]
};

/** The numbers of the setup. */
function sliders(hand: Hand): Group<'epsilon' | 'rho' | 'n' | 'k' | Shape> & {
  readonly losses: Readonly<Record<'epsilon' | 'rho', Slider>>;
} {
  const most = Math.max(20_000, hand.now().setup.n);
  const all = {
    epsilon: numbered(hand, 'loss', 'ε', [0.01, 10], PAID),
    rho: numbered(hand, 'loss', 'ρ', [0.0005, 5], PAID),
    n: numbered(hand, 'n', 'n', [10, most], ['10 rows', `${number(most)} rows`]),
    ...byName(SHAPES, name => numbered(hand, name, name, ...SHAPING[name])),
    k: numbered(hand, 'k', 'k', [10, 500], ['10 resamples', '500 resamples'])
  };
  const show = (one: Slider, value: number, words: string): void => {
    one.show(value);
    one.words(words);
  };
  for (const kind of ['epsilon', 'rho'] as const) {
    all[kind].words(lossWords(kind, all[kind].value()));
  }
  return {
    losses: all,
    nodes: byName(Object.keys(all) as (keyof typeof all)[], name => all[name].node),
    show: ({ setup }) => {
      const { kind, loss, n, k } = setup;
      show(all[kind], loss, lossWords(kind, loss));
      show(all.n, n, `${number(n)} rows in each study`);
      show(all.k, k, `${number(k)} resamples of each study`);
      for (const name of SHAPES) {
        show(all[name], setup[name], `${name} ${number(setup[name])}`);
      }
    }
  };
}

/** Which intervals are shown: those of the release, and those of the bootstrap with its noise. */
function intervals({ now, set, choose }: Hand): Group<'released' | 'boot' | 'repaired'> {
  const boxes = now().methods.map(({ name, words, resampled }) => {
    const one = checkField(name, on => {
      const next = switched(now(), name, on);
      if (next === null) {
        one.show(true); // one method is always there
        return;
      }
      choose({ shown: next });
    });
    one.node.title = words;
    return { ...one, name, resampled };
  });
  const repaired = checkField('with the noise that keeps its promise', on => set({ repaired: on }));
  const nodes = (which: boolean): HTMLElement[] =>
    boxes.filter(one => one.resampled === which).map(one => one.node);
  const group = (label: string, ...nodes: HTMLElement[]): HTMLElement =>
    html('div', { class: 'choices', role: 'group', 'aria-label': label }, ...nodes);
  const bootstrap = html('span', { class: 'soft' }, 'bootstrap:');
  return {
    nodes: {
      released: group('intervals of the release', ...nodes(false)),
      boot: group('intervals of the bootstrap', bootstrap, ...nodes(true), repaired.node),
      repaired: repaired.node
    },
    show: ({ setup, shown }) => {
      repaired.show(setup.repaired);
      for (const one of boxes) {
        one.show(shown.includes(one.name));
      }
    }
  };
}

/** How many studies and from which seed, and two setups that are ready. */
function runs({ now, set, choose }: Hand): Group<'reps' | 'seed' | 'compare' | 'print'> {
  const reps = integerField('studies', [1, 1_000_000], value => set({ reps: value }));
  const seed = integerField('seed', [0, 2 ** 53 - 1], value => set({ seed: value }));
  const compare = button('Compare with the bootstrap: a mean, in ρ', () => choose(bootstrapped(now())));
  const print = button('The published table', () => {
    const { setup, methods } = now();
    choose({
      view: 'studies',
      setup: { ...setup, ...PRINT },
      shown: withResampled(methods, ['confidence'])
    });
  });
  return {
    nodes: { reps: reps.node, seed: seed.node, compare, print },
    show: ({ setup }) => {
      reps.show(setup.reps);
      seed.show(setup.seed);
    }
  };
}

export function controls(
  first: CoverageFacts,
  choose: (chosen: Partial<CoverageSet>) => void,
  moved: (loss: number) => void
): Controls {
  let now = first;
  const hand: Hand = {
    now: () => now,
    choose,
    moved,
    set: change => {
      const setup = { ...now.setup, ...change };
      now = { ...now, setup };
      choose({ setup });
    }
  };
  const [asked, sizes, shown, ready] = [selects(hand), sliders(hand), intervals(hand), runs(hand)];
  const [people, from] = [population(), html('p', { class: 'soft' })];
  const nodes = { ...asked.nodes, ...sizes.nodes, ...shown.nodes, ...ready.nodes };
  const show = (facts: CoverageFacts): void => {
    now = facts;
    from.textContent = facts.from;
    from.hidden = facts.from === '';
    size.textContent = `(${number(facts.setup.n)} rows), with`;
    for (const part of [asked, sizes, people, shown, ready]) {
      part.show(facts);
    }
    for (const [name, hidden] of Object.entries(idle(facts))) {
      nodes[name as keyof typeof nodes].hidden = hidden;
    }
  };
  const home = html('div', { class: 'two' }, ...Object.values(sizes.nodes), people.node);
  const both = [sizes.losses.rho, sizes.losses.epsilon];
  let out = '';
  const stand = (slot: HTMLElement, range: Range | null): void => {
    const wanted = JSON.stringify(range);
    if (wanted === out) {
      return; // a node that is moved loses the focus
    }
    out = wanted;
    for (const one of both) {
      if (range === null) {
        offAxis(one);
        home.prepend(one.node);
      } else {
        slot.append(one.node);
        onAxis(one, AXIS);
        one.reach(range);
      }
    }
  };
  const follow = (loss: number, words: string): void => {
    const { kind } = now.setup;
    sizes.losses[kind].show(loss);
    sizes.losses[kind].words(lossWords(kind, loss, words));
  };
  const { statistic, population: whom, view, kind } = asked.nodes;
  const size = html('span');
  const sentence = (method: HTMLElement): HTMLElement => {
    for (const one of [statistic, whom, method]) {
      one.querySelector('label')?.classList.add('hidden');
      one.style.margin = '0';
    }
    const look = { class: 'choices', style: 'gap:4px 8px' };
    return html('div', look, 'The', statistic, 'of', whom, size, method, 'intervals.');
  };
  const node = html(
    'div',
    {},
    from,
    html('div', { class: 'choices' }, view, kind),
    home,
    nodes.released,
    nodes.boot,
    html('div', { class: 'choices' }, ...Object.values(ready.nodes))
  );
  show(first);
  return { sentence, node, show, stand, follow };
}
