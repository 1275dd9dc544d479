/** Repeating an attack on new people: the kernel makes one repetition at a time, for as long as the page asks. */
import { html } from '../parts/dom';

const LATE_MS = 4000;
const LATE =
  'No answer from the kernel yet: it is running a cell, or has ended. This continues when the kernel is free.';

interface Repeated {
  readonly done: number;
  readonly reps: number;
  /** The last question that the kernel has answered. */
  readonly pulled: number;
  readonly problem: string;
}

export interface Repeat {
  readonly node: HTMLElement;
  /** Draw what is there, and ask for more while it goes on. */
  readonly show: (now: Repeated | null) => void;
  /** Ask for nothing more. */
  readonly stop: () => void;
}

export function repeat(ask: (pull: number) => void): Repeat {
  let going = false;
  let asked = 0;
  let late = 0;
  let last: Repeated | null = null;
  const button = html('button', { type: 'button' }, 'Repeat');
  const bar = html('progress', { max: 1, value: 0, 'aria-label': 'repetitions done' });
  const count = html('span', { class: 'soft', role: 'status' });
  const waits = html('p', { class: 'warn', role: 'status', hidden: '' }, LATE);

  const halt = (): void => {
    going = false;
    clearTimeout(late);
    waits.hidden = true;
  };
  const draw = (): void => {
    const { done, reps } = last ?? { done: 0, reps: 1 };
    const all = done >= reps;
    button.disabled = all || last === null;
    button.textContent = going ? 'Pause' : 'Repeat on new people';
    bar.value = Math.min(done / reps, 1);
    const words = `${done} of ${Math.max(reps, done)} repetitions`;
    if (count.textContent !== words) {
      count.textContent = words;
    }
  };
  const onward = (): void => {
    if (last !== null && (last.problem !== '' || last.done >= last.reps)) {
      halt();
    }
    if (!going || last === null || last.pulled < asked) {
      return;
    }
    asked = Math.max(asked, last.pulled) + 1;
    clearTimeout(late);
    late = window.setTimeout(() => {
      waits.hidden = false;
    }, LATE_MS);
    ask(asked);
  };
  button.addEventListener('click', () => {
    if (going) {
      halt();
    } else {
      going = true;
      asked = last?.pulled ?? 0; // a question that a lost kernel did not answer is asked again
      onward();
    }
    draw();
  });
  return {
    node: html('div', {}, html('div', { class: 'buttons' }, button, bar, count), waits),
    show: now => {
      last = now;
      if (now !== null && now.pulled >= asked) {
        clearTimeout(late);
        waits.hidden = true;
      }
      onward();
      draw();
    },
    stop: halt
  };
}
