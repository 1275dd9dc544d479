/** A paragraph in which some numbers are handles: dragged sideways, or stepped by keys; the rest of it and a curve follow. */
import { html, picture, set, svg, unitOf, type Part } from '../parts/dom';
import { dragState } from '../parts/drag_state';
import { text } from '../parts/layout';
import { widget, type Link, type View } from '../parts/widget';
import {
  curveOf,
  inside,
  keyed,
  moved,
  pieceAt,
  saysAt,
  type SentenceFacts,
  type SentenceSet
} from './model';

/** How far a hand moves from one stop to the next, in pixels. */
const PACE = 9;
const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [640, 170, 70, 24, 26, 30];
/** So wide a letter is at most, in pixels. */
const LETTER = 7.5;

/** Hear a hand that pulls sideways: `pulled` is told how many stops it is from where it began. */
function pullable(
  node: HTMLElement,
  begin: () => void,
  pulled: (stops: number) => void,
  end: () => void
): void {
  let held: { readonly id: number; readonly x: number } | null = null;
  node.addEventListener('pointerdown', event => {
    if (held !== null || event.button !== 0) {
      return; // a second finger does not take over
    }
    held = { id: event.pointerId, x: event.clientX };
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
    node.focus();
    begin();
  });
  node.addEventListener('pointermove', event => {
    if (event.pointerId === held?.id) {
      pulled(Math.round((event.clientX - held.x) / PACE));
    }
  });
  const release = (event: PointerEvent): void => {
    if (event.pointerId === held?.id) {
      held = null;
      end();
    }
  };
  node.addEventListener('pointerup', release);
  node.addEventListener('pointercancel', release);
}

interface Hands {
  readonly begin: (which: number) => void;
  readonly pulled: (which: number, stops: number) => void;
  readonly key: (which: number, key: string) => boolean;
  readonly end: () => void;
}

function handleOf(facts: SentenceFacts, which: number, hands: Hands): HTMLElement {
  const { name, values } = facts.numbers[which]!;
  const node = html('span', {
    class: 'pull',
    role: 'slider',
    tabindex: 0,
    'aria-label': `${name}, a number to drag`,
    'aria-valuemin': 0,
    'aria-valuemax': values.length - 1
  });
  pullable(
    node,
    () => hands.begin(which),
    stops => hands.pulled(which, stops),
    hands.end
  );
  node.addEventListener('keydown', event => {
    if (hands.key(which, event.key)) {
      event.preventDefault();
    }
  });
  return node;
}

function paragraphOf(facts: SentenceFacts, hands: Hands): Part<[at: readonly number[]]> {
  const pieces = facts.pieces.map(piece => ({
    piece,
    node:
      piece.kind === 'number'
        ? handleOf(facts, piece.which, hands)
        : html('span', piece.kind === 'told' ? { class: 'told' } : {})
  }));
  return {
    node: html('p', { class: 'sentence' }, ...pieces.map(one => one.node)),
    show: at => {
      const whole = saysAt(facts, at);
      for (const { piece, node } of pieces) {
        const words = pieceAt(facts, piece, at);
        node.textContent = words;
        if (piece.kind === 'number') {
          set(node, { 'aria-valuenow': at[piece.which]!, 'aria-valuetext': `${words}: ${whole}` });
        }
      }
    }
  };
}

/** The curve over the number that was moved last, and a point where it stands. */
function chartOf(facts: SentenceFacts): {
  readonly node: SVGSVGElement | null;
  readonly show: (at: readonly number[], which: number) => void;
} {
  if (facts.picture === null) {
    return { node: null, show: () => undefined };
  }
  const [still, point] = [svg('g'), svg('circle', { class: 'pv', r: 6 })];
  const {
    label,
    ends: [low, high]
  } = facts.picture;
  const drawn = picture(label, W, H, still, point);
  return {
    node: drawn.node,
    show: (at, which) => {
      const heights = curveOf(facts, at, which);
      const { name, values } = facts.numbers[which]!;
      const last = values.length - 1;
      const left = Math.max(LEFT, 12 + LETTER * unitOf(drawn.node) * Math.max(low.length, high.length));
      const x = (i: number): number => left + (i / Math.max(last, 1)) * (W - left - RIGHT);
      const y = (share: number): number => TOP + (1 - share) * (H - TOP - BOTTOM);
      const path = heights.map((share, i) => `${x(i).toFixed(1)} ${y(share).toFixed(1)}`).join('L');
      const marks = [
        ...new Set([0, Math.round(last / 4), Math.round(last / 2), Math.round((3 * last) / 4), last])
      ];
      still.replaceChildren(
        svg('path', { class: 'axis', d: `M${left} ${TOP}V${H - BOTTOM}H${W - RIGHT}` }),
        svg('path', { class: 'pv-line', d: `M${path}` }),
        text(left, 14, label, 'start'),
        text(left - 8, TOP + 4, high, 'end'),
        text(left - 8, H - BOTTOM, low, 'end'),
        ...marks.map(i =>
          text(x(i), H - 10, i === last ? `${name} ${values[i]!}` : values[i]!, i === last ? 'end' : 'middle')
        )
      );
      set(point, { cx: x(at[which]!), cy: y(heights[at[which]!]!) });
      drawn.describe(saysAt(facts, at));
    }
  };
}

function sentenceView(root: HTMLElement, link: Link<SentenceFacts, SentenceSet>): View {
  const facts = link.facts();
  const held = dragState(link, { at: facts.numbers.map(one => one.start) }, () => show());
  let [from, last] = [0, 0];
  const at = (): number[] => inside(facts, held.now.at);
  const go = (which: number, next: number[]): void => {
    last = which;
    held.move({ at: next });
  };
  const paragraph = paragraphOf(facts, {
    begin: which => (from = at()[which]!),
    pulled: (which, stops) => go(which, moved(facts, at(), which, from + stops)),
    key: (which, key) => {
      const next = keyed(facts, at(), which, key);
      if (next !== null) {
        go(which, next);
        held.tell();
      }
      return next !== null;
    },
    end: held.tell
  });
  const chart = chartOf(facts);
  chart.node?.addEventListener('even', () => show());
  root.append(paragraph.node);
  if (chart.node !== null) {
    root.append(chart.node);
  }
  root.append(
    html('p', { class: 'soft' }, 'Drag an underlined number sideways, or choose it and press an arrow key.')
  );

  function show(): void {
    paragraph.show(at());
    chart.show(at(), last);
  }

  show();
  return { update: held.follow, dispose: held.stop };
}

export default widget(sentenceView);
