/** Remeasure: drag what you would pay on top; the forecast interval shrinks, and the earlier ones stay as a trail. */
import { marks } from '../../maths/scale';
import { type Picture, announcer, eachFrame, html, picture, set, svg } from '../parts/dom';
import { figures, head, text } from '../parts/layout';
import { lossWords, oddsWords } from '../parts/loss_words';
import { type Axis, onAxis } from '../parts/on_axis';
import { draggable } from '../parts/pointer';
import { RELEASE_EVENT, releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import { type Link, type View, widget } from '../parts/widget';
import {
  type RemeasureFacts,
  type RemeasureSet,
  cellOf,
  forecastAt,
  lossTo,
  rangeOf,
  startOf,
  trackOf
} from './model';

const [ROW, TOP, LEFT, RIGHT] = [26, 20, 96, 10];
/** So much room a number on the axis takes. */
const APART = 80;

interface TrailPicture {
  readonly plot: Picture;
  /** The value at a place. */
  readonly back: (at: number) => number;
  /** Where the lower end of the next interval moves, from one value to another. */
  readonly axis: (from: number, to: number) => Axis;
  readonly show: (from: number, to: number, words: string) => void;
}

/** The picture, in pixels: the intervals so far, oldest on top and faintest, and below them the next one, dashed. */
function trailPicture(facts: RemeasureFacts, W: number): TrailPicture {
  const rows = facts.trail.length + 1;
  const low = Math.min(...facts.trail.map(one => one.low));
  const high = Math.max(...facts.trail.map(one => one.high));
  const pad = (high - low) * 0.04 || 0.5;
  const reach = W - LEFT - RIGHT;
  const x = (value: number): number => LEFT + ((value - low + pad) / (high - low + 2 * pad)) * reach;
  const back = (at: number): number => low - pad + ((at - LEFT) / reach) * (high - low + 2 * pad);
  const label = (row: number, text: string): SVGTextElement =>
    svg('text', { x: 0, y: TOP + row * ROW + 17 }, text);
  const drawn = facts.trail.flatMap((one, i) => [
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP + i * ROW + 13}H${W - RIGHT}` }),
    svg('rect', {
      x: x(one.low),
      width: Math.max(x(one.high) - x(one.low), 2),
      y: TOP + i * ROW + 8,
      height: 10,
      class: 'pv',
      opacity: i === rows - 2 ? 1 : 0.3 + (0.4 * (i + 1)) / rows
    }),
    label(i, one.paid)
  ]);
  const [y, H] = [TOP + (rows - 1) * ROW + 13, TOP + rows * ROW];
  const scale = marks([low - pad, high + pad], Math.max(Math.floor(reach / APART), 2)).flatMap(
    ([at, words]) => [svg('path', { class: 'axis', d: `M${x(at)} ${TOP - 4}V${H}` }), text(x(at), 12, words)]
  );
  const next = svg('rect', { y: y - 7, height: 14, class: 'next' });
  const plus = label(rows - 1, '');
  const value = svg('path', { class: 'ink-line', d: `M${x(facts.value)} ${TOP - 4}V${H}` });
  const axis = svg('path', { class: 'axis', d: `M${LEFT} ${y}H${W - RIGHT}` });
  const plot = picture(
    'intervals so far, and the next one',
    W,
    H,
    ...scale,
    ...drawn,
    axis,
    plus,
    next,
    value
  );
  plot.node.classList.add('trail');
  return {
    plot,
    back,
    axis: (from, to) => ({ wide: W, from: x(from), to: x(to), below: H - y, said: W - RIGHT }),
    show: (from: number, to: number, words: string) => {
      set(next, { x: x(from), width: Math.max(x(to) - x(from), 3) });
      plus.textContent = words;
    }
  };
}

const NARROWEST = 220;
const PAID = -1;
const AGAIN = 'Move the slider first to pay once more.';

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
          : `${beside === PAID ? 'Its cell is below.' : 'A newer answer is here.'} ${AGAIN}`;
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

function remeasureView(root: HTMLElement, link: Link<RemeasureFacts, RemeasureSet>): View {
  root.append(head('Measure again', 'Nothing is spent by dragging.', link.facts().question));
  return forecast(root, link);
}

export default widget(remeasureView);
