/** Elements from text: children are nodes or plain text, never markup. */

export type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | number | null>>;

const SVG = 'http://www.w3.org/2000/svg';

/** What can have the focus. JupyterLab looks at the element itself before it looks around it for whether it may take the keys. */
const REACHED = 'a, button, input, select, summary, textarea, [tabindex]';

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  set(element, attributes);
  if (element.matches(REACHED)) {
    element.setAttribute('data-lm-suppress-shortcuts', 'true');
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/** What stands on a page, and how it is brought in step. */
export interface Part<Now extends readonly unknown[], Drawn extends Element = HTMLElement> {
  readonly node: Drawn;
  readonly show: (...now: Now) => void;
}

/** The same of several nodes, which stand where their view puts them. */
export interface Parts<Now extends readonly unknown[], Drawn extends Element = HTMLElement> {
  readonly nodes: readonly Drawn[];
  readonly show: (...now: Now) => void;
}

/** Set attributes; one that is already so is left alone, since the page is laid out again after each that is set. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) {
      element.removeAttribute(name);
    } else if (element.getAttribute(name) !== String(value)) {
      element.setAttribute(name, String(value));
    }
  }
}

/** Let an element say words, and leave alone one that says them already. */
export function say(element: Element, words: string): void {
  if (element.textContent !== words) {
    element.textContent = words;
  }
}

export function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** A button that does one thing when it is pressed. */
export function button(words: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = html('button', { type: 'button', ...attributes }, words);
  made.addEventListener('click', pressed);
  return made;
}

/** Code that breaks after operators, dots, commas and brackets, never inside a word or a number. */
export function coded(code: string): (Node | string)[] {
  return code
    .split(/(?<=[.,=&|+*/(<>[-])(?![=)\]*])(?<!\d[.,](?=\d))/)
    .flatMap((part, i) => (i > 0 ? [html('wbr'), part] : [part]));
}

/** Let an element say code; code that it says already stays as it is. */
export function sayCode(element: Element, code: string): void {
  if (element.textContent !== code) {
    element.replaceChildren(...coded(code));
  }
}

/** Hear a text that is entered: by leaving its field, or by the key. */
export function entered(field: HTMLInputElement, take: () => void): void {
  field.addEventListener('change', take);
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      take();
    }
  });
}

// each module has a copy of this file, and all of them share one page
const copy = Math.random().toString(36).slice(2, 8);
let last = 0;

/** An id that nothing else in the page has. */
export function unique(stem: string): string {
  last += 1;
  return `dpnb-${stem}-${copy}-${last}`;
}

export interface Picture {
  readonly node: SVGSVGElement;
  /** Says in words what the picture shows. */
  describe: (words: string) => void;
}

/** Letters keep their size on the screen, however wide a drawing is: `--u` says how much of it a pixel is. */
function evenLetters(node: SVGSVGElement): void {
  new ResizeObserver(() => {
    const { width } = node.getBoundingClientRect();
    if (width > 0) {
      node.style.setProperty('--u', String(node.viewBox.baseVal.width / width));
      node.dispatchEvent(new Event('even'));
    }
  }).observe(node);
}

/** How much of a drawing a pixel is. */
export const unitOf = (node: SVGSVGElement): number => Number(node.style.getPropertyValue('--u')) || 1;

/** A drawing with a title and a description that follows it. */
export function picture(title: string, width: number, height: number, ...children: Child[]): Picture {
  const words = svg('desc');
  const node = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title, class: 'plot' },
    svg('title', {}, title),
    words,
    ...children
  );
  if (node.querySelector('[tabindex]') !== null) {
    node.setAttribute('role', 'group'); // an image has nothing in it that can be reached
  }
  evenLetters(node);
  return {
    node,
    describe: text => {
      say(words, text);
      set(node, { 'aria-label': `${title}: ${text}` });
    }
  };
}

/** A sentence that a screen reader hears when it has settled. */
export function announcer(): HTMLElement {
  return html('p', { class: 'say', 'aria-live': 'polite' });
}

/** Runs a drawing at most once a frame, however many events arrive. */
export function eachFrame(draw: () => void): { ask: () => void; stop: () => void } {
  let frame = 0;
  return {
    ask: () => {
      if (frame === 0) {
        frame = requestAnimationFrame(() => {
          frame = 0;
          draw();
        });
      }
    },
    stop: () => cancelAnimationFrame(frame)
  };
}
