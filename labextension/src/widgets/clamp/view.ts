/** Clamp handles: drag two bounds over public values; bias falls and noise grows with the room between them. */
import { widthAt } from '../../maths/curve';
import { halfWidth, number } from '../../maths/digits';
import { announcer, html, picture, svg } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { figures, head, key, text } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import { boundsPicture, dalePicture, sharePicture } from './drawing';
import {
  type Bound,
  type ClampFacts,
  type ClampSet,
  OUTSIDE,
  clampedAt,
  daleOf,
  groundOf,
  movedBound
} from './model';

const W = 640;

/** A protected column: its declared bounds, which stand, and what they cost. */
function declaredView(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  const facts = link.facts();
  const { question, symbol, curve, size } = facts.declared!;
  const range = { low: curve.loss[0]!, high: curve.loss.at(-1)! };
  const held = dragState(link, { epsilon: facts.epsilon }, () => show(), { epsilon: range });
  const [a, b] = [W * 0.12, W * 0.88];
  const plot = picture(
    'declared bounds',
    W,
    86,
    svg('path', { class: 'axis', d: `M0 50H${W}` }),
    svg('path', { class: 'ink-line', 'stroke-width': 3, d: `M${a} 30V62M${b} 30V62M${a} 46H${b}` }),
    text(a, 80, number(facts.low)),
    text(b, 80, number(facts.high)),
    text(W / 2, 36, 'declared by the owner; the values are not drawn')
  );
  const told = figures('95 % privacy interval of the mean', 'bias from clamping');
  const losses = slider({
    label: symbol,
    range,
    value: held.now.epsilon,
    input: epsilon => held.move({ epsilon }),
    change: held.tell
  });
  const planned = size === null ? '' : ` Planned for ${number(size)} people: the true number is private.`;
  root.append(
    head('Where to clamp', 'protected: declared bounds alone', question),
    plot.node,
    losses.node,
    told.node,
    html('p', { class: 'say' }, `Values outside count as the bound.${planned}`),
    html('p', { class: 'soft' }, OUTSIDE)
  );
  function show(): void {
    const { epsilon } = held.now;
    const words = `± ${halfWidth(widthAt(curve, epsilon))}`;
    told.say(words, 'not known');
    losses.words(lossWords(symbol === 'ρ' ? 'rho' : 'epsilon', epsilon, words));
    losses.show(epsilon);
    plot.describe(`${number(facts.low)} to ${number(facts.high)}`);
  }
  show();
  return { update: held.follow, dispose: held.stop };
}

function clampView(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  return link.facts().declared === null ? handles(root, link) : declaredView(root, link);
}

function handles(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
  const facts = link.facts();
  const ground = groundOf(facts);
  const { low, high, epsilon } = facts;
  const held = dragState<ClampSet>(link, { low, high, epsilon }, () => show(), {
    low: ground.range,
    high: ground.range,
    epsilon: { low: 0.01, high: 10 }
  });
  const { now } = held;
  const move = (name: Bound, value: number): void => held.move(movedBound(ground, now, name, value));
  const nudge = (name: Bound, across: number): void => {
    move(name, now[name] + across * ground.gap);
    held.tell();
  };
  const plot = boundsPicture(ground, { now, move, nudge, end: held.tell });
  const [dale, share] = [dalePicture(ground), sharePicture()];
  const told = figures('bias from clamping', 'noise, sd', 'typical error of the mean');
  const said = announcer();
  const losses = lossSlider(() => held);
  root.append(
    head('Where to clamp', `${number(facts.values.length)} public or simulated values`),
    ...[plot.node, told.node, share.node],
    key(['', 'bias'], ['p', 'noise']),
    html('h4', { class: 'say' }, 'Typical error at other upper bounds'),
    ...[dale.node, losses.node, said],
    html('p', { class: 'soft' }, OUTSIDE)
  );

  function show(): void {
    if (!(now.low < now.high)) {
      Object.assign(now, { low, high }); // two views may each have set one of them
    }
    const found = clampedAt(link.facts(), ground, now);
    plot.show(now, found);
    told.say(found.biasWords, halfWidth(found.noise), halfWidth(found.rmse));
    share.show(found);
    said.textContent = found.sentence;
    losses.words(lossWords('epsilon', now.epsilon, `typical error ${halfWidth(found.rmse)}`));
    losses.show(now.epsilon);
    dale.show(now, daleOf(link.facts(), ground, now));
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(clampView);
