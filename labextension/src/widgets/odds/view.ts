/** Odds: what ε and δ do to a belief about one person: in a table, in people, and in two worlds. */
import { number, significant } from '../../maths/digits';
import { announcer, html, type Part, picture, set, svg } from '../parts/dom';
import { dragState, losses as lossSlider, type DragState } from '../parts/drag_state';
import { dataTable, figures, head, key, handle, text } from '../parts/layout';
import { slider, type Slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { crowdPart } from './crowd';
import {
  beliefOf,
  DELTAS,
  EPSILONS,
  LEAST,
  permitted,
  tableOf,
  type OddsFacts,
  type OddsSet,
  answerAt,
  answers,
  answerWords,
  ratioWords,
  REACH
} from './model';
import { draggable } from '../parts/pointer';

const [W, H, BASE] = [640, 160, 128];

const place = (value: number): number => W / 2 + (value / REACH) * (W / 2);

const countWords = (k: number): string => (k === 0 ? 'the count' : k > 0 ? `+${k}` : `−${-k}`);

function draw(line: SVGElement, points: SVGElement, found: readonly (readonly [number, number])[]): void {
  const at = found.map(([k, likely]) => `${place(k).toFixed(1)} ${(BASE - likely * (BASE - 14)).toFixed(1)}`);
  set(line, { d: `M${at.join('L')}` });
  set(points, { d: at.map(point => `M${point}h0`).join('') }); // answers are whole numbers
}

interface Worlds {
  readonly node: SVGSVGElement;
  readonly ratio: (facts: OddsFacts, epsilon: number) => string;
  readonly show: (facts: OddsFacts, epsilon: number) => void;
}

/** Both worlds; `moved` hears that another answer is shown, `end` that the drag has ended. */
function worldsPicture(moved: () => void, end: () => void): Worlds {
  let output = 2;
  const pick = (to: number): void => {
    output = answerAt(to);
    moved();
  };
  const axis = svg('path', { class: 'axis', d: `M0 ${BASE}H${W}` });
  const labels = svg('g', {}, ...[-10, -5, 0, 5, 10].map(k => text(place(k), H - 12, countWords(k))));
  const without = svg('path', { class: 'soft-line', 'stroke-dasharray': '5 3' });
  const withYou = svg('path', { class: 'pv-line' });
  const marks = { 'stroke-width': 5, fill: 'none' };
  const withoutMarks = svg('path', { ...marks, 'stroke-linecap': 'round', stroke: 'var(--soft)' });
  const withMarks = svg('path', { ...marks, 'stroke-linecap': 'square', stroke: 'var(--dp-accent)' });
  const marker = svg('path', { class: 'ink-line' });
  const thumb = handle('a released answer', (across, up) => pick(output + Math.sign(across + up)), 8);
  const layers = [axis, labels, without, withYou, withoutMarks, withMarks, marker, thumb];
  const plot = picture('the released count in two worlds', W, H, ...layers);
  draggable(plot.node, { move: at => pick(((at - W / 2) / (W / 2)) * REACH), end });
  const ratio = (facts: OddsFacts, epsilon: number): string => ratioWords(facts, epsilon, output);
  return {
    node: plot.node,
    ratio,
    show: (facts, epsilon) => {
      draw(without, withoutMarks, answers(facts, epsilon, 0));
      draw(withYou, withMarks, answers(facts, epsilon, 1));
      const at = place(output);
      set(marker, { d: `M${at} 4V${BASE}` });
      set(thumb, {
        cx: at,
        cy: BASE,
        'aria-valuemin': -REACH,
        'aria-valuemax': REACH,
        'aria-valuenow': output,
        'aria-valuetext': answerWords(output)
      });
      plot.describe(ratio(facts, epsilon));
    }
  };
}

/** Several beliefs at several losses. */
function tablePart(): Part<[facts: OddsFacts, now: OddsSet]> {
  const body = html('tbody');
  const names = [...EPSILONS.map(epsilon => `ε ${epsilon}`), 'ε as set'];
  return {
    node: dataTable(['before', ...names.map(name => [name, 'num'] as const)], body),
    show: (facts, now) =>
      body.replaceChildren(
        ...tableOf(facts, now).map(({ prior, cells }) =>
          html(
            'tr',
            prior === now.prior ? { class: 'now' } : {},
            html('th', { scope: 'row' }, `${number(100 * prior)} %`),
            ...cells.map(cell => html('td', { class: 'num' }, cell))
          )
        )
      )
  };
}

function beliefSlider({ now, move, tell }: DragState<OddsSet>): Slider {
  return slider({
    label: 'belief before, in percent',
    range: { low: 1, high: 99 },
    step: 1,
    value: 100 * now.prior,
    ends: ['1 %', '99 %'],
    input: value => move({ prior: value / 100 }),
    change: tell
  });
}

function deltaSlider({ now, move, tell }: DragState<OddsSet>): Slider {
  return slider({
    label: 'δ',
    range: DELTAS,
    none: true,
    value: Math.max(now.delta, LEAST),
    ends: ['none: every answer is bounded', '1 in 100'],
    input: value => move({ delta: value <= LEAST ? 0 : value }),
    change: tell
  });
}

function oddsView(root: HTMLElement, link: Link<OddsFacts, OddsSet>): View {
  const { epsilon, prior, delta, people } = link.facts();
  const held = dragState<OddsSet>(link, { epsilon, prior, delta }, () => show(), {
    epsilon: { low: 0.01, high: 10 },
    prior: { low: 0.01, high: 0.99 },
    delta: { low: 0, high: DELTAS.high }
  });
  const { now } = held;
  const [crowd, table] = [crowdPart(people), tablePart()];
  const worlds = worldsPicture(() => held.move({}), held.tell);
  const said = announcer();
  const [permits, ratio] = [html('p', { class: 'soft' }), html('p', { class: 'soft' })];
  const bound = figures('the most that the belief becomes');
  const losses = lossSlider(() => held);
  const [beliefs, deltas] = [beliefSlider(held), deltaSlider(held)];
  root.append(
    head('What ε means for one person', 'whatever else is known about them'),
    ...[losses.node, beliefs.node, bound.node, said, permits],
    html('div', { class: 'two' }, crowd.node, table.node),
    html('h4', { class: 'say' }, 'The same answer, with you and without you'),
    worlds.node,
    key(['p', 'with you'], ['', 'without you (dashed); a mark for each possible answer']),
    ratio,
    html('details', {}, html('summary', {}, 'And with a δ?'), deltas.node)
  );

  function show(): void {
    const facts = link.facts();
    const belief = beliefOf(facts, now);
    const [words, allowed] = [belief.sentence, permitted(facts, now.delta)];
    crowd.show(belief, facts.people);
    bound.say(belief.bound);
    said.textContent = words;
    permits.textContent = allowed;
    losses.words(`ε ${significant(now.epsilon, 3)}: a${words.slice(1)}${now.delta > 0 ? ` ${allowed}` : ''}`);
    beliefs.words(words);
    deltas.words(`δ ${significant(now.delta, 2)}: ${words} ${allowed}`);
    losses.show(now.epsilon);
    beliefs.show(Math.round(100 * now.prior));
    deltas.show(Math.max(now.delta, LEAST));
    table.show(facts, now);
    worlds.show(facts, now.epsilon);
    ratio.textContent = worlds.ratio(facts, now.epsilon);
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(oddsView);
