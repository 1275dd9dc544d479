/** JupyterLab's side panel: the session of the notebook in front. */
import { Widget } from '@lumino/widgets';
import { session, type Actions } from '../../widgets/panel/session';
import type { Client } from '../kernel/client';

export class SessionPanel extends Widget {
  constructor(private readonly _actions: Actions) {
    super();
    this.id = 'dpnb-panel';
    this.title.caption = 'Privacy budget';
    this.addClass('dpnb-Panel');
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Privacy budget');
    this.show_(null);
  }

  /** Draw what a client says; null where no notebook is in front. */
  show_(client: Client | null): void {
    const root = this._rootOf(client);
    if (root.parentElement !== this.node) {
      this.node.replaceChildren(root);
    }
    session(root, client?.link ?? 'no notebook', client?.state ?? null, this._actions);
  }

  /** Each notebook has a view of its own: what was typed or unfolded is there when it comes to the front again. */
  private _rootOf(client: Client | null): HTMLElement {
    const known = this._roots.get(client ?? this);
    if (known !== undefined) {
      return known;
    }
    const made = document.createElement('div');
    made.className = 'dpnb-w';
    made.dataset.lmSuppressShortcuts = 'true';
    this._roots.set(client ?? this, made);
    return made;
  }

  private readonly _roots = new WeakMap<object, HTMLElement>();
}
