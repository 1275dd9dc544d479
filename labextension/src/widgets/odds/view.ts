/** Odds: what ε and δ do to a belief about one person: in a table, in people, and in two worlds. */
import { number, significant } from '../../maths/digits';
import { announcer, html } from '../parts/dom';
import { dragState, losses as lossSlider, type DragState } from '../parts/drag_state';
import { figures, head, key } from '../parts/layout';
import { slider, type Slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { crowdPart } from './crowd';
import { beliefOf, DELTAS, EPSILONS, LEAST, permitted, tableOf, type OddsFacts, type OddsSet } from './model';
import { worldsPicture } from './worlds';

/** Several beliefs at several losses. */
function tablePart(): {
  readonly node: HTMLElement;
  readonly show: (facts: OddsFacts, now: OddsSet) => void;
} {
  const body = html('tbody');
  const names = [...EPSILONS.map(epsilon => `ε ${epsilon}`), 'ε as set'];
  const heads = names.map(name => html('th', { scope: 'col', class: 'num' }, name));
  const top = html('tr', {}, html('th', { scope: 'col' }, 'before'), ...heads);
  return {
    node: html('table', {}, html('thead', {}, top), body),
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

export function oddsView(root: HTMLElement, link: Link<OddsFacts, OddsSet>): View {
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
