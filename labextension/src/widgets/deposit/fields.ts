/** Fields of the form: a label, what is typed or chosen, and what is wrong with it beside it. */
import { html, set, unique, type Child, type Part } from '../parts/dom';

/** Show a value, unless somebody is typing it; and what is wrong with it. */
export type Field = Part<[value: string, wrong: string]>;

type Input = HTMLInputElement | HTMLSelectElement;

function field(words: string, input: Input, help: Child, change: (value: string) => void): Field {
  const [id, below] = [unique('field'), unique('wrong')];
  const wrong = html('span', { class: 'warn', id: below, role: 'alert' });
  set(input, { id, 'aria-describedby': below });
  input.addEventListener('input', () => change(input.value));
  return {
    node: html('div', { class: 'field' }, html('label', { for: id }, words), input, help, wrong),
    show: (value, words) => {
      if (document.activeElement !== input && input.value !== value) {
        input.value = value;
      }
      set(input, { 'aria-invalid': words === '' ? null : 'true' });
      if (wrong.textContent !== words) {
        wrong.textContent = words; // said aloud when it is new
      }
    }
  };
}

/** A text that is typed. */
export function textField(
  words: string,
  change: (value: string) => void,
  options: { readonly example?: string; readonly help?: Child; readonly long?: boolean } = {}
): Field {
  const input = html('input', {
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: options.example ?? null,
    class: options.long === true ? 'filling' : null
  });
  return field(words, input, options.help ?? null, change);
}

/** One of several. */
export function choiceField(
  words: string,
  entries: readonly (readonly [string, string])[],
  change: (value: string) => void
): Field {
  const list = html('select', {}, ...entries.map(([value, text]) => html('option', { value }, text)));
  return field(words, list, null, change);
}
