/** One notebook's link to its kernel. State is pushed by the kernel; a question is a comm of its own. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';
import {
  isSnapshot,
  newer,
  PROTOCOL,
  speaks,
  type Link,
  type Snapshot
} from '../../widgets/parts/session_state';
import { Subshell } from './subshell';

const TARGET = 'dpnb.session';
const ANNOUNCE = 'dpnb.announce';

type Connection = Kernel.IKernelConnection;

/** How long a kernel that answers between cells only may be silent before that is said. */
const PATIENCE = 700;

/** How long a notebook may be without a kernel before that is said. */
const CHOOSING = 1000;

/** A comm that JupyterLab gives no subshell: ours are our own. */
function comm(kernel: Connection): Kernel.IComm {
  const made = kernel.createComm(TARGET);
  if ('commsOverSubshells' in made) {
    (made as { commsOverSubshells: string }).commsOverSubshells = 'disabled';
  }
  return made;
}

export class Client implements IDisposable {
  constructor(context: ISessionContext) {
    context.kernelChanged.connect(this._kernelChanged, this);
    context.statusChanged.connect(this._statusChanged, this);
    context.disposed.connect(this.dispose, this);
    this._attach(context.session?.kernel ?? null);
    // a notebook that was opened without a kernel, or while it is still looking for its own
    void context.ready.then(
      () => this._settle(),
      () => this._settle()
    );
    // and one for which somebody is asked to choose a kernel, or has chosen none: that is never ready
    setTimeout(() => this._settle(), CHOOSING);
  }

  /** Emitted when what is to be shown has changed. */
  get changed(): ISignal<this, undefined> {
    return this._changed;
  }

  get link(): Link {
    return this._link;
  }

  get state(): Snapshot | null {
    return this._state;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (this._disposed) {
      return;
    }
    this._disposed = true;
    this._leave();
    Signal.clearData(this);
  }

  /** One question, one comm: it is answered while a cell runs. Null where no answer came in time. */
  async ask(data: JSONObject, timeout = 5000): Promise<JSONObject | null> {
    return this._link === 'live' ? ((await this._subshell?.ask(TARGET, data, timeout)) ?? null) : null;
  }

  private _kernelChanged(_: ISessionContext, { newValue }: { newValue: Connection | null }): void {
    if (newValue === null || newValue !== this._kernel) {
      this._leave();
      this._otherwise = 'not loaded';
      this._attach(newValue);
    } else if (this._restarting && newValue.connectionStatus === 'connected') {
      // told after every restart: this one failed, for the connection was never made anew
      this._otherwise = 'not loaded';
      this._reached();
    }
  }

  private _statusChanged(_: ISessionContext, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting') {
      this._restarting = true;
      this._otherwise = 'restarted';
      this._forget('restarted');
    } else if (status === 'dead') {
      this._forget('no kernel');
    }
  }

  private _attach(kernel: Connection | null): void {
    this._kernel = kernel;
    this._settled ||= kernel !== null;
    this._forget(kernel === null && this._settled ? 'no kernel' : 'connecting');
    kernel?.iopubMessage.connect(this._heard, this);
    kernel?.connectionStatusChanged.connect(this._connectionChanged, this);
    if (kernel?.connectionStatus === 'connected') {
      void this._open();
    }
  }

  private _settle(): void {
    this._settled = true;
    if (!this._disposed && this._kernel === null && this._link === 'connecting') {
      this._show('no kernel');
    }
  }

  /** Let go of a kernel. */
  private _leave(): void {
    this._drop();
    this._subshell?.dispose();
    this._subshell = null;
    this._kernel?.iopubMessage.disconnect(this._heard, this);
    this._kernel?.connectionStatusChanged.disconnect(this._connectionChanged, this);
    this._kernel = null;
  }

  private _connectionChanged(_: Connection, status: Kernel.ConnectionStatus): void {
    if (this._link === 'no kernel') {
      return;
    }
    if (status === 'connected') {
      this._reached();
    } else if (status === 'disconnected' || !(this._restarting || this._link === 'connecting')) {
      this._drop();
      this._show('no connection');
    }
  }

  /**
   * There is a connection. A restart is over when its connection is made anew, and not when the kernel is idle: the old one
   * is idle too, when its cell was interrupted; and what was asked of it is answered by nobody.
   */
  private _reached(): void {
    if (this._restarting) {
      this._restarting = false;
      this._subshell = null;
    }
    void this._open();
  }

  /** The kernel says that dpnb was loaded. */
  private _heard(_: Connection, said: KernelMessage.IIOPubMessage): void {
    const { comm_id: id } = said.content as { comm_id?: string };
    if (said.header.msg_type === 'comm_msg' && id === ANNOUNCE && this._comm === null) {
      void this._open();
    }
  }

  /** Open the long-lived comm, where the kernel knows dpnb. */
  private async _open(): Promise<void> {
    const kernel = this._kernel;
    if (kernel === null || kernel.isDisposed || !kernel.handleComms) {
      return;
    }
    this._drop();
    const attempt = ++this._attempt;
    const subshell = (this._subshell ??= new Subshell(kernel));
    if (this._link !== 'restarted') {
      this._show('connecting');
    }
    void subshell.concurrent().then(concurrent => {
      if (!concurrent) {
        setTimeout(() => this._sayBusy(attempt), PATIENCE);
      }
    });
    const loaded = await subshell.holds(TARGET);
    if (attempt !== this._attempt || this._disposed) {
      return;
    }
    if (loaded) {
      await this._listen(kernel, subshell);
    } else {
      this._state = null;
      this._show(this._otherwise);
    }
  }

  /** A kernel without subshells answers when its cell has ended: that is said, not hidden. */
  private _sayBusy(attempt: number): void {
    if (attempt === this._attempt && this._link === 'connecting' && this._kernel?.status === 'busy') {
      this._show('busy');
    }
  }

  private async _listen(kernel: Connection, subshell: Subshell): Promise<void> {
    const made = comm(kernel);
    this._comm = made;
    made.onMsg = said => this._told(said.content.data.state);
    made.onClose = () => {
      if (this._comm === made) {
        this._comm = null;
        this._state = null;
        this._show(this._otherwise);
      }
    };
    await subshell.open(made, { protocol: PROTOCOL });
  }

  private _told(state: unknown): void {
    this._otherwise = 'not loaded';
    if (!speaks(state)) {
      this._state = state as Snapshot;
      this._show('versions differ');
    } else if (isSnapshot(state)) {
      this._state = newer(this._state, state);
      this._show('live');
    }
  }

  private _forget(link: Link): void {
    this._attempt++;
    this._drop();
    this._state = null;
    this._show(link);
  }

  private _drop(): void {
    const old = this._comm;
    this._comm = null;
    if (old !== null && !old.isDisposed) {
      old.onClose = () => undefined;
      void this._subshell?.close(old.commId);
      old.dispose();
    }
  }

  private _show(link: Link): void {
    this._link = link;
    this._changed.emit(undefined);
  }

  private readonly _changed = new Signal<this, undefined>(this);
  private _kernel: Connection | null = null;
  private _subshell: Subshell | null = null;
  private _comm: Kernel.IComm | null = null;
  private _state: Snapshot | null = null;
  private _link: Link = 'no kernel';
  /** What a kernel that knows no dpnb is said to be: restarted, until it was attached again. */
  private _otherwise: Link = 'not loaded';
  private _attempt = 0;
  private _restarting = false;
  private _settled = false;
  private _disposed = false;
}
