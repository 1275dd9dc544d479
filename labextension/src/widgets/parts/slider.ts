/** One number to drag: a slider, a field to type it, labelled ends, and words for whoever hears it. */
import type { Range } from '../../maths/scale';
import { significant } from '../../maths/digits';
import { entered, html, set, unique } from './dom';
import { ends } from './layout';
import { ARROWS, FULL, neighbour, placeOf, typedValue, valueOf, type Scale, type Track } from './track';

interface SliderOptions extends Track {
  readonly label: string;
  readonly value: number;
  /** What its ends stand for. */
  readonly ends?: readonly [string, string];
  readonly write?: (value: number) => string;
  /** While it moves. */
  readonly input: (value: number) => void;
  /** When the drag ends. */
  readonly change: (value: number) => void;
}

export interface Slider {
  readonly node: HTMLElement;
  readonly range: HTMLInputElement;
  readonly value: () => number;
  /** Take over other ends. */
  readonly reach: (range: Range, scale?: Scale) => void;
  /** Move it without telling anybody. */
  readonly show: (value: number) => void;
  readonly words: (text: string) => void;
  readonly note: (text: string) => void;
}

interface Drawing {
  readonly node: HTMLElement;
  readonly range: HTMLInputElement;
  readonly field: HTMLInputElement;
  readonly note: HTMLElement;
  readonly wrong: HTMLElement;
}

function drawing(label: string, words: readonly [string, string]): Drawing {
  const id = unique('slider');
  const range = html('input', { type: 'range', min: 0, max: FULL, step: 1, id, class: 'thumb' });
  const field = html('input', {
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': `${label}, typed`
  });
  const note = html('span', { class: 'soft' });
  const wrong = html('span', { class: 'warn', role: 'alert' });
  const node = html(
    'div',
    { class: 'control' },
    html('div', { class: 'top' }, html('label', { for: id }, label), field, note, wrong),
    range,
    ends(...words)
  );
  return { node, range, field, note, wrong };
}

export function slider(options: SliderOptions): Slider {
  const { node, range, field, note, wrong } = drawing(options.label, options.ends ?? ['', '']);
  let [value, track]: [number, Track] = [options.value, options];
  let typing = false; // the text of the field is not taken yet, and belongs to the user
  const write = (x: number): string =>
    track.none === true && x <= track.range.low ? '0' : (options.write?.(x) ?? significant(x, 3));

  const stand = (next: number): void => {
    value = next;
    range.value = String(placeOf(track, next));
  };
  const settle = (next: number, typed = false): void => {
    stand(next);
    if (!typed) {
      field.value = write(next);
    }
    typing = false;
    set(field, { 'aria-invalid': null });
    wrong.textContent = '';
  };
  const tell = (): void => {
    options.input(value);
    options.change(value);
  };
  field.addEventListener('input', () => {
    typing = true;
  });
  field.addEventListener('blur', () => {
    typing = false;
  });
  entered(field, () => {
    typing = false;
    const typed = typedValue(track, field.value);
    if (typed === null) {
      set(field, { 'aria-invalid': 'true' });
      wrong.textContent = `${options.label} is a number from ${write(track.range.low)} to ${write(track.range.high)}.`;
      return;
    }
    settle(typed, true);
    tell();
  });
  range.addEventListener('input', () => {
    settle(valueOf(track, Number(range.value)));
    options.input(value);
  });
  range.addEventListener('change', () => options.change(value));
  range.addEventListener('keydown', event => {
    const way = ARROWS[event.key];
    if (way !== undefined) {
      event.preventDefault();
      settle(neighbour(track, value, way));
      tell();
    }
  });

  settle(value);
  return {
    node,
    range,
    value: () => value,
    reach: (next, scale) => {
      track = { ...track, range: next, scale };
      stand(value);
    },
    show: next => {
      if (typing) {
        stand(next);
      } else if (document.activeElement !== field || field.getAttribute('aria-invalid') === null) {
        settle(next);
      }
    },
    words: text => range.setAttribute('aria-valuetext', text),
    note: text => {
      note.textContent = text;
    }
  };
}
