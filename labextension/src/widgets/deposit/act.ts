/** A button that ends a step: the kernel writes the step's file and says the cell, which is left below and run. */
import { html, type Child } from '../parts/dom';
import { handOver, isGone } from '../parts/release';
import type { Link } from '../parts/widget';

interface ActButton {
  readonly node: HTMLElement;
  readonly name: (words: string) => void;
  readonly allow: (on: boolean) => void;
}

export const SILENT = 'The kernel does not answer. Run the cell of this screen again.';

/** `wish` is what the kernel is asked for; with `warning` it is asked once more before. */
export function actButton(
  words: string,
  wish: string,
  link: Pick<Link<never, never>, 'ask'>,
  warning?: Child
): ActButton {
  const act = html('button', { type: 'button', class: 'strong release' }, words);
  const said = html('p', { class: 'say', role: 'status' });
  const handed = handOver(act, 'the cell that does this', 'Run this cell to do it:');
  const go = async (): Promise<void> => {
    const answer = (await link.ask?.({ ask: wish })) ?? { problem: SILENT };
    const { cell, problem } = answer as { readonly cell?: unknown; readonly problem?: unknown };
    if (typeof cell === 'string') {
      said.textContent = handed.run(cell, true) ? 'The cell below does it, and reports the result.' : '';
    } else {
      said.textContent = typeof problem === 'string' ? problem : SILENT;
    }
  };
  const yes = html('button', { type: 'button', class: 'release' }, 'Yes, for ever');
  const no = html('button', { type: 'button' }, 'No');
  const sure = html('div', { class: 'buttons', hidden: '', role: 'group' }, warning ?? '', yes, no);
  const person = (event: MouseEvent): boolean => event.isTrusted && event.detail <= 1 && !isGone(act);
  act.addEventListener('click', event => {
    if (!person(event)) {
      return; // a script in the page is not a person, and a double click is one wish
    }
    if (warning === undefined) {
      void go();
    } else {
      sure.hidden = false;
      no.focus();
    }
  });
  yes.addEventListener('click', event => {
    if (person(event)) {
      sure.hidden = true;
      act.focus();
      void go();
    }
  });
  no.addEventListener('click', () => {
    sure.hidden = true;
    act.focus();
  });
  return {
    node: html('div', {}, html('div', { class: 'buttons' }, act), sure, said, handed.node),
    name: text => {
      act.textContent = text;
    },
    allow: on => {
      act.disabled = !on || isGone(act);
    }
  };
}
