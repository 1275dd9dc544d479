/** JupyterLab's side panel: the session of the notebook in front. */
import { Widget } from '@lumino/widgets';
import { session, type Actions } from '../widgets/parts/session';
import type { Client } from './client';

export class SessionPanel extends Widget {
  constructor(private readonly _actions: Actions) {
    super();
    this.id = 'dpnb-panel';
    this.title.caption = 'Privacy budget';
    this.addClass('dpnb-Panel');
    this._root.className = 'dpnb-w';
    this._root.dataset.lmSuppressShortcuts = 'true';
    this.node.append(this._root);
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Privacy budget');
    this.show_(null);
  }

  /** Draw what a client says; null where no notebook is in front. */
  show_(client: Client | null): void {
    session(this._root, client?.link ?? 'no notebook', client?.state ?? null, this._actions);
  }

  private readonly _root = document.createElement('div');
}
