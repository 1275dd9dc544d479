/** Code to copy, folded away below its summary. */
import { button, html, type Part } from './dom';

/** A button that selects a text and copies it. */
export function copyButton(text: HTMLTextAreaElement): HTMLButtonElement {
  return button('Copy', () => {
    text.select();
    void navigator.clipboard.writeText(text.value).catch(() => undefined);
  });
}

export function codeBox(rows: number): Part<[code: string, summary: string]> {
  const code = html('textarea', { readonly: '', rows, 'aria-label': 'the code that reproduces this' });
  const about = html('summary');
  return {
    node: html('details', {}, about, code, html('div', { class: 'buttons' }, copyButton(code))),
    show: (text, summary) => {
      about.textContent = summary;
      if (code.value !== text) {
        code.value = text;
      }
    }
  };
}
