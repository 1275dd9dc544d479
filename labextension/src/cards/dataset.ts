/** The card of a dataset alive: its columns open to what they can be asked, and its budget follows the ledger. */
import type { Grow } from '../lab/views/live_card';
import { budget, columns, isAttachFacts } from '../widgets/attach/view';
import { html } from '../widgets/parts/dom';
import { standing } from './session';

/** How long a click waits for a busy kernel to say what it calls the dataset, in milliseconds. */
const PATIENCE = 1000;

const rest = (time: number): Promise<void> => new Promise(done => setTimeout(done, time));

const rooted = (...children: Node[]): HTMLElement => {
  const root = html('div', { class: 'dpnb-w' });
  root.append(...children);
  return root;
};

export const grow: Grow = (card, record, kernel) => {
  const facts: unknown = (record as { facts?: unknown } | null)?.facts;
  const table = card.querySelector('table.cols')?.closest('.scroll');
  if (!isAttachFacts(facts) || table == null) {
    return null;
  }
  let called = facts.handle;
  let asked = Promise.resolve();
  const more = table.nextElementSibling;
  if (more?.matches('p.soft') === true && more.textContent.startsWith('…')) {
    more.remove();
  }
  table.replaceWith(
    rooted(
      ...columns(facts, async () => {
        await Promise.race([asked, rest(PATIENCE)]); // a click may be quicker than the kernel's first word
        return { was: facts.handle, is: called };
      })
    )
  );
  const living = rooted(...budget(facts));
  card.querySelector(':scope > .foot')?.replaceWith(living);
  let turn = 0;
  const step = async (): Promise<void> => {
    const mine = ++turn;
    const found = await standing(kernel, facts.dataset.name);
    if (mine === turn && found !== null) {
      called = found.called ?? called;
      living.replaceChildren(...budget({ ...facts, dataset: found.dataset }));
    }
  };
  const stop = kernel.listen(() => void step());
  asked = step();
  return {
    dispose: () => {
      turn++;
      stop();
    }
  };
};
