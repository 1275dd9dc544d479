/** A protected column: its declared bounds, which stand, and what they cost. */
import { widthAt } from '../../maths/curve';
import { halfWidth, number } from '../../maths/digits';
import { html, picture, svg } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { figures, head, text } from '../parts/layout';
import { lossWords } from '../parts/loss_words';
import { slider } from '../parts/slider';
import type { Link, View } from '../parts/widget';
import { OUTSIDE, type ClampFacts, type ClampSet } from './model';

const W = 640;

export function declaredView(root: HTMLElement, link: Link<ClampFacts, ClampSet>): View {
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
    ends: ['more private', 'more accurate'],
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
