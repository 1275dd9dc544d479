/** A button on a line of a card, and what it opens below: a view on facts that the kernel is asked for. Opening it spends nothing. */
import type { JSONObject } from '@lumino/coreutils';
import type { Kernel, LiveCard } from '../lab/views/live_card';
import { html, unique } from '../widgets/parts/dom';
import { mount, type Draw, type Mounted } from '../widgets/parts/widget';

const NOBODY = 'There is no kernel here to ask: open the notebook of this card.';

/** What an answer says when it is a refusal, and what to say when there was none. */
export function refusal(answer: JSONObject | null): string {
  return answer === null
    ? NOBODY
    : typeof answer.problem === 'string' && answer.problem !== ''
      ? answer.problem
      : 'This kernel and this page have different versions of dpnb: restart the kernel and reload the page.';
}

interface Opens<Facts, Set> {
  /** What is on the button. */
  readonly label: string;
  /** Which line it belongs to, for who hears it. */
  readonly name: string;
  readonly draw: Draw<Facts, Set>;
  readonly isFacts: (found: unknown) => found is Facts;
  /** What is asked, for what the user has set; when that makes it another question, it is asked again. */
  readonly question: (chosen: Partial<Set>) => JSONObject;
}

/** The button, closed at first, and the place that it opens. */
function closed(label: string, name: string): { button: HTMLButtonElement; opened: HTMLElement } {
  const id = unique('opened');
  const button = html(
    'button',
    {
      type: 'button',
      class: 'dpnb-more',
      'aria-expanded': 'false',
      'aria-controls': id,
      'aria-label': `${label} for ${name}`
    },
    label
  );
  return { button, opened: html('div', { id, class: 'dpnb-again', hidden: '' }) };
}

/** Put the button on the line, beside what was paid or beside a badge, and its place below. */
function lay(place: Element, button: HTMLElement, opened: HTMLElement): void {
  const row = place.querySelector(':scope > .row');
  const paid = row?.querySelector(':scope > span.paid');
  if (paid == null) {
    row?.append(button); // beside a badge that opens
  } else {
    const act = html('span', { class: 'dpnb-act' });
    paid.replaceWith(act);
    act.append(paid, button);
  }
  place.append(opened);
}

/** Add the button to a line: beside what was paid, or beside a badge that opens. */
export function disclosure<Facts, Set>(place: Element, opens: Opens<Facts, Set>, kernel: Kernel): LiveCard {
  const { button, opened } = closed(opens.label, opens.name);
  let view: Mounted<Facts> | null = null;
  let question = opens.question({});
  let turn = 0;
  let stop = (): void => undefined;

  const say = (words: string): void => {
    view?.dispose();
    view = null;
    opened.replaceChildren(html('p', { class: 'dpnb-w soft', role: 'status' }, words));
  };
  const heard = (chosen: Partial<Set>): void => {
    const next = opens.question(chosen);
    if (JSON.stringify(next) !== JSON.stringify(question)) {
      question = next;
      void ask();
    }
  };
  const ask = async (): Promise<void> => {
    const mine = ++turn;
    const answer = await kernel.ask(question);
    if (mine !== turn || opened.hidden) {
      return;
    }
    const facts: unknown = answer?.facts;
    if (!opens.isFacts(facts)) {
      say(refusal(answer));
      return;
    }
    if (view === null) {
      view = mount<Facts, Set>(opens.draw, facts, heard);
      opened.replaceChildren(view.node);
    } else {
      view.show(facts);
    }
  };
  const close = (): void => {
    turn++;
    stop();
    view?.dispose();
    view = null;
    opened.hidden = true;
    opened.replaceChildren();
    button.setAttribute('aria-expanded', 'false');
  };
  const open = (): void => {
    opened.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    question = opens.question({});
    say('Asking the kernel …');
    stop = kernel.listen(() => void ask());
    void ask();
  };
  button.addEventListener('click', () => (opened.hidden ? open() : close()));
  opened.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      close();
      button.focus();
    }
  });
  lay(place, button, opened);
  return { dispose: close };
}
