/**
 * Draws the cards. Where the output is trusted, the card that every notebook shows stands here too, and grows its controls in
 * place from its record. Where it is not, nothing of the record is markup: it is drawn as text.
 */
import { html } from '../../widgets/parts/dom';
import { type Grow, type Kernel, type Kind, type LiveCard, isAnswered, kernelAround } from './live_card';
import { RenderedHTML } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

/** The cards that JupyterLab draws alive, one entry each; the code of a kind is loaded with its first card. */
const KINDS: readonly Kind[] = [
  {
    mime: 'application/vnd.dpnb.release+json',
    description: 'Cards of released answers: pay more in place, and where stored answers came from.',
    grow: async () => (await import(/* webpackChunkName: "card-released" */ '../../cards/release')).grow,
    plain: async () => (await import(/* webpackChunkName: "card-released" */ './plain_card')).plainCard
  },
  {
    mime: 'application/vnd.dpnb.plan+json',
    description: 'Plans of cells: drag the loss and its split, and insert the cell that releases it.',
    grow: async () => (await import(/* webpackChunkName: "card-plan" */ '../../cards/plan')).grow
  },
  {
    mime: 'application/vnd.dpnb.dataset+json',
    description: 'Cards of datasets: columns to search and open, questions to copy, the current budget.',
    grow: async () => (await import(/* webpackChunkName: "card-dataset" */ '../../cards/dataset')).grow
  }
];

const CARD = 'text/html';
const UNKNOWN = 'This card was written by another version of dpnb.';

/** Grow a card; one whose record cannot be read stands still, whatever is wrong with it. */
function grown(grow: Grow, card: HTMLElement, record: unknown, kernel: Kernel): LiveCard | null {
  try {
    return grow(card, record, kernel);
  } catch (error) {
    console.warn('dpnb: this card is static, because its record cannot be read', error);
    return null;
  }
}

class CardRenderer extends Widget implements IRenderMime.IRenderer {
  constructor(kind: Kind, options: IRenderMime.IRendererOptions) {
    super();
    this._kind = kind;
    this._options = options;
    this.addClass('dpnb-Card');
  }

  dispose(): void {
    this._turn++;
    this._drop();
    super.dispose();
  }

  /** An output that is displayed again in its place comes here again: the last one wins. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const turn = ++this._turn;
    const record = model.data[this._kind.mime];
    const still = typeof model.data[CARD] === 'string';
    if (!still || (!model.trusted && this._kind.plain !== undefined)) {
      const plain = (await this._kind.plain?.().catch(() => null)) ?? null;
      if (turn === this._turn) {
        this._drop();
        this._plain(plain?.(record) ?? null, model.data['text/plain']);
      }
      return;
    }
    const drawn = new RenderedHTML({ ...this._options, mimeType: CARD });
    await drawn.renderModel(model);
    const grow = model.trusted && isAnswered() ? await this._kind.grow().catch(() => null) : null;
    if (turn !== this._turn) {
      drawn.dispose();
      return;
    }
    this._drop();
    this._still = drawn;
    this.node.replaceChildren(drawn.node);
    const card = drawn.node.querySelector<HTMLElement>('.dpnb');
    if (card !== null && grow !== null) {
      // keys typed in a card are for the control in use, not for the notebook around it
      card.dataset.lmSuppressShortcuts = 'true';
      this._live = grown(grow, card, record, kernelAround(this.node));
    }
  }

  private _plain(nodes: HTMLElement[] | null, text: unknown): void {
    const said = typeof text === 'string' ? [html('pre', {}, text)] : [];
    const root = html('div', { class: 'dpnb-w dpnb-Release' });
    root.append(...(nodes ?? [...said, html('p', { class: 'soft' }, UNKNOWN)]));
    this.node.replaceChildren(root);
  }

  private _drop(): void {
    this._live?.dispose();
    this._live = null;
    this._still?.dispose();
    this._still = null;
  }

  private readonly _kind: Kind;
  private readonly _options: IRenderMime.IRendererOptions;
  private _still: RenderedHTML | null = null;
  private _live: LiveCard | null = null;
  private _turn = 0;
}

/** Before text/html (50) and behind a widget's own view (0 or less): an interaction stays one. */
const RANK = 45;

const extensions: IRenderMime.IExtension[] = KINDS.map(kind => ({
  id: `dpnb:${kind.mime.replace(/^.*vnd\.dpnb\.|\+json$/g, '')}-card`,
  description: kind.description,
  rendererFactory: {
    safe: true,
    mimeTypes: [kind.mime],
    createRenderer: options => new CardRenderer(kind, options)
  },
  rank: RANK,
  dataType: 'json'
}));

export default extensions;
