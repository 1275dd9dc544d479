/** A whole number in a field: typed, checked, and told when it is entered. */
import { number } from '../../maths/digits';
import { entered, html, set, unique, type Part } from './dom';
import { labelled } from './layout';

export function integerField(
  label: string,
  [low, high]: readonly [number, number],
  change: (value: number) => void
): Part<[value: number]> {
  const field = html('input', {
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'off',
    id: unique('integer')
  });
  const wrong = html('span', { class: 'warn', role: 'alert' });
  const take = (): void => {
    const typed = Number(field.value.replaceAll(/[,\s]/g, ''));
    const bad = field.value.trim() === '' || !Number.isInteger(typed) || typed < low || typed > high;
    set(field, { 'aria-invalid': bad ? 'true' : null });
    if (!bad) {
      change(typed);
    }
    wrong.textContent = bad ? `${label} is a whole number from ${number(low)} to ${number(high)}.` : '';
  };
  entered(field, take);
  return {
    node: labelled(label, field, wrong),
    show: value => {
      if (document.activeElement !== field && field.getAttribute('aria-invalid') === null) {
        field.value = number(value);
      }
    }
  };
}
