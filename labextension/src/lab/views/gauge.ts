/** The status bar: dataset, spent of total in its own measure, and a small bar. Colour and text say when little is left. */
import { Widget } from '@lumino/widgets';
import { gauge } from '../../widgets/parts/session_state';
import type { Client } from '../kernel/client';

export class Gauge extends Widget {
  constructor(open: () => void) {
    super({ node: document.createElement('button') });
    this.addClass('dpnb-Gauge');
    this.node.setAttribute('type', 'button');
    this._bar.className = 'dpnb-Gauge-bar';
    this._bar.append(this._fill);
    this._name.className = 'dpnb-Gauge-name';
    this.node.append(this._text, this._bar);
    this.node.addEventListener('click', open);
    this.show_(null);
  }

  /** Draw what a client says; null where no notebook is in front. */
  show_(client: Client | null): void {
    const said = gauge(client?.link ?? 'no notebook', client?.state ?? null);
    this._name.textContent = said.name;
    this._text.replaceChildren(this._name, said.text.slice(said.name.length));
    this.node.title = said.title;
    this.node.setAttribute('aria-label', `Privacy budget: ${said.text}. ${said.title}`);
    this.node.classList.toggle('dpnb-mod-low', said.low);
    this._bar.hidden = said.used === null;
    this._fill.style.width = `${(100 * (said.used ?? 0)).toFixed(1)}%`;
  }

  private readonly _name = document.createElement('span');
  private readonly _text = document.createElement('span');
  private readonly _bar = document.createElement('span');
  private readonly _fill = document.createElement('span');
}
