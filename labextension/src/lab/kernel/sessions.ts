/** The links of the open notebooks to their kernels, and what a person wants to see of them: what the plugins share. */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';
import { Client } from './client';
import { shown, type Shown } from '../plugins/settings';

export class Sessions {
  constructor(private readonly _tracker: INotebookTracker) {
    _tracker.widgetAdded.connect((_, notebook) => this._add(notebook));
    _tracker.currentChanged.connect(() => this._changed.emit());
    _tracker.forEach(notebook => this._add(notebook));
  }

  /** Emitted when another notebook is in front, or what a kernel says has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when the settings were read. */
  get settled(): ISignal<this, void> {
    return this._settled;
  }

  get shown(): Shown {
    return this._shown;
  }

  /** The link of the notebook in front; null where there is none. */
  get front(): Client | null {
    return this.of(this._tracker.currentWidget);
  }

  of(notebook: NotebookPanel | null | undefined): Client | null {
    return notebook == null ? null : (this._clients.get(notebook) ?? null);
  }

  /** Take what the settings say; what they do not say is shown. */
  settle(said: Readonly<Record<string, unknown>>): void {
    this._shown = shown(said);
    this._settled.emit();
  }

  private _add(notebook: NotebookPanel): void {
    if (this._clients.has(notebook)) {
      return;
    }
    const client = new Client(notebook.sessionContext);
    this._clients.set(notebook, client);
    client.changed.connect(() => this._changed.emit());
    notebook.disposed.connect(() => {
      this._clients.delete(notebook);
      client.dispose();
      this._changed.emit();
    });
    this._changed.emit();
  }

  private readonly _clients = new Map<NotebookPanel, Client>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _settled = new Signal<this, void>(this);
  private _shown = shown({});
}

export const ISessions = new Token<Sessions>('dpnb:ISessions', 'The links of notebooks to their kernels.');
