/** What a `%%dp` cell wears: a lock, a price, and after a run what it paid. Notebook code; no arithmetic of its own. */
import type { Cell, CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { significant } from '../../maths/digits';
import { svg } from '../../widgets/parts/dom';
import type { Client } from '../kernel/client';
import { isProtected, isSql } from './magic';
import {
  atOnce,
  Pricer,
  priceOf,
  READING,
  tagText,
  tagTitle,
  type Answer,
  type Price
} from '../kernel/pricer';

const RELEASE = 'application/vnd.dpnb.release+json';
const PLAN = 'application/vnd.dpnb.plan+json';

/** A loss of a saved card in words: `ε 0.5`. */
export function paid(loss: unknown): string | null {
  if (typeof loss !== 'object' || loss === null) {
    return null;
  }
  const { measure, amount } = loss as { measure?: unknown; amount?: unknown };
  if (typeof amount !== 'string') {
    return null; // an output that was saved by whomever
  }
  const [top = '', bottom] = amount.split('/');
  const value = Number(top) / Number(bottom ?? 1);
  if (!Number.isFinite(value)) {
    return null;
  }
  return `${measure === 'pure' ? 'ε' : 'ρ'} ${significant(value, 4)}`;
}

/** What the outputs of a cell say that it paid; null where it released nothing. */
export function tagOf(bundles: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const bundle of bundles) {
    const card = bundle[RELEASE] as { charged?: unknown } | null | undefined;
    const words = paid(card?.charged);
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

/** How long a price of an older text may stand, dimmed: typing does not flicker where the kernel answers at once. */
const GRACE = 200;
/** How long a hand rests before it is told that half a word is no column. */
const REST = 500;

/** The tag of one cell. */
class Tag {
  constructor(ask: (cell: string) => Promise<Answer | null>) {
    this.node.className = 'dpnb-Tag';
    this.node.setAttribute('role', 'note');
    this._pricer = new Pricer(ask, answer => this._said(priceOf(answer)));
  }

  /** Show what a cell paid, and ask what its text would cost. */
  draw(was: string, cell: string, key: string): void {
    this._was = was;
    if (this._key !== key) {
      this._key = key;
      this._typed = this._cell !== null && cell !== this._cell;
      this._cell = cell;
      clearTimeout(this._resting);
      this._read();
      this._pricer.want(cell, key);
    }
    this._write();
  }

  /** The price that is shown is another text's: that is said at once, and it goes where its successor is long in coming. */
  private _read(): void {
    this.node.setAttribute('aria-busy', 'true');
    this._late ||= window.setTimeout(() => {
      this._price = READING;
      this._write();
    }, GRACE);
  }

  private _said(price: Price): void {
    clearTimeout(this._resting);
    const show = (): void => {
      clearTimeout(this._late);
      this._late = 0;
      this._price = price;
      this.node.removeAttribute('aria-busy');
      this._write();
    };
    if (atOnce(price, this._price, this._typed)) {
      show();
    } else {
      this._resting = window.setTimeout(show, REST);
    }
  }

  private _write(): void {
    const price = this._price ?? priceOf(null);
    const text = tagText(this._was, price);
    if (this.node.dataset.text !== text) {
      this.node.dataset.text = text;
      this.node.replaceChildren(lock(), ` ${text}`);
    }
    const reading = this.node.hasAttribute('aria-busy');
    this.node.title = tagTitle(this._was, reading ? READING : price);
  }

  readonly node = document.createElement('div');
  private readonly _pricer: Pricer;
  private _price: Price | null = null;
  private _was = '';
  private _key = '';
  private _cell: string | null = null;
  /** The text has changed, and not only what is known of it: somebody may be in the middle of a word. */
  private _typed = false;
  private _resting = 0;
  private _late = 0;
}

/** The language that a `%%dp sql` cell is coloured and edited in: JupyterLab loads it when a cell first needs it. */
const SQL = 'text/x-pgsql';

/** Keeps the marks of one notebook's cells in step with their text, outputs and price. */
export class Marks {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _client: Client,
    private readonly _wanted: () => boolean = () => true,
    private readonly _loaded: (language: string) => Promise<unknown> = () => Promise.resolve()
  ) {
    _panel.content.modelContentChanged.connect(() => this.draw());
    _panel.content.activeCellChanged.connect(() => this.draw());
    _client.changed.connect(() => this.draw());
    void _panel.context.ready.then(() => this.draw());
  }

  draw(): void {
    if (!this._panel.isDisposed) {
      this._panel.content.widgets.forEach(cell => this._mark(cell));
    }
  }

  private _mark(cell: Cell): void {
    const source = cell.model.sharedModel.getSource();
    const is = cell.model.type === 'code' && isProtected(source);
    cell.toggleClass('dpnb-Cell', is);
    this._speak(cell, is && isSql(source));
    const tag = this._tags.get(cell);
    if (!is || !this._wanted()) {
      tag?.node.remove();
      this._tags.delete(cell);
      return;
    }
    const shown = tag ?? this._add(cell);
    const outputs = (cell as CodeCell).model.outputs;
    const bundles = Array.from({ length: outputs.length }, (_, i) => outputs.get(i).data);
    const was = tagOf(bundles) ?? ''; // with its card its answers are stored, which no charge had told
    shown.draw(was, source, `${this._known()}\n${was}\n${source}`);
  }

  /** Give a cell the language that it is written in; a language that others gave it stays. */
  private _speak(cell: Cell, sql: boolean): void {
    const { model } = cell;
    if (sql && model.mimeType !== SQL) {
      this._sql.add(cell);
      // an editor keeps the language that was loaded last
      void this._loaded(this._panel.content.codeMimetype).then(() => {
        if (this._sql.has(cell) && !cell.isDisposed) {
          model.mimeType = SQL;
        }
      });
    } else if (!sql && this._sql.delete(cell) && model.mimeType === SQL) {
      model.mimeType = this._panel.content.codeMimetype;
    }
  }

  /** What a price depends on beside the text: the names that the kernel knows, and what is stored. */
  private _known(): string {
    const { link, state } = this._client;
    if (link !== 'live' || state === null) {
      return link; // of another version's state nothing is read
    }
    const stored = state.datasets.map(one => `${one.name} ${one.entries}`).join();
    return `${state.reading} ${state.curator} ${stored}`;
  }

  private _add(cell: Cell): Tag {
    const made = new Tag(source => this._client.ask({ ask: 'price', cell: source }));
    cell.inputArea?.node.append(made.node);
    this._tags.set(cell, made);
    return made;
  }

  private readonly _tags = new WeakMap<Cell, Tag>();
  private readonly _sql = new WeakSet<Cell>();
}
