/** Finding among many by words that are typed. */
import { html } from './dom';

/** Those whose text has every word that was typed. */
export function matching<One>(all: readonly One[], typed: string, textOf: (one: One) => string): One[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(one => {
    const text = textOf(one).toLowerCase();
    return words.every(word => text.includes(word));
  });
}

/** A field that finds: what is typed is heard with every key. */
export function finder(label: string, heard: () => void): HTMLInputElement {
  const field = html('input', {
    type: 'text',
    'aria-label': label,
    placeholder: label,
    autocomplete: 'off'
  });
  field.addEventListener('input', heard);
  return field;
}
