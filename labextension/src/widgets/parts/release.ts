/** The Release button: it never spends by itself, it leaves a cell behind that does, and runs it where it can. */
import { button, html } from './dom';

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

export interface ReleaseButton {
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

/** `source` is the cell that would be run, as it stands when the button is pressed; `asked` says who said so. */
export function releaseButton(source: () => string, asked = false): ReleaseButton {
  const release = html('button', { type: 'button', class: `strong ${RELEASES}` }, 'Release');
  const text = html('textarea', { readonly: '', rows: 4, 'aria-label': 'the cell that releases this' });
  const copy = button('Copy', () => {
    text.select();
    void navigator.clipboard.writeText(text.value).catch(() => undefined);
  });
  const shown = html(
    'div',
    { hidden: '' },
    html('p', { class: 'say' }, 'Run this cell to release:'),
    text,
    html('div', { class: 'buttons' }, copy)
  );
  release.addEventListener('click', event => {
    if (!event.isTrusted || event.detail > 1 || isGone(release)) {
      return; // a script in the page is not a person, and a double click is one wish
    }
    const detail: ReleaseRequest = { source: source(), asked };
    const wish = new CustomEvent(RELEASE_EVENT, { bubbles: true, cancelable: true, composed: true, detail });
    if (release.dispatchEvent(wish)) {
      // nobody took it: there is no JupyterLab extension around
      text.value = detail.source;
      shown.hidden = false;
      text.focus();
      text.select();
    }
  });
  release.addEventListener('keydown', event => {
    if (event.repeat) {
      event.preventDefault(); // a key held down is one wish too
    }
  });
  return {
    node: html('div', {}, release, shown),
    button: release,
    allow: on => {
      release.disabled = !on || isGone(release);
    }
  };
}
