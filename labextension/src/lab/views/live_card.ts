/** What a card is made alive with: the card that stands still, its record, and questions to the kernel around it. */
import type { JSONObject } from '@lumino/coreutils';
import type { Snapshot } from '../../widgets/parts/session_state';

export interface Kernel {
  /** One question by a comm of its own; null where no kernel with dpnb answers. There is no question that spends. */
  readonly ask: (question: JSONObject) => Promise<JSONObject | null>;
  /** What the kernel told last, without asking it; null where none with dpnb is heard. */
  readonly state: () => Snapshot | null;
  /** Hear when the session may have changed: after a cell, a restart, a lost kernel. Returns how to stop. */
  readonly listen: (heard: () => void) => () => void;
}

export interface LiveCard {
  readonly dispose: () => void;
}

/** Add controls to a card in place; null where its record is none that this version knows: the card stays still. */
export type Grow = (card: HTMLElement, record: unknown, kernel: Kernel) => LiveCard | null;

/**
 * Draw a record alone, as text. Null for a record that is none. A kind without it has JupyterLab's own sanitised form of the card
 * there.
 */
type PlainCard = (record: unknown) => HTMLElement[] | null;

/** A kind of card. */
export interface Kind {
  readonly mime: string;
  readonly description: string;
  /** Loaded when the first card of the kind is drawn. */
  readonly grow: () => Promise<Grow>;
  /** For a kind whose record is drawn alone, where the output is not trusted or came without its card. */
  readonly plain?: () => Promise<PlainCard>;
}

const ASK = 'dpnb:ask';
const STATE = 'dpnb:state';
const CHANGED = 'dpnb:changed';

interface Asked {
  readonly question: JSONObject;
  readonly answer: (found: Promise<JSONObject | null>) => void;
}

interface Looked {
  readonly found: (state: Snapshot | null) => void;
}

/** The kernel around an element, reached through the page: who has a kernel for it answers. */
export function kernelAround(node: Element): Kernel {
  return {
    ask: question => {
      let answer: Promise<JSONObject | null> = Promise.resolve(null);
      const detail: Asked = {
        question,
        answer: found => {
          answer = found;
        }
      };
      node.dispatchEvent(new CustomEvent(ASK, { bubbles: true, detail }));
      return answer;
    },
    state: () => {
      let state: Snapshot | null = null;
      const detail: Looked = {
        found: told => {
          state = told;
        }
      };
      node.dispatchEvent(new CustomEvent(STATE, { bubbles: true, detail }));
      return state;
    },
    listen: heard => {
      const told = (event: Event): void => {
        if (event.target instanceof Element && event.target.contains(node)) {
          heard();
        }
      };
      document.addEventListener(CHANGED, told);
      return () => document.removeEventListener(CHANGED, told);
    }
  };
}

/** Whether somebody in this page answers cards at all: in Voilà nobody does, and a card stands still. */
export function isAnswered(): boolean {
  let heard = false;
  const detail: Looked = {
    found: () => {
      heard = true;
    }
  };
  document.body.dispatchEvent(new CustomEvent(STATE, { bubbles: true, detail }));
  return heard;
}

/** Answer the questions of the cards in a page, and say what was told. */
export function answerCards(
  ask: (node: Element, question: JSONObject) => Promise<JSONObject | null>,
  state: (node: Element) => Snapshot | null
): void {
  document.addEventListener(STATE, event => {
    (event as CustomEvent<Looked>).detail.found(state(event.target as Element));
  });
  document.addEventListener(ASK, event => {
    const { question, answer } = (event as CustomEvent<Asked>).detail;
    answer(ask(event.target as Element, question));
  });
}

/** Tell the cards within an element that their session may have changed. */
export function tellCards(around: Element): void {
  around.dispatchEvent(new CustomEvent(CHANGED, { bubbles: true }));
}
