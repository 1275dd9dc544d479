/** What a `%%dp` cell wears: a lock, a price, and after a run what it paid. Notebook code; no arithmetic of its own. */
import type { Cell, CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { svg } from '../widgets/parts/dom';
import type { Client } from './client';
import { isProtected } from './magic';

const RELEASE = 'application/vnd.dpnb.release+json';
const PLAN = 'application/vnd.dpnb.plan+json';
const WAIT = 40;

interface Loss {
  measure: string;
  amount: string;
}

/** A loss of a saved card in words: `ε 0.5`. */
export function paid(loss: unknown): string | null {
  if (typeof loss !== 'object' || loss === null) {
    return null;
  }
  const { measure, amount } = loss as Loss;
  const [top = '', bottom] = amount.split('/');
  const value = Number(top) / Number(bottom ?? 1);
  if (!Number.isFinite(value)) {
    return null;
  }
  return `${measure === 'pure' ? 'ε' : 'ρ'} ${Number(value.toPrecision(3))}`;
}

/** What the outputs of a cell say that it paid; null where it released nothing. */
export function tagOf(bundles: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const bundle of bundles) {
    const card = bundle[RELEASE] as { charged?: unknown } | undefined;
    const words = card === undefined ? null : paid(card.charged);
    if (words !== null) {
      return words.endsWith(' 0') ? `stored · ${words}` : words;
    }
    if (bundle[PLAN] !== undefined) {
      return 'plan · nothing spent';
    }
  }
  return null;
}

/** A small padlock, drawn: not every font has one. */
function lock(): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 10 12', width: 8, height: 10, 'aria-hidden': 'true' },
    svg('path', {
      d: 'M2.5 5V3.5a2.5 2.5 0 0 1 5 0V5',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.3
    }),
    svg('rect', { x: 1, y: 5, width: 8, height: 6.5, rx: 1, fill: 'currentColor' })
  );
}

/** What the kernel read from a cell's text, in a word or two, and why. */
export function priceOf(answer: Readonly<Record<string, unknown>> | null): { text: string; why: string } {
  const why = typeof answer?.message === 'string' ? answer.message : '';
  switch (answer?.status) {
    case 'priced':
      return { text: String(answer.label), why };
    case 'unread':
      return { text: 'price: press Plan', why: `Only its plan can tell: ${why}` };
    case 'error':
      return { text: 'would be refused', why };
    default:
      return { text: '', why: '' };
  }
}

/** Keeps the marks of one notebook's cells in step with their text, outputs and price. */
export class Marks {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _client: Client,
    private readonly _wanted: () => boolean = () => true
  ) {
    _panel.content.modelContentChanged.connect(() => this.draw());
    _panel.content.activeCellChanged.connect(() => this.draw());
    _client.changed.connect(() => this.draw());
    void _panel.context.ready.then(() => this.draw());
  }

  draw(): void {
    for (const cell of this._panel.content.widgets) {
      this._mark(cell);
    }
  }

  private _mark(cell: Cell): void {
    const source = cell.model.sharedModel.getSource();
    const is = cell.model.type === 'code' && isProtected(source);
    cell.toggleClass('dpnb-Cell', is);
    const tag = cell.node.querySelector<HTMLElement>('.dpnb-Tag');
    if (!is || !this._wanted()) {
      tag?.remove();
      return;
    }
    const shown = tag ?? this._addTag(cell);
    const outputs = (cell as CodeCell).model.outputs;
    const bundles = Array.from({ length: outputs.length }, (_, i) => outputs.get(i).data);
    const said = tagOf(bundles);
    // what a cell would cost follows its text, and the names that the kernel knows
    const key = `${this._client.state?.seq ?? this._client.link}\n${source}`;
    if (shown.dataset.key !== key) {
      shown.dataset.key = key;
      this._price(shown, source, key);
    }
    shown.dataset.paid = said ?? '';
    this._write(shown);
  }

  private _addTag(cell: Cell): HTMLElement {
    const made = document.createElement('div');
    made.className = 'dpnb-Tag';
    made.setAttribute('role', 'note');
    cell.inputArea?.node.append(made);
    return made;
  }

  private _price(tag: HTMLElement, source: string, key: string): void {
    clearTimeout(this._timers.get(tag));
    const timer = window.setTimeout(() => {
      void this._client.ask({ ask: 'price', cell: source }).then(answer => {
        if (tag.dataset.key === key) {
          const found = priceOf(answer);
          tag.dataset.price = found.text;
          tag.dataset.why = found.why;
          this._write(tag);
        }
      });
    }, WAIT);
    this._timers.set(tag, timer);
  }

  private _write(tag: HTMLElement): void {
    const { paid: was = '', price = '', why = '' } = tag.dataset;
    const text = was !== '' && price !== '' && price !== was ? `${was} · would cost ${price}` : was || price;
    tag.replaceChildren(lock(), ` ${text || 'protected'}`);
    tag.title = why || 'What this cell paid, and what it would cost now. Nothing is spent by reading it.';
  }

  private readonly _timers = new Map<HTMLElement, number>();
}
