/** A whole number in a field: typed, checked, and told when it is entered. */
import { number } from '../../maths/digits';
import { html, unique } from './dom';

export interface IntegerField {
  readonly node: HTMLElement;
  /** Show a value, unless somebody is typing. */
  readonly show: (value: number) => void;
}

export function integerField(
  label: string,
  [low, high]: readonly [number, number],
  change: (value: number) => void
): IntegerField {
  const id = unique('integer');
  const field = html('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off', id });
  const wrong = html('span', { class: 'warn', role: 'alert' });
  const take = (): void => {
    const typed = Number(field.value.replaceAll(/[,\s]/g, ''));
    const bad = field.value.trim() === '' || !Number.isInteger(typed) || typed < low || typed > high;
    if (bad) {
      field.setAttribute('aria-invalid', 'true');
    } else {
      field.removeAttribute('aria-invalid');
      change(typed);
    }
    wrong.textContent = bad ? `${label} is a whole number from ${number(low)} to ${number(high)}.` : '';
  };
  field.addEventListener('change', take);
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      take();
    }
  });
  return {
    node: html('div', { class: 'control' }, html('label', { for: id }, label), field, wrong),
    show: value => {
      if (document.activeElement !== field && field.getAttribute('aria-invalid') === null) {
        field.value = number(value);
      }
    }
  };
}
