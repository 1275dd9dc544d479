/** Remeasure: drag what you would pay on top; the forecast interval shrinks, and the earlier ones stay as a trail. */
import { announcer, eachFrame, html } from '../parts/dom';
import { figures, head } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { onAxis } from '../parts/on_axis';
import { draggable } from '../parts/pointer';
import { RELEASE_EVENT, releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import {
  cellOf,
  forecastAt,
  lossTo,
  rangeOf,
  startOf,
  trackOf,
  type RemeasureFacts,
  type RemeasureSet
} from './model';
import { trailPicture, type TrailPicture } from './trail';

const NARROWEST = 220;
const PAID = -1;
const AGAIN = 'To pay once more, move the slider first.';

/** The picture in its place, drawn anew where its intervals or its room change; `grabbed` hears the value under a hand. */
function trailPart(
  grabbed: (value: number) => void,
  settled: () => void,
  resized: () => void
): {
  readonly node: HTMLElement;
  readonly trail: (facts: RemeasureFacts, laid: (trail: TrailPicture) => void) => TrailPicture;
  readonly dispose: () => void;
} {
  const node = html('div');
  let [width, drawn] = [640, ''];
  let trail: TrailPicture | null = null;
  const seen = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now !== width && now > 0) {
      width = Math.max(now, NARROWEST);
      resized();
    }
  });
  seen.observe(node);
  return {
    node,
    trail: (facts, laid) => {
      const wanted = JSON.stringify([facts.trail, facts.value, width]);
      if (trail === null || wanted !== drawn) {
        const made = trailPicture(facts, width);
        [trail, drawn] = [made, wanted];
        node.replaceChildren(made.plot.node);
        draggable(made.plot.node, { move: at => grabbed(made.back(at)), end: settled });
        laid(made);
      }
      return trail;
    },
    dispose: () => seen.disconnect()
  };
}

/** The forecast without a title, for a place that has one. */
export function forecast(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  const first = link.facts();
  let loss = link.chosen().loss ?? startOf(first);
  let beside = link.chosen().beside ?? first.trail.length;
  const frame = eachFrame(() => show());
  const settled = (): void => link.choose({ loss, beside });
  const move = (to: number): void => {
    [loss, beside] = [to, link.facts().trail.length];
    frame.ask();
  };
  const place = trailPart(value => move(lossTo(link.facts(), value)), settled, frame.ask);
  const [told, said] = [figures('', ''), announcer()];
  const losses = slider({
    label: `+${first.symbol}`,
    range: rangeOf(first),
    value: loss,
    ends: ['more private', 'more accurate'],
    scale: trackOf(first),
    input: move,
    change: settled
  });
  losses.range.classList.add('bare'); // a filled track would look like one more interval
  const release = releaseButton(() => cellOf(link.facts(), loss));
  release.node.addEventListener(RELEASE_EVENT, () => {
    beside = PAID; // one move, one payment: a second click pays nothing
    settled();
    show();
  });
  root.append(...[place.node, losses.node, told.node, said], html('div', { class: 'buttons' }, release.node));

  function show(): void {
    const facts = link.facts();
    const { kind, problem } = facts;
    const trail = place.trail(facts, laid => {
      const track = trackOf(facts);
      losses.reach(rangeOf(facts), track);
      onAxis(losses, laid.axis(track.from, track.to));
    });
    const next = forecastAt(facts, loss);
    trail.show(next.low, next.high, `+ ${next.paid}`);
    trail.plot.describe(next.description);
    told.say(next.width, `+ ${next.paid}`);
    told.note(0, next.note);
    told.note(1, next.cost, !next.fits);
    const armed = beside === facts.trail.length;
    release.allow(next.fits && problem === '' && armed);
    said.textContent =
      problem !== ''
        ? problem
        : armed
          ? oddsWords(kind, next.together)
          : `${beside === PAID ? 'Its cell stands below.' : 'A newer answer is here.'} ${AGAIN}`;
    said.className = problem === '' ? 'say' : 'say warn';
    const words = lossWords(kind, next.together, `${next.width}. ${next.cost}. ${problem}`);
    losses.words(`${next.paid} more, together ${words}`);
    losses.show(loss);
  }

  show();
  return {
    update: () => {
      loss = link.chosen().loss ?? loss;
      beside = link.chosen().beside ?? beside;
      show();
    },
    dispose: () => {
      frame.stop();
      place.dispose();
    }
  };
}

export function remeasureView(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  root.append(head('Measure again', 'Nothing is spent by dragging.', link.facts().question));
  return forecast(root, link);
}

export default widget(remeasureView);
