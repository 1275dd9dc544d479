/** Clamp handles: drag two bounds over public values; bias falls and noise grows with the room between them. */
import { halfWidth, number } from '../../maths/digits';
import { announcer, html } from '../parts/dom';
import { dragState, losses as lossSlider } from '../parts/drag_state';
import { figures, head, key } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { widget, type Link, type View } from '../parts/widget';
import { declaredView } from './declared';
import { boundsPicture, dalePicture, sharePicture } from './drawing';
import {
  clampedAt,
  daleOf,
  groundOf,
  movedBound,
  OUTSIDE,
  type Bound,
  type ClampFacts,
  type ClampSet
} from './model';

export function clampView(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
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
    html('h4', { class: 'say' }, 'Typical error, if the upper bound stood elsewhere'),
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
