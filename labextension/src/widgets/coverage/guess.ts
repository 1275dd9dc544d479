/** A guess before the first number is shown: a switch, remembered while the page is open. */
import { number } from '../../maths/digits';
import { button, entered, html, unique } from '../parts/dom';
import { labelled } from '../parts/layout';

let wanted = false;

interface Guess {
  readonly switch: HTMLElement;
  readonly node: HTMLElement;
  /** Told what was found; whether it is to be hidden still. */
  readonly show: (share: number | null) => boolean;
}

/** What is said when a guess is shown beside what was found. */
function revealed(guess: number, share: number): string {
  const [mine, found] = [number(guess, 0), number(100 * share, 1)];
  const apart = Math.abs(guess - 100 * share);
  return `You guessed ${mine} of 100; ${found} of 100 do${apart <= 2 ? ': well guessed.' : '.'}`;
}

/** A number from 0 to 100, or nothing. */
function guessOf(text: string): number | null {
  const value = Number(text.replace('%', '').trim());
  return text.trim() !== '' && value >= 0 && value <= 100 ? value : null;
}

export function guess(ask: () => void): Guess {
  const box = html('input', { type: 'checkbox' });
  const field = html('input', {
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    id: unique('guess')
  });
  const words = html('p', { class: 'soft', role: 'status' });
  let told: number | null = null;
  const take = (): void => {
    told = guessOf(field.value);
    words.textContent = told === null ? 'A number from 0 to 100.' : '';
    ask();
  };
  entered(field, take);
  const form = html(
    'div',
    { class: 'buttons' },
    labelled('of 100 intervals, how many contain the truth?', field),
    button('Show', take)
  );
  box.checked = wanted;
  box.addEventListener('change', () => {
    [wanted, told, field.value, words.textContent] = [box.checked, null, '', ''];
    ask();
  });
  return {
    switch: html('label', { class: 'check' }, box, ' guess before it is shown'),
    node: html('div', {}, form, words),
    show: share => {
      const hidden = box.checked && told === null;
      form.hidden = !hidden;
      if (told !== null && share !== null) {
        words.textContent = revealed(told, share);
      }
      return hidden;
    }
  };
}
