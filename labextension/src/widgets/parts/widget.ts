/** How a view meets its model: facts come from the kernel, what the hand set goes back when it lets go. */
import type { AnyModel, RenderProps } from '@anywidget/types';
import { html } from './dom';

export interface Link<Facts, Set> {
  /** What the kernel says: released numbers, prices and public constants. */
  readonly facts: () => Facts;
  /** What was set last, by this view or another one of the same widget. */
  readonly chosen: () => Partial<Set>;
  /** Tell the kernel and the other views what was set. Called when a hand lets go, never while it drags. */
  readonly choose: (chosen: Partial<Set>) => void;
  /** Ask the kernel a question that spends nothing; null where no answer came. */
  readonly ask?: (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;
  /** Whether the kernel that holds this is still there. */
  readonly alive?: () => boolean;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface View {
  /** Draw again from the facts, and from what another view set. */
  readonly update?: () => void;
  readonly dispose?: () => void;
  /** Whether this view itself says, above what it draws, that its kernel is gone. */
  readonly saysStale?: boolean;
}

interface Traits<Facts, Set> {
  facts: Facts;
  chosen: Partial<Set>;
}

/** Draws a widget's facts into an element; what a hand sets goes through the link. */
export type Draw<Facts, Set> = (root: HTMLElement, link: Link<Facts, Set>) => View;

const PATIENCE = 5000;
let questions = 0;

/** Questions as messages of the widget's own comm, each under a number; a busy kernel answers after its cell. */
function asker(model: AnyModel, alive: () => boolean): (question: Answer) => Promise<Answer | null> {
  return question =>
    new Promise(resolve => {
      const number = ++questions;
      const finish = (answer: Answer | null): void => {
        clearTimeout(timer);
        model.off('msg:custom', heard);
        resolve(answer);
      };
      const heard = (message: { number?: unknown; answer?: Answer }): void => {
        if (message.number === number) {
          finish(message.answer ?? null);
        }
      };
      const timer = setTimeout(() => finish(null), PATIENCE);
      if (!alive()) {
        finish(null);
        return;
      }
      model.on('msg:custom', heard);
      try {
        model.send({ ...question, number });
      } catch {
        finish(null); // a comm that was closed meanwhile
      }
    });
}

const STALE = 'The kernel that drew this is gone: run the cell again to bring it in step.';

export interface Mounted<Facts> {
  readonly node: HTMLElement;
  /** Draw newer facts. */
  readonly show: (facts: Facts) => void;
  readonly dispose: () => void;
}

function rootOf(): HTMLElement {
  // keys typed here are for what is under the hand, not for the notebook around it
  return html('div', { class: 'dpnb-w', 'data-lm-suppress-shortcuts': 'true' });
}

/**
 * A view on plain facts, without a widget's model: what a card grows in place.
 * `heard` is told what was set, when the hand lets go; it may ask the kernel and show newer facts.
 */
export function mount<Facts, Set>(
  draw: Draw<Facts, Set>,
  facts: Facts,
  heard: (chosen: Partial<Set>) => void = () => undefined
): Mounted<Facts> {
  const node = rootOf();
  let now = facts;
  let set: Partial<Set> = {};
  const view = draw(node, {
    facts: () => now,
    chosen: () => set,
    choose: chosen => {
      set = { ...set, ...chosen };
      heard(set);
    }
  });
  return {
    node,
    show: newer => {
      now = newer;
      view.update?.();
    },
    dispose: () => view.dispose?.()
  };
}

/** An anywidget module from a drawing function. */
export function widget<Facts, Set>(
  draw: Draw<Facts, Set>
): { render: (props: RenderProps<Traits<Facts, Set>>) => () => void } {
  return {
    render: ({ model, el }) => {
      const root = rootOf();
      const stale = html('p', { class: 'warn stale', role: 'status', hidden: '' });
      el.append(root);
      let alive = true;
      const line: { send?: unknown } = model; // a page without a kernel has a model without one
      const reached = (): boolean => alive && typeof line.send === 'function';
      const link: Link<Facts, Set> = {
        ask: asker(model, reached),
        alive: reached,
        facts: () => model.get('facts'),
        chosen: () => model.get('chosen'),
        choose: chosen => {
          model.set('chosen', { ...model.get('chosen'), ...chosen });
          model.save_changes();
        }
      };
      const view = draw(root, link);
      const title = root.querySelector(':scope > .head');
      if (title === null) {
        root.prepend(stale);
      } else {
        title.after(stale);
      }
      const update = (): void => view.update?.();
      const lost = (): void => {
        alive = false;
        stale.hidden = view.saysStale === true;
        stale.textContent = STALE; // said aloud once it stands there
        update();
      };
      const events = model as AnyModel;
      events.on('change:facts', update);
      events.on('change:chosen', update);
      events.on('comm_live_update', lost);
      return () => {
        events.off('change:facts', update);
        events.off('change:chosen', update);
        events.off('comm_live_update', lost);
        view.dispose?.();
      };
    }
  };
}
