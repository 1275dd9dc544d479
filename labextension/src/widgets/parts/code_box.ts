/** Code to copy, folded away below its summary. */
import { button, html } from './dom';

export interface CodeBox {
  readonly node: HTMLElement;
  readonly show: (code: string, summary: string) => void;
}

export function codeBox(rows: number): CodeBox {
  const code = html('textarea', { readonly: '', rows, 'aria-label': 'the code that reproduces this' });
  const about = html('summary');
  const copy = button('Copy', () => {
    code.select();
    void navigator.clipboard.writeText(code.value).catch(() => undefined);
  });
  return {
    node: html('details', {}, about, code, html('div', { class: 'buttons' }, copy)),
    show: (text, summary) => {
      about.textContent = summary;
      if (code.value !== text) {
        code.value = text;
      }
    }
  };
}
