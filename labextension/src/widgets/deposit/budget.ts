/** Budget: ε by what it means for one person, beside what others published with, what a δ permits, and what a secret sample adds. */
import { number, significant } from '../../maths/digits';
import { crowdPart } from '../odds/crowd';
import { beliefOf, permitted } from '../odds/model';
import { announcer, html, svg, type Part } from '../parts/dom';
import { EPSILONS } from '../parts/drag_state';
import { choice } from '../parts/layout';
import { slider } from '../parts/slider';
import { neighbours } from '../seesaw/model';
import { FULL, placeOf } from '../parts/track';
import type { Link } from '../parts/widget';
import { actButton } from './act';
import type { FormHand, Step } from './declare';
import { textField } from './fields';
import {
  DRAWN,
  looserWords,
  oddsOf,
  sampleWords,
  wordsOf,
  type DepositFacts,
  type DepositSet
} from './model';

const DELTAS = { low: 1e-12, high: 1e-3 };
const SHARES = { low: 0.001, high: 1 };

/** Ticks where others published, on the track of the slider below. */
function ticks({ budget }: DepositFacts): SVGSVGElement {
  const at = (epsilon: number): string =>
    `${((100 * placeOf({ range: EPSILONS }, epsilon)) / FULL).toFixed(1)}%`;
  const told = budget.register.map(({ epsilon, words }) => `ε ${epsilon}: ${words}`);
  const marks = budget.register.map(({ epsilon }, place) => {
    const x = at(epsilon);
    return svg(
      'line',
      { x1: x, x2: x, y1: 2, y2: 12, class: 'ink-line' },
      svg('title', {}, told[place] ?? '')
    );
  });
  return svg(
    'svg',
    { height: 14, class: 'ticks', role: 'img', 'aria-label': `published by others: ${told.join('; ')}` },
    ...marks
  );
}

interface Hand extends FormHand, Pick<Link<DepositFacts, DepositSet>, 'ask'> {
  readonly chosen: () => Partial<DepositSet>;
  readonly choose: (part: Partial<DepositSet>) => void;
}

/** What the sliders stand at while they move: the form hears when the drag ends. */
interface Now {
  epsilon: number;
  delta: number;
  prior: number;
}

function samplePart(hand: Hand, conditions: readonly string[]): Part<[now: Now]> {
  const said = announcer();
  const how = choice('how the people came into the file:', DRAWN, 'no', drawn => hand.choose({ drawn }));
  let last: Now = { epsilon: 1, delta: 0, prior: 0.1 };
  const share = slider({
    label: 'share of the population that was drawn',
    range: SHARES,
    value: hand.chosen().share ?? 0.01,
    ends: ['1 in 1,000', 'everybody'],
    input: () => tell(),
    change: value => hand.choose({ share: value })
  });
  const drawn = (): (typeof DRAWN)[number][0] =>
    DRAWN.map(([name]) => name).find(name => name === hand.chosen().drawn) ?? 'no';
  const tell = (): void => {
    said.textContent = sampleWords(hand.form().dataset.adjacency, last, share.value(), drawn());
    share.words(`${significant(100 * share.value(), 3)} %. ${said.textContent}`);
  };
  return {
    node: html(
      'details',
      {},
      html('summary', {}, 'Is the file a secret random sample?'),
      html('p', { class: 'soft' }, 'For display only: it makes no budget larger.'),
      how.node,
      share.node,
      said,
      html('ul', { class: 'soft' }, ...conditions.map(one => html('li', {}, one)))
    ),
    show: now => {
      last = now;
      how.show(drawn());
      share.show(hand.chosen().share ?? 0.01);
      share.node.hidden = drawn() === 'no';
      tell();
    }
  };
}

function deltaPart(
  words: string,
  moved: (delta: number) => void,
  settled: () => void
): Part<[now: Now]> & { readonly words: (text: string) => void } {
  const said = html('p', { class: 'soft' });
  const deltas = slider({
    label: 'δ',
    range: DELTAS,
    none: true,
    value: DELTAS.low,
    ends: ['none: the promise holds for every answer', '1 in 1,000'],
    write: value => significant(value, 2),
    input: value => moved(value <= DELTAS.low ? 0 : value),
    change: settled
  });
  return {
    node: html(
      'details',
      {},
      html('summary', {}, 'And with a δ?'),
      html('p', { class: 'soft' }, words),
      deltas.node,
      said
    ),
    show: ({ delta }) => deltas.show(delta || DELTAS.low),
    words: text => {
      said.textContent = text;
      deltas.words(text);
    }
  };
}

/** What was promised to whom, where the form is looser; and the act that records it. */
function looserPart(hand: Hand): Step {
  const said = html('p', { class: 'warn', role: 'status' });
  const reason = textField('Reason (the ledger keeps it)', value => hand.choose({ reason: value }), {
    long: true
  });
  const act = actButton('Record it', 'loosen', hand);
  const node = html('div', {}, said, reason.node, act.node);
  return {
    node,
    show: facts => {
      said.textContent = looserWords(facts);
      node.hidden = said.textContent === '';
      reason.show(hand.chosen().reason ?? '', '');
      act.allow((hand.chosen().reason ?? '').trim() !== '');
    }
  };
}

export function budgetStep(first: DepositFacts, hand: Hand): Step {
  const said = announcer();
  const [others, wrong] = [html('p', { class: 'soft' }), html('p', { class: 'warn', role: 'alert' })];
  const crowd = crowdPart(first.budget.people);
  const now: Now = { epsilon: 1, delta: 0, prior: 0.1 };
  let facts = first;
  const losses = slider({
    label: 'ε for everything that is ever released',
    range: EPSILONS,
    value: 1,
    input: epsilon => move({ epsilon }),
    change: epsilon => hand.setDataset({ epsilon: significant(epsilon, 3) })
  });
  const beliefs = slider({
    label: 'what somebody believes about one person beforehand, in percent',
    range: { low: 1, high: 99 },
    step: 1,
    value: 10,
    ends: ['1 %', '99 %'],
    input: value => move({ prior: value / 100 }),
    change: () => hand.choose({ prior: now.prior })
  });
  const delta = deltaPart(
    first.texts.delta,
    value => move({ delta: value }),
    () => hand.setDataset({ delta: now.delta > 0 ? significant(now.delta, 2) : '' })
  );
  const sample = samplePart(hand, first.texts.sample);
  const looser = looserPart(hand);

  losses.range.before(ticks(first));

  function move(part: Partial<Now>): void {
    Object.assign(now, part);
    const odds = oddsOf(facts);
    const belief = beliefOf(odds, now);
    said.textContent = belief.sentence;
    crowd.show(belief, odds.people);
    losses.words(`ε ${significant(now.epsilon, 3)}: ${belief.sentence}`);
    beliefs.words(`${number(100 * now.prior)} %: ${belief.sentence}`);
    delta.words(permitted(odds, now.delta));
    others.textContent = neighbours(facts.budget.register, now.epsilon);
    sample.show(now);
  }

  return {
    node: html(
      'div',
      {},
      html('p', { class: 'say' }, first.texts.all),
      html(
        'div',
        { class: 'two' },
        html('div', {}, losses.node, wrong, looser.node, others, beliefs.node, delta.node, sample.node),
        html('div', {}, said, crowd.node)
      )
    ),
    show: newer => {
      facts = newer;
      const { dataset } = hand.form();
      move({
        epsilon: Number(dataset.epsilon) || now.epsilon,
        delta: Number(dataset.delta) || 0,
        prior: hand.chosen().prior ?? now.prior
      });
      losses.show(now.epsilon);
      beliefs.show(Math.round(100 * now.prior));
      delta.show(now);
      looser.show(newer);
      wrong.textContent = [wordsOf(newer, '', 'epsilon'), wordsOf(newer, '', 'delta')]
        .filter(Boolean)
        .join(' ');
    }
  };
}
