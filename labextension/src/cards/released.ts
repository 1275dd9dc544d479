/** A released card alive: each line can show what paying more would buy, in its place. Opening it asks, and spends nothing. */
import type { JSONObject } from '@lumino/coreutils';
import type { Grow, Kernel, Living } from '../lab/living';
import { linesOf, type Line } from '../lab/record';
import { html, unique } from '../widgets/parts/dom';
import { mount, type Mounted } from '../widgets/parts/widget';
import { forecast, isFacts, type RemeasureFacts, type RemeasureSet } from '../widgets/remeasure.widget';

const NOBODY = 'There is no kernel here to ask: open the notebook of this card.';

/** What an answer says when it is a refusal, and what to say when there was none. */
export function refusal(answer: JSONObject | null): string {
  return answer === null
    ? NOBODY
    : typeof answer.problem === 'string' && answer.problem !== ''
      ? answer.problem
      : 'This kernel and this page hold different versions of dpnb: restart the kernel and reload the page.';
}

/** The control of one line: a button, and what it opens under the line. */
function thumb(place: Element, line: Line, kernel: Kernel): Living {
  const id = unique('again');
  const button = html(
    'button',
    {
      type: 'button',
      class: 'dpnb-more',
      'aria-expanded': 'false',
      'aria-controls': id,
      'aria-label': `more ${line.again} for ${line.name}`
    },
    `more ${line.again}`
  );
  const opened = html('div', { id, class: 'dpnb-again', hidden: '' });
  let view: Mounted<RemeasureFacts> | null = null;
  let turn = 0;
  let stop = (): void => undefined;

  const say = (words: string): void => {
    view?.dispose();
    view = null;
    opened.replaceChildren(html('p', { class: 'dpnb-w soft', role: 'status' }, words));
  };
  const ask = async (): Promise<void> => {
    const mine = ++turn;
    const answer = await kernel.ask({
      ask: 'remeasure',
      name: line.name,
      question: line.question,
      releases: [...line.releases]
    });
    if (mine !== turn || opened.hidden) {
      return;
    }
    const facts: unknown = answer?.facts;
    if (!isFacts(facts)) {
      say(refusal(answer));
      return;
    }
    if (view === null) {
      view = mount<RemeasureFacts, RemeasureSet>(forecast, facts);
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
  return { dispose: close };
}

export const grow: Grow = (card, record, kernel) => {
  const lines = linesOf(record);
  const places = card.querySelectorAll(':scope > .line');
  if (lines?.length !== places.length) {
    return null;
  }
  const thumbs = lines.flatMap((line, i) => (line.again !== '' ? [thumb(places[i]!, line, kernel)] : []));
  return { dispose: () => thumbs.forEach(one => one.dispose()) };
};
