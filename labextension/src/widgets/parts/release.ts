/** The Release button: it never spends by itself, it leaves a cell behind that does, and runs it where it can. */
import { copyButton } from './code_box';
import { html } from './dom';

export const RELEASE_EVENT = 'dpnb:release';
/** The class of the button, by which it is found. */
const RELEASES = 'release';

export interface ReleaseRequest {
  readonly source: string;
  /** What the cell is written from was asked of the kernel, not read from a saved record. */
  readonly asked?: boolean;
}

/** Marks what a kernel drew that is gone since: nothing in it can be released. */
export const GONE = 'data-dpnb-gone';

interface ReleaseButton {
  readonly node: HTMLElement;
  readonly button: HTMLButtonElement;
  /** Whether it can be pressed; never where the kernel behind it is gone. */
  readonly allow: (on: boolean) => void;
}

/** Whether the kernel behind an element is gone. */
export const isGone = (node: Element): boolean => node.closest(`[${GONE}]`) !== null;

/** Take what is left to press in a view whose kernel is gone. */
export function disarm(root: Element): void {
  root.setAttribute(GONE, '');
  root.querySelectorAll<HTMLButtonElement>(`button.${RELEASES}`).forEach(one => (one.disabled = true));
}

interface Handed {
  readonly node: HTMLElement;
  /** Whether the notebook around took the cell; where none did, it is shown to be copied. */
  readonly run: (source: string, asked: boolean) => boolean;
}

/** Hands a cell to the notebook around a button; `label` and `words` are said of it where no notebook takes it. */
export function handOver(from: Element, label: string, words: string): Handed {
  const text = html('textarea', { readonly: '', rows: 4, 'aria-label': label });
  const shown = html(
    'div',
    { hidden: '' },
    html('p', { class: 'say' }, words),
    text,
    html('div', { class: 'buttons' }, copyButton(text))
  );
  return {
    node: shown,
    run: (source, asked) => {
      const detail: ReleaseRequest = { source, asked };
      const wish = new CustomEvent(RELEASE_EVENT, {
        bubbles: true,
        cancelable: true,
        composed: true,
        detail
      });
      if (!from.dispatchEvent(wish)) {
        return true;
      }
      // nobody took it: there is no JupyterLab extension around
      text.value = source;
      shown.hidden = false;
      text.focus();
      text.select();
      return false;
    }
  };
}

/** `source` is the cell that would be run, as it stands when the button is pressed; `asked` says who said so. */
export function releaseButton(source: () => string, asked = false): ReleaseButton {
  const release = html('button', { type: 'button', class: `strong ${RELEASES}` }, 'Release');
  const handed = handOver(release, 'the cell that releases this', 'Run this cell to release:');
  release.addEventListener('click', event => {
    if (!event.isTrusted || event.detail > 1 || isGone(release)) {
      return; // a script in the page is not a person, and a double click is one wish
    }
    handed.run(source(), asked);
  });
  release.addEventListener('keydown', event => {
    if (event.repeat) {
      event.preventDefault(); // a key held down is one wish too
    }
  });
  return {
    node: html('div', {}, release, handed.node),
    button: release,
    allow: on => {
      release.disabled = !on || isGone(release);
    }
  };
}
