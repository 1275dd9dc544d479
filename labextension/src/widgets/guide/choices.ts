/** One of several, each in words and with a note, as radio buttons. */
import { html, unique } from '../parts/dom';
import type { Option } from './model';

export function choices(
  legend: string,
  options: readonly Option[],
  chosen: string | undefined,
  take: (id: string) => void
): HTMLElement {
  const group = unique('choice');
  return html(
    'fieldset',
    { class: 'choices' },
    html('legend', {}, legend),
    ...options.map(option => {
      const input = html('input', {
        type: 'radio',
        name: group,
        value: option.id,
        checked: option.id === chosen ? '' : null
      });
      input.addEventListener('change', () => take(option.id));
      const note = option.note === undefined ? null : html('span', { class: 'soft' }, ` ${option.note}`);
      return html('label', {}, input, html('span', {}, option.words, note));
    })
  );
}
