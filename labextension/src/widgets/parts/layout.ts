/** How a screen is laid out: its heading, a row of figures, the key of a drawing. */
import { coded, html, svg, type Child, type Part } from './dom';

/** Title on the left, what holds for all of it on the right. */
export function head(title: string, note: string, about: string | null = null): HTMLElement {
  const left =
    about === null
      ? html('h3', {}, title)
      : html('div', {}, html('h3', {}, title), html('code', {}, ...coded(about)));
  return html('div', { class: 'head' }, left, html('span', { class: 'soft' }, note));
}

export interface Figures {
  readonly node: HTMLElement;
  /** Large words, one for each note. */
  readonly say: (...texts: string[]) => void;
  /** The note below a figure, and whether it warns. */
  readonly note: (i: number, text: string, warns?: boolean) => void;
}

/** Large words side by side, a note below each. */
export function figures(...notes: string[]): Figures {
  const large = notes.map(() => html('strong'));
  const small = notes.map(note => html('span', { class: 'soft' }, note));
  const node = html(
    'div',
    { class: 'figures' },
    ...large.map((figure, i) => html('div', {}, figure, small[i]!))
  );
  return {
    node,
    say: (...texts) => texts.forEach((text, i) => (large[i]!.textContent = text)),
    note: (i, text, warns = false) => {
      small[i]!.textContent = text;
      small[i]!.className = warns ? 'warn' : 'soft';
    }
  };
}

/** The key of a drawing: a mark and its words. `k` is ink, `p` the accent, an empty class the rest. */
export function key(...entries: (readonly [string, string])[]): HTMLElement {
  return html(
    'p',
    { class: 'key' },
    ...entries.map(([mark, words]) =>
      html(
        'span',
        mark === '' ? {} : { class: mark },
        html('i', mark === 'p' ? { class: 'square' } : {}),
        words
      )
    )
  );
}

/** What a column is called, and the class of its heading. */
type Heading = string | readonly [words: string, kind: string | null];

/** The headings of columns. */
export function headings(...columns: Heading[]): HTMLTableRowElement {
  const told = columns.map(one => (typeof one === 'string' ? ([one, null] as const) : one));
  return html('tr', {}, ...told.map(([words, kind]) => html('th', { scope: 'col', class: kind }, words)));
}

/** A table of some columns. */
export function dataTable(
  columns: readonly Heading[],
  body: Child,
  kind: string | null = null
): HTMLTableElement {
  return html('table', { class: kind }, html('thead', {}, headings(...columns)), body);
}

const WAYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [10, 0],
  PageDown: [-10, 0]
};

/** A handle in a drawing that the keyboard moves too: across by arrows and by pages, up and down by arrows. */
export function handle(label: string, moved: (across: number, up: number) => void, r = 9): SVGCircleElement {
  const node = svg('circle', { class: 'handle', r, tabindex: 0, role: 'slider', 'aria-label': label });
  node.addEventListener('keydown', event => {
    const way = WAYS[event.key];
    if (way !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      moved(...way);
    }
  });
  return node;
}

/** One of several, as buttons that a keyboard walks through: `name` is heard, each entry is a value and its words. */
export function choice<T extends string>(
  name: string,
  entries: readonly (readonly [T, string])[],
  value: T,
  chosen: (value: T) => void
): Part<[value: T]> {
  const list = html(
    'select',
    { 'aria-label': name },
    ...entries.map(([one, words]) => html('option', { value: one }, words))
  );
  list.value = value;
  list.addEventListener('change', () => chosen(list.value as T));
  const node = html('label', { class: 'pick' }, `${name} `, list);
  return { node, show: one => (list.value = one) };
}

/** A field with its label, and what is wrong with what stands in it. */
export function labelled(words: string, field: HTMLElement, wrong: Child = null): HTMLElement {
  return html('div', { class: 'control' }, html('label', { for: field.id }, words), field, wrong);
}

/** What is folded below a summary. */
export function fold(summary: string, ...nodes: Node[]): HTMLDetailsElement {
  const node = html('details', {}, html('summary', {}, summary));
  node.append(...nodes);
  return node;
}

/** Yes or no. */
export function checkField(words: Child, change: (on: boolean) => void): Part<[on: boolean]> {
  const box = html('input', { type: 'checkbox' });
  box.addEventListener('change', () => change(box.checked));
  return {
    node: html('label', { class: 'check' }, box, ' ', words),
    show: on => {
      box.checked = on;
    }
  };
}

/** What the two ends of a scale stand for; whoever hears it is told in other words. */
export function ends(low: string, high: string): HTMLElement {
  return html('div', { class: 'ends', 'aria-hidden': 'true' }, html('span', {}, low), html('span', {}, high));
}

/** A number below an axis on which a slider's track lies: it stands clear of the track, however large the drawing is. */
export function under(x: number, axis: number, words: string, anchor: 'start' | 'middle' | 'end' = 'middle') {
  return svg('text', { x, y: axis, 'text-anchor': anchor, class: 'under' }, words);
}

/** Arrowheads, as a path, where an upright interval leaves a drawing through its top or its bottom. */
export function leaving(
  x: number,
  [up, down]: readonly [boolean, boolean],
  [top, bottom]: readonly [number, number],
  size = 4
): string {
  const head = (at: number, way: number): string =>
    `M${(x - size).toFixed(1)} ${(at + way * size).toFixed(1)}l${size} ${-way * size}l${size} ${way * size}`;
  return (up ? head(top, 1) : '') + (down ? head(bottom, -1) : '');
}

/** Text in a drawing. */
export function text(
  x: number,
  y: number,
  words: Child,
  anchor: 'start' | 'middle' | 'end' = 'middle'
): SVGTextElement {
  return svg('text', { x, y, 'text-anchor': anchor }, words);
}
