/** How a view meets its model: facts come from the kernel, what the user set goes back when the drag ends. */
import { html } from './dom';
import { disarm } from './release';

export interface Link<Facts, Set> {
  /** What the kernel says: released numbers, prices and public constants. */
  readonly facts: () => Facts;
  /** Many numbers of the facts, as bytes by name; whoever wrote them. */
  readonly arrays?: () => unknown;
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

interface Reply {
  readonly number?: unknown;
  readonly answer?: Answer;
}

/** A widget's model, as every host gives it: JupyterLab's or Voilà's manager, anywidget, or a page without a kernel. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, heard: (message: Reply) => void): void;
  off(event: string, heard: (message: Reply) => void): void;
  /** A page without a kernel has none. */
  send?(message: unknown): void;
  /** False where no kernel holds the state: it was saved in the notebook, by whomever. */
  readonly comm_live?: boolean;
}

/** What of a model's state is fit to be drawn. */
interface Reader<Facts, Set> {
  /** The facts; null where they are not of the kind's shape. */
  readonly facts: (raw: unknown) => Facts | null;
  readonly set: (raw: unknown) => Partial<Set>;
}

export interface Module<Facts, Set> {
  readonly render: (props: { model: Model; el: HTMLElement }, reader?: Reader<Facts, Set>) => () => void;
}

/** Draws a widget's facts into an element; what a hand sets goes through the link. */
export type Draw<Facts, Set> = (root: HTMLElement, link: Link<Facts, Set>) => View;

const PATIENCE = 5000;
let questions = 0;

/** Questions as messages of the widget's own comm, each under a number; a busy kernel answers after its cell. */
function asker(model: Model, alive: () => boolean): (question: Answer) => Promise<Answer | null> {
  return question =>
    new Promise(resolve => {
      const number = ++questions;
      const finish = (answer: Answer | null): void => {
        clearTimeout(timer);
        model.off('msg:custom', heard);
        resolve(answer);
      };
      const heard = (message: Reply): void => {
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
        model.send?.({ ...question, number });
      } catch {
        finish(null); // a comm that was closed meanwhile
      }
    });
}

const STALE = 'The kernel that drew this has ended. Run the cells above, then this one, to update it.';

export interface Mounted<Facts> {
  readonly node: HTMLElement;
  /** Draw newer facts. */
  readonly show: (facts: Facts) => void;
  readonly dispose: () => void;
}

function rootOf(): HTMLElement {
  // keys typed here are for the control in use, not for the notebook around it
  return html('div', { class: 'dpnb-w', 'data-lm-suppress-shortcuts': 'true' });
}

/**
 * A view on plain facts, without a widget's model: what a card grows in place.
 * `heard` is told what was set, when the drag ends; it may ask the kernel and show newer facts.
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

const STRANGE =
  'This interaction contains something that dpnb never writes, so it is not drawn. Read its cell before you run it again.';

/** What stands where nothing is drawn. */
export function refusal(words: string): HTMLElement {
  return html('p', { class: 'warn', role: 'alert' }, words);
}

/** Reads a model, its facts once for each time that they come. */
function reading<Facts, Set>(
  model: Model,
  reader?: Reader<Facts, Set>
): { fit: () => boolean; facts: () => Facts } {
  const read = reader?.facts ?? ((raw: unknown): Facts | null => raw as Facts);
  let [raw, fit, good]: [unknown, boolean, Facts | null] = [undefined, false, null];
  const look = (): void => {
    const now = model.get('facts');
    if (now !== raw) {
      const found = read(now);
      [raw, fit, good] = [now, found !== null, found ?? good];
    }
  };
  return { fit: () => (look(), fit), facts: () => (look(), good!) };
}

/** A module from a drawing function: it draws what is fit to be drawn, and else says that it does not. */
export function widget<Facts, Set>(draw: Draw<Facts, Set>): Module<Facts, Set> {
  return {
    render: ({ model, el }, reader) => {
      const root = rootOf();
      const stale = html('p', { class: 'warn stale', role: 'status', hidden: '' });
      const { fit, facts } = reading(model, reader);
      let alive = typeof model.send === 'function' && model.comm_live !== false;
      let view: View | null = null;
      const chosen = (): Partial<Set> =>
        reader?.set(model.get('chosen')) ?? (model.get('chosen') as Partial<Set>);
      const reached = (): boolean => alive;
      const link: Link<Facts, Set> = {
        ask: asker(model, reached),
        alive: reached,
        facts,
        arrays: () => model.get('arrays'),
        chosen,
        choose: set => {
          model.set('chosen', { ...(model.get('chosen') as Partial<Set>), ...set });
          model.save_changes();
        }
      };
      const begin = (): void => {
        root.replaceChildren();
        view = draw(root, link);
        const title = root.querySelector(':scope > .head');
        if (title === null) {
          root.prepend(stale);
        } else {
          title.after(stale);
        }
      };
      const refuse = (): void => {
        view?.dispose?.();
        view = null;
        root.replaceChildren(refusal(STRANGE));
      };
      const update = (): void => {
        try {
          if (!fit()) {
            refuse();
          } else if (view === null) {
            begin();
          } else {
            view.update?.();
          }
        } catch (error) {
          console.error('dpnb: this interaction cannot be drawn', error);
          refuse();
        }
      };
      const lost = (): void => {
        if (model.comm_live === true) {
          return; // found, not lost
        }
        alive = false;
        stale.hidden = view?.saysStale === true;
        stale.textContent = STALE; // said aloud once it stands there
        update();
        disarm(root);
      };
      el.append(root);
      update();
      if (model.comm_live === false) {
        lost();
      }
      model.on('change:facts', update);
      model.on('change:chosen', update);
      model.on('comm_live_update', lost);
      return () => {
        model.off('change:facts', update);
        model.off('change:chosen', update);
        model.off('comm_live_update', lost);
        view?.dispose?.();
      };
    }
  };
}
