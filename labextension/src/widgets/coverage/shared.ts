/** Redraw the intervals of the same studies while the loss is dragged, without asking the kernel. */
import { number } from '../../maths/digits';
import type { Range } from '../../maths/scale';
import { button, eachFrame, html, say, unique } from '../parts/dom';
import { fold, labelled } from '../parts/layout';
import { draggable } from '../parts/pointer';
import {
  sharedOf,
  countAt,
  heldAt,
  nearestLoss,
  PLACES,
  runningAt,
  studyWords,
  wilson,
  type Arrays,
  type SharedStudies,
  type SharedRow
} from './shared_model';
import { alongPicture, fortyPicture, studyOf, type Shown } from './shared_picture';
import { runningPicture, SMALL } from './curves';
import type { CoverageFacts } from './facts';
import { guess } from './guess';
import { percent, showSamples } from './looks';
import { strideOf } from './sweep_model';
import { symbolOf } from './table';

/** Here, and not in the style sheet that every panel carries. */
const SIDE_BY_SIDE =
  'display:grid;gap:8px 24px;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr))';

interface SharedPart {
  readonly node: HTMLElement;
  /** Which interval is drawn. */
  readonly method: HTMLElement;
  /** Where the slider of the loss stands, while it is seen, and what it ranges over. */
  readonly slot: HTMLElement;
  readonly range: () => Range | null;
  readonly show: (facts: CoverageFacts) => void;
  /** Follow a loss while another control moves it. */
  readonly move: (loss: number) => void;
  readonly stop: () => void;
}

/** What holds at the nearest computed loss, in words. */
function found({ shared, row, loss, at }: Shown, symbol: string): string {
  const [value, near] = [shared.values[at]!, `${symbol} ${number(shared.values[at]!)}`];
  const [few, some] = [countAt(shared, row, at, 'drawn'), countAt(shared, row, at)];
  if (some[0] === 0) {
    return `At ${near} there are no ${row.name} intervals.`;
  }
  const [low, high] = wilson(some[1], some[0]);
  const counted = Math.abs(Math.log(loss / value)) < 0.005 ? '' : ` (you chose ${symbol} ${number(loss)})`;
  return `At ${near}${counted}, ${few[1]} of these ${few[0]} intervals contain the truth; of all ${number(some[0])}, ${number(some[1])}: ${percent(some[1] / some[0])} (95 % band ${percent(low)} to ${percent(high)}).`;
}

/** The method that is drawn: the one that was chosen, or the release's own. */
function rowIn(shared: SharedStudies, shown: readonly string[], chosen: string): SharedRow | undefined {
  const rows = shared.rows.filter(row => shown.includes(row.name));
  const named = (name: string): SharedRow | undefined => rows.find(row => row.name === name);
  return named(chosen) ?? named('confidence') ?? rows[0];
}

/** The next study that misses, among some: of a page without a kernel, those that are drawn. */
function nextMiss({ shared, row, at, study }: Shown, { from, to }: Reach): number {
  const many = to - from;
  const later = Array.from({ length: many }, (_, i) => from + ((study - from + 1 + i) % many));
  return later.find(one => heldAt(shared, row, at, one) === false) ?? study;
}

/** The studies that can be chosen. */
type Reach = Readonly<Record<'from' | 'to', number>>;
const reachOf = ({ first, drawn, studies }: SharedStudies, all: boolean): Reach =>
  all ? { from: 0, to: studies } : { from: first, to: first + drawn };

/** What is set, and the studies that follow it. */
interface State {
  loss: number;
  /** The loss at which the last drag paused. */
  rest: number;
  touched: boolean;
  study: number;
  /** The method that was chosen, and the setup that was taken over. */
  chosen: string;
  seen: string;
  shared: SharedStudies | null;
  now: Shown | null;
}

type Pictures = Readonly<{
  forty: ReturnType<typeof fortyPicture>;
  along: ReturnType<typeof alongPicture>;
}>;

/** Follow a loss: of the handle, or of another control. */
function mover(state: State, { forty }: Pictures, ask: () => void): (loss: number) => void {
  return loss => {
    if (loss !== state.loss) {
      [state.loss, state.touched] = [loss, true];
      forty.clear();
      ask();
    }
  };
}

/** What the lab around is told, and what it gives. */
interface Around {
  readonly arrays: () => Arrays;
  /** The loss that is set, and the coverage there. */
  readonly follow: (loss: number, words: string) => void;
  /** The loss at which the drag paused. */
  readonly rested: (loss: number) => void;
  /** More studies than so many are wanted. */
  readonly more: (studies: number) => void;
  /** Another forty of them are wanted, and whether they can be had. */
  readonly page: (of: number, page: number) => void;
  readonly alive: () => boolean;
}

/** The hand chooses a study; where its ends are not here yet, they are asked for, and it is drawn when they come. */
function chooser(state: State, ask: () => void, { page, alive }: Around): (study: number) => void {
  return study => {
    const { shared } = state;
    if (shared === null) {
      return;
    }
    const { from, to } = reachOf(shared, alive());
    state.study = Math.min(Math.max(study, from), to - 1);
    const [wanted, here] = [state.study, shared.first].map(one => Math.floor(one / PLACES));
    if (wanted !== here) {
      page(shared.of, wanted!);
    }
    ask();
  };
}

/** Buttons to the forty before and after, and which are drawn. */
function pager(state: State, choose: (study: number) => void, alive: () => boolean) {
  const turn = (by: 1 | -1) => () => choose((state.shared?.first ?? 0) + by * PLACES);
  const [before, after] = [button('Forty before', turn(-1)), button('Next forty', turn(1))];
  const where = html('span', { class: 'soft' });
  return {
    nodes: [before, where, after],
    show: ({ first, drawn, studies }: SharedStudies): void => {
      for (const one of [before, after, where]) {
        one.hidden = !alive() || studies <= PLACES;
      }
      before.disabled = first === 0;
      after.disabled = first + drawn >= studies;
      say(where, `studies ${number(first + 1)} to ${number(first + drawn)} of ${number(studies)}`);
    }
  };
}

/** Drags and arrow keys: a study in the one picture, a loss in the other. */
function steered(
  state: State,
  { forty, along }: Pictures,
  choose: (study: number) => void,
  move: (loss: number) => void,
  rested: (loss: number) => void
): void {
  const end = (): void => {
    if (state.touched) {
      [state.touched, state.rest] = [false, state.loss];
      rested(Number(state.loss.toPrecision(3)));
    }
  };
  draggable(forty.node, {
    move: x => {
      const { first = 0, drawn = 1, places = 1 } = state.shared ?? {};
      choose(first + Math.min(studyOf(x, places), drawn - 1));
    },
    end: () => undefined
  });
  draggable(along.node, { move: x => move(along.lossAt(x)), end });
  forty.handle.addEventListener('keydown', event => {
    const pages = { PageUp: PLACES, PageDown: -PLACES }[event.key];
    const stride = pages ?? strideOf(event.key, state.shared?.studies ?? 0);
    if (stride !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      choose(state.study + stride);
    }
  });
}

/** Take over what the kernel says: other studies, or another loss at rest. */
function take(state: State, { forty }: Pictures, facts: CoverageFacts, arrays: () => Arrays): void {
  const [told, before] = [facts.shared, state.shared];
  const same = before !== null && told !== null && told.of === before.of;
  if (told !== null && !(same && told.studies === before.studies && told.first === before.first)) {
    const made = sharedOf(told, arrays());
    if (made !== null && before !== null && !same) {
      forty.fade();
      state.study = Math.min(state.study, made.drawn - 1);
    }
    state.shared = made ?? before; // what is drawn stays until there is something else
  }
  const set = JSON.stringify([facts.setup.kind, facts.setup.loss]);
  if (set !== state.seen) {
    state.seen = set;
    [state.loss, state.rest] = [facts.setup.loss, facts.setup.loss];
  }
}

/** The methods that can be drawn, as choices. */
function offer(field: HTMLSelectElement, key: HTMLElement, rows: readonly SharedRow[], chosen: string): void {
  const names = rows.map(row => row.name);
  if (JSON.stringify([...field.options].map(one => one.value)) !== JSON.stringify(names)) {
    field.replaceChildren(...names.map(name => html('option', { value: name }, name)));
    showSamples(key, names);
  }
  field.value = chosen;
}

const figure = (caption: string, ...nodes: Element[]): HTMLElement =>
  html('figure', {}, html('figcaption', { class: 'soft' }, caption), ...nodes);

/** The two drawings, side by side where there is room. */
function sideBySide(pictures: Pictures, title: HTMLElement, ...below: HTMLElement[]): HTMLElement {
  const drawings = html(
    'div',
    { class: 'shared', style: SIDE_BY_SIDE },
    figure('✕ misses the truth', pictures.forty.node),
    html('figure', {}, title, pictures.along.node, ...below)
  );
  for (const one of drawings.querySelectorAll('figure')) {
    one.style.cssText = 'min-width:0;margin:0';
  }
  for (const one of drawings.querySelectorAll('svg')) {
    one.style.touchAction = 'none';
  }
  return drawings;
}

/** Asks for more studies while there will be more, once for each answer. */
function asking(more: (studies: number) => void): (facts: CoverageFacts) => void {
  let asked = '';
  return ({ shared }) => {
    if (shared !== null && shared.studies < shared.goal && asked !== `${shared.of} ${shared.studies}`) {
      asked = `${shared.of} ${shared.studies}`;
      more(shared.studies);
    }
  };
}

/** The running coverage of the interval that is drawn, at the nearest computed loss. */
function runningPart() {
  const plot = runningPicture('coverage study by study, at this loss', SMALL);
  let key = '';
  return {
    node: plot.node,
    show: ({ shared, row, at }: Shown, level: number): void => {
      const next = JSON.stringify([shared.of, shared.studies, row.name, at, level]);
      if (next !== key) {
        key = next;
        plot.show([{ name: row.name, points: runningAt(shared, row, at) }], shared.goal, level);
      }
    }
  };
}

/** The choice of the interval that is drawn. */
function methodField(state: State, ask: () => void): HTMLSelectElement {
  const field = html('select', { id: unique('method') });
  field.addEventListener('change', () => {
    state.chosen = field.value;
    ask();
  });
  return field;
}

/** How many of the studies are here, in words. */
function titleWords({ studies, goal }: SharedStudies, symbol: string): string {
  const still = studies < goal ? ` of ${number(goal)}` : '';
  return `The same ${number(studies)}${still} studies at every ${symbol}`;
}

export function sharedPart(around: Around): SharedPart {
  const { arrays, follow, rested, more, alive } = around;
  let facts: CoverageFacts | null = null;
  // a frame of its own: a drag draws nothing else of the lab
  const { ask, stop } = eachFrame(() => facts !== null && draw(facts));
  const state: State = {
    ...{ loss: 1, rest: 1, touched: false, study: 0, chosen: '', seen: '' },
    ...{ shared: null, now: null }
  };
  const pictures = { forty: fortyPicture(), along: alongPicture() };
  const slot = html('div');
  const running = runningPart();
  const move = mover(state, pictures, ask);
  const choose = chooser(state, ask, around);
  steered(state, pictures, choose, move, rested);
  const field = methodField(state, ask);
  const miss = button('Next miss', () => {
    choose(state.now === null ? 0 : nextMiss(state.now, reachOf(state.now.shared, alive())));
  });
  const pages = pager(state, choose, alive);
  const [title, said, why] = [
    html('h4', { class: 'soft' }),
    html('p', { class: 'say found' }),
    html('p', { class: 'soft study' })
  ];
  const key = html('p', { class: 'key' });
  const drawings = sideBySide(pictures, title, slot);
  const guessed = guess(ask);
  const pagers = html('div', { class: 'buttons' }, miss, ...pages.nodes);
  const plot = html('figure', { style: 'margin:0;max-width:30rem' }, running.node);
  const single = fold('One study at a time', pagers, why, plot, key, guessed.switch);
  const result = html('div', {}, said, drawings, single);
  const method = labelled('interval', field);
  const node = html('section', { class: 'shared-part', hidden: '' }, guessed.node, result);
  const draw = (facts: CoverageFacts): void => {
    take(state, pictures, facts, arrays);
    const { shared, loss, rest } = state;
    const row = shared === null ? undefined : rowIn(shared, facts.shown, state.chosen);
    node.hidden = shared === null || row === undefined || facts.view !== 'studies';
    if (shared === null || row === undefined || node.hidden) {
      return;
    }
    const symbol = symbolOf(facts);
    const rows = shared.rows.filter(one => facts.shown.includes(one.name));
    const { from, to } = reachOf(shared, false);
    const study = Math.min(Math.max(state.study, from), to - 1); // what is not here yet is not drawn yet
    const now = { shared, row, loss, rest, study, at: nearestLoss(shared.values, loss) };
    state.now = now;
    pages.show(shared);
    say(title, titleWords(shared, symbol));
    offer(field, key, rows, row.name);
    const [words, reason] = [found(now, symbol), studyWords(shared, row, now.at, study, symbol)];
    say(said, words);
    say(why, reason);
    const [known, held] = countAt(shared, row, now.at);
    result.hidden = guessed.show(known === 0 ? null : held / known);
    pictures.forty.show(now, reason);
    pictures.along.show(now, rows, facts.setup.level, symbol);
    follow(loss, words);
    running.show(now, facts.setup.level);
  };
  const goOn = asking(more);
  const show = (told: CoverageFacts): void => {
    facts = told;
    draw(told);
    goOn(told);
  };
  const range = (): Range | null => {
    const { shared } = state;
    return shared === null || node.hidden ? null : { low: shared.values[0]!, high: shared.values.at(-1)! };
  };
  return { node, method, slot, range, move, show, stop };
}
