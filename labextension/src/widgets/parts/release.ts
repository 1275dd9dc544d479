/** The Release button: it never spends by itself, it leaves a cell behind that does, and runs it where it can. */
import { button, html } from './dom';

export const RELEASE_EVENT = 'dpnb:release';

export interface ReleaseRequest {
  readonly source: string;
  /** What the cell is written from was asked of the kernel, not read from a saved record. */
  readonly asked?: boolean;
}

export interface ReleaseButton {
  readonly node: HTMLElement;
  readonly button: HTMLButtonElement;
}

/** `source` is the cell that would be run, as it stands when the button is pressed; `asked` says who said so. */
export function releaseButton(source: () => string, asked = false): ReleaseButton {
  const release = html('button', { type: 'button', class: 'strong' }, 'Release');
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
    if (!event.isTrusted || event.detail > 1) {
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
  return { node: html('div', {}, release, shown), button: release };
}
