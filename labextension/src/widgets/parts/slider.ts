/** One number under the hand: a slider, a field to type it, labelled ends, and words for whoever hears it. */
import { place, step, valueAt, type Range } from '../../maths/scale';
import { significant } from '../../maths/digits';
import { html, unique } from './dom';

export interface SliderOptions {
  readonly label: string;
  readonly range: Range;
  readonly value: number;
  readonly ends: readonly [string, string];
  /** A straight scale with this step; logarithmic without it. */
  readonly step?: number;
  /** Larger values to the left. */
  readonly reversed?: boolean;
  readonly write?: (value: number) => string;
  /** The lower end stands for none, and is written and typed as 0. */
  readonly none?: boolean;
  /** While it moves. */
  readonly input: (value: number) => void;
  /** When the hand lets go. */
  readonly change: (value: number) => void;
}

export interface Slider {
  readonly node: HTMLElement;
  readonly range: HTMLInputElement;
  readonly value: () => number;
  /** Take over other ends. */
  readonly reach: (range: Range) => void;
  /** Move it without telling anybody. */
  readonly show: (value: number) => void;
  readonly words: (text: string) => void;
  readonly note: (text: string) => void;
}

const FULL = 1000;

export function slider(options: SliderOptions): Slider {
  const id = unique('slider');
  const writing = options.write ?? ((value: number) => significant(value, 3));
  const write = (x: number): string => (options.none === true && x <= ends.low ? '0' : writing(x));
  let value = options.value;
  let ends = options.range;
  let typing = false; // what stands in the field is not taken yet, and is the hand's
  const range = html('input', { type: 'range', min: 0, max: FULL, step: 1, id, class: 'thumb' });
  const field = html('input', {
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': `${options.label}, typed`
  });
  const note = html('span', { class: 'soft' });
  const wrong = html('span', { class: 'warn', role: 'alert' });

  const toPlace = (x: number): number => {
    const share = options.step === undefined ? place(ends, x) : (x - ends.low) / (ends.high - ends.low);
    return Math.round(FULL * Math.min(Math.max(options.reversed === true ? 1 - share : share, 0), 1));
  };
  const fromPlace = (at: number): number => {
    const share = options.reversed === true ? 1 - at / FULL : at / FULL;
    if (options.step === undefined) {
      return valueAt(ends, share);
    }
    const raw = ends.low + share * (ends.high - ends.low);
    return Number((Math.round(raw / options.step) * options.step).toPrecision(10));
  };
  const settle = (next: number, typed = false): void => {
    value = next;
    range.value = String(toPlace(next));
    if (!typed) {
      field.value = write(next);
    }
    typing = false;
    field.removeAttribute('aria-invalid');
    wrong.textContent = '';
  };
  const nudge = (direction: 1 | -1): number => {
    const way = options.reversed === true ? (-direction as 1 | -1) : direction;
    if (options.step === undefined) {
      return step(ends, value, way);
    }
    const next = Number((value + way * options.step).toPrecision(10));
    return Math.min(Math.max(next, ends.low), ends.high);
  };

  range.addEventListener('input', () => {
    settle(fromPlace(Number(range.value)));
    options.input(value);
  });
  range.addEventListener('change', () => options.change(value));
  range.addEventListener('keydown', event => {
    const ways: Record<string, 1 | -1> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    const way = ways[event.key];
    if (way === undefined) {
      return;
    }
    event.preventDefault();
    settle(nudge(way));
    options.input(value);
    options.change(value);
  });
  const take = (): void => {
    typing = false;
    const { low, high } = ends;
    const read = Number(field.value.trim().replace(',', '.'));
    const typed = options.none === true && read === 0 ? low : read;
    if (field.value.trim() === '' || !Number.isFinite(typed) || typed < low || typed > high) {
      field.setAttribute('aria-invalid', 'true');
      wrong.textContent = `${options.label} is a number from ${write(low)} to ${write(high)}.`;
      return;
    }
    settle(typed, true);
    options.input(value);
    options.change(value);
  };
  field.addEventListener('input', () => {
    typing = true;
  });
  field.addEventListener('blur', () => {
    typing = false;
  });
  field.addEventListener('change', take);
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      take();
    }
  });

  settle(value);
  const node = html(
    'div',
    { class: 'control' },
    html('div', { class: 'top' }, html('label', { for: id }, options.label), field, note, wrong),
    range,
    html(
      'div',
      { class: 'ends', 'aria-hidden': 'true' },
      html('span', {}, options.ends[0]),
      html('span', {}, options.ends[1])
    )
  );
  return {
    node,
    range,
    value: () => value,
    reach: next => {
      ends = next;
      range.value = String(toPlace(value));
    },
    show: next => {
      if (typing) {
        value = next;
        range.value = String(toPlace(next));
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
