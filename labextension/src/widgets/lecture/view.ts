/** The lecture view, for a projector: one question, one ε, one interval, and how many of forty hold the truth. */
import { number } from '../../maths/digits';
import { arraysOf, PLACES, sharedOf, type SharedStudies } from '../coverage/shared_model';
import { announcer, button, html, say } from '../parts/dom';
import { type DragState, dragState } from '../parts/drag_state';
import { lossWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { draggable } from '../parts/pointer';
import { type Slider, slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import {
  axisOf,
  bothOf,
  holding,
  sentence,
  spansAt,
  spanWords,
  truthWords,
  type Axis,
  type LectureFacts,
  type LectureSet
} from './model';
import { fortyBars, funnelPicture, LOSSES } from './picture';

/** Letters for a room: every size of the house, half as large again. */
const LARGE = '--letter:1;--t1:18px;--t2:20px;--t3:26px;--t4:34px;max-width:88rem;container-type:inline-size';
const TOP = 'display:flex;flex-wrap:wrap;gap:0 24px;justify-content:space-between;align-items:baseline';
const SIDE_BY_SIDE =
  'display:grid;gap:0 24px;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));align-items:start';

/** What a presenter's remote sends, and how far it moves the handle: three presses are ten times. */
const PRESSES: Readonly<Record<string, number>> = { PageDown: 10 ** (1 / 3), PageUp: 10 ** (-1 / 3) };

/** What is drawn: the studies that came last, and the axis that they were first drawn on. */
interface State {
  shared: SharedStudies | null;
  axis: Axis | null;
  of: number;
  asked: string;
}

/** Take over the studies that the kernel tells, where they are others. */
function take(state: State, facts: LectureFacts, arrays: unknown): void {
  const [told, before] = [facts.shared, state.shared];
  if (
    before === null ||
    told.of !== before.of ||
    told.studies !== before.studies ||
    told.first !== before.first
  ) {
    state.shared = sharedOf(told, arraysOf(arrays)) ?? before;
  }
  const both = state.shared === null ? null : bothOf(state.shared);
  if (state.shared !== null && both !== null && state.of !== told.of) {
    [state.axis, state.of] = [axisOf(state.shared, both, facts), told.of];
  }
}

/** A mark and its words: what a bar and a whisker stand for. */
function legend(): {
  readonly node: HTMLElement;
  readonly show: (these: string, all: string, n: number) => void;
} {
  const [these, everybody] = [html('strong'), html('strong')];
  const people = html('span');
  const bar = html('i', {
    'aria-hidden': 'true',
    style: 'display:inline-block;width:14px;height:14px;background:var(--dp-accent);margin-right:8px'
  });
  const whisker = html('span', { 'aria-hidden': 'true', style: 'margin-right:8px' }, '├─┤');
  return {
    node: html(
      'p',
      { class: 'say', style: 'font-size:var(--t3)' },
      bar,
      these,
      people,
      whisker,
      everybody,
      ' of all'
    ),
    show: (a, b, n) => {
      say(these, a);
      say(people, ` of these ${number(n)}; `);
      say(everybody, b);
    }
  };
}

type Hand = Pick<LectureSet, 'loss'>;

function lossSlider(held: () => DragState<Hand>, symbol: string, shared: SharedStudies | null): Slider {
  const range = { low: shared?.values[0] ?? 0.01, high: shared?.values.at(-1) ?? 10 };
  return slider({
    label: symbol,
    range,
    value: held().now.loss,
    ends: ['private', 'accurate'],
    input: loss => held().move({ loss }),
    change: () => held().tell()
  });
}

/** Keys of the whole view: a remote moves the handle, the space bar brings other studies. */
function keys(root: HTMLElement, press: (factor: number) => void, next: () => void): void {
  root.addEventListener('keydown', event => {
    const target = event.target as HTMLElement;
    const factor = PRESSES[event.key];
    if (factor !== undefined) {
      event.preventDefault();
      press(factor);
    } else if (event.key === ' ' && !target.matches('button, input[type="text"]')) {
      event.preventDefault();
      next();
    }
  });
}

/** Another forty of the studies, round and round, while there is a kernel to bring them. */
function turner(state: State, link: Link<LectureFacts, LectureSet>): () => void {
  return () => {
    const { shared } = state;
    if (shared !== null && link.alive?.() === true) {
      const page = (shared.first / PLACES + 1) % Math.max(Math.floor(shared.studies / PLACES), 1);
      link.choose({ page: [shared.of, page] });
    }
  };
}

/** Asks for more studies while there will be more, once for each answer. */
function asking(state: State, link: Link<LectureFacts, LectureSet>): () => void {
  return () => {
    const { studies, goal, of } = link.facts().shared;
    const asked = `${of} ${studies}`;
    if (studies < goal && state.asked !== asked && link.alive?.() === true) {
      state.asked = asked;
      link.choose({ reached: studies });
    }
  };
}

/** What stands on the screen. */
function screen(
  next: HTMLElement,
  symbol: string,
  held: () => DragState<Hand>,
  shared: SharedStudies | null
) {
  const large = { style: 'font-size:var(--t4)' };
  const parts = {
    question: html('h3', large),
    problem: html('p', { class: 'warn', role: 'status' }),
    key: legend(),
    funnel: funnelPicture(),
    losses: lossSlider(held, symbol, shared),
    count: html('strong', large),
    forty: fortyBars(),
    all: html('span', { class: 'soft' }),
    said: announcer()
  };
  const { question, problem, key, funnel, losses, count, forty, all, said } = parts;
  onAxis(losses, LOSSES);
  said.style.cssText = 'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
  const column = (...nodes: Node[]): HTMLElement => html('div', { style: 'min-width:0' }, ...nodes);
  const counted = html('p', { style: 'font-size:var(--t3)' }, count, ' hold the truth');
  const top = html('div', { style: TOP }, question, counted);
  const below = html('p', { class: 'soft', style: 'margin-top:var(--s2)' }, '─ ', all);
  const pictures = html(
    'div',
    { style: SIDE_BY_SIDE },
    column(funnel.node, losses.node),
    column(forty.node, below, html('div', { class: 'buttons' }, next))
  );
  return { ...parts, nodes: [top, problem, key.node, pictures, said] };
}

function lectureView(root: HTMLElement, link: Link<LectureFacts, LectureSet>): View {
  const state: State = { shared: null, axis: null, of: -1, asked: '' };
  take(state, link.facts(), link.arrays?.());
  const symbol = link.facts().kind === 'epsilon' ? 'ε' : 'ρ';
  const range = { low: state.shared?.values[0] ?? 0.01, high: state.shared?.values.at(-1) ?? 10 };
  const held: DragState<Hand> = dragState<Hand>(link, { loss: link.facts().loss }, () => draw(), {
    loss: range
  });
  const [other, more] = [turner(state, link), asking(state, link)];
  const next = button('Other forty', other);
  const parts = screen(next, symbol, () => held, state.shared);
  const { funnel, forty, losses } = parts;
  draggable(funnel.node, { move: x => held.move({ loss: funnel.lossAt(x) }), end: held.tell });
  const press = (factor: number): void => {
    held.move({ loss: Number((held.now.loss * factor).toPrecision(2)) });
    held.tell();
  };
  keys(root, press, other);
  root.classList.add('lecture');
  root.style.cssText = LARGE;
  root.append(...parts.nodes);

  function draw(): void {
    const facts = link.facts();
    say(parts.question, facts.question);
    say(parts.problem, facts.problem);
    const { shared, axis } = state;
    const both = shared === null ? null : bothOf(shared);
    if (shared === null || axis === null || both === null) {
      return;
    }
    const { loss } = held.now;
    const scene = { shared, both, axis, percent: facts.percent, symbol };
    const [words, spans] = [sentence(facts, shared, both, loss), spansAt(shared, both, loss)];
    const holds = holding(shared, both, loss);
    const [these, all] = [spans.privacy, spans.confidence].map(one => spanWords(one, facts.percent));
    funnel.show(scene, loss, words);
    forty.show(scene, loss, `${holds.few} hold the truth`);
    parts.key.show(these!, all!, facts.n);
    say(parts.count, holds.few);
    say(parts.all, truthWords(shared, facts.percent) + holds.all);
    say(parts.said, words);
    losses.words(lossWords(facts.kind, loss, words));
    losses.show(loss);
    next.hidden = link.alive?.() !== true || shared.studies <= PLACES;
  }

  draw();
  more();
  return {
    update: () => {
      take(state, link.facts(), link.arrays?.());
      held.follow();
      more();
    },
    dispose: held.stop
  };
}

export default widget(lectureView);
