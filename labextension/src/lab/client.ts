/** One notebook's link to its kernel. State is pushed by the kernel; a question is a comm of its own. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';
import { isSnapshot, newer, type Link, type Snapshot } from '../widgets/parts/state';

export const TARGET = 'dpnb.session';
export const ANNOUNCE = 'dpnb.announce';

interface Subshelled {
  subshellStarted?: Promise<void>;
  commsOverSubshells?: unknown;
}

/**
 * Settles when the comm's subshell exists, or at once where there are none. `subshellStarted` is on JupyterLab's class and
 * not on its interface, and never settles without support: hence the guard and the race.
 */
async function subshell(kernel: Kernel.IKernelConnection, comm: Kernel.IComm): Promise<void> {
  const one = comm as Kernel.IComm & Subshelled;
  await kernel.info;
  if (
    kernel.supportsSubshells &&
    String(one.commsOverSubshells) !== 'disabled' &&
    one.subshellStarted !== undefined
  ) {
    await Promise.race([
      one.subshellStarted.catch(() => undefined),
      new Promise(done => setTimeout(done, 1000))
    ]);
  }
}

export class Client implements IDisposable {
  constructor(context: ISessionContext) {
    context.kernelChanged.connect(this._kernelChanged, this);
    context.statusChanged.connect(this._statusChanged, this);
    context.disposed.connect(this.dispose, this);
    this._attach(context.session?.kernel ?? null);
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
    this._drop();
    Signal.clearData(this);
  }

  /** One question, one comm: it is answered while a cell runs. Null where no answer came in time. */
  async ask(data: JSONObject, timeout = 5000): Promise<JSONObject | null> {
    const kernel = this._kernel;
    if (kernel === null || kernel.isDisposed || this._link !== 'live') {
      return null;
    }
    const comm = kernel.createComm(TARGET);
    await subshell(kernel, comm);
    return new Promise(resolve => {
      const finish = (value: JSONObject | null): void => {
        clearTimeout(timer);
        comm.onMsg = () => undefined;
        comm.onClose = () => undefined;
        if (!comm.isDisposed) {
          comm.close();
        }
        resolve(value);
      };
      const timer = setTimeout(() => finish(null), timeout);
      comm.onMsg = message => finish(message.content.data);
      comm.onClose = () => finish(null);
      comm.open(data);
    });
  }

  private _kernelChanged(_: ISessionContext, change: { newValue: Kernel.IKernelConnection | null }): void {
    this._attach(change.newValue);
  }

  private _statusChanged(_: ISessionContext, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting') {
      this._restarting = true;
      this._forget('restarted');
    } else if (status === 'dead') {
      this._forget('no kernel');
    } else if (this._restarting && status === 'idle') {
      this._restarting = false;
      this._open('restarted');
    }
  }

  private _attach(kernel: Kernel.IKernelConnection | null): void {
    this._kernel = kernel;
    this._forget(kernel === null ? 'no kernel' : 'connecting');
    if (kernel === null) {
      return;
    }
    kernel.registerCommTarget(ANNOUNCE, comm => {
      comm.close();
      this._open('not loaded');
    });
    this._open('not loaded');
  }

  /** Open the long-lived comm; `otherwise` is the state where the kernel knows no dpnb. */
  private _open(otherwise: Link): void {
    const kernel = this._kernel;
    if (kernel === null || kernel.isDisposed || !kernel.handleComms) {
      return;
    }
    this._drop();
    const comm = kernel.createComm(TARGET);
    this._comm = comm;
    if (this._link !== 'restarted') {
      this._show('connecting');
    }
    comm.onMsg = message => {
      const { state } = message.content.data;
      if (isSnapshot(state)) {
        this._state = newer(this._state, state);
        this._show('live');
      }
    };
    // a kernel that does not know the target answers comm_open with comm_close
    comm.onClose = () => {
      if (this._comm === comm) {
        this._comm = null;
        this._state = null;
        this._show(otherwise);
      }
    };
    // opened before its subshell exists, a comm sticks to the main shell, which may be busy
    void subshell(kernel, comm).then(() => {
      if (this._comm === comm && !comm.isDisposed) {
        comm.open({ protocol: 1 });
      }
    });
  }

  private _forget(link: Link): void {
    this._drop();
    this._state = null;
    this._show(link);
  }

  private _drop(): void {
    const comm = this._comm;
    this._comm = null;
    if (comm !== null && !comm.isDisposed) {
      comm.onClose = () => undefined;
      if (this._kernel !== null && !this._kernel.isDisposed && this._kernel.status !== 'dead') {
        comm.close();
      }
    }
  }

  private _show(link: Link): void {
    this._link = link;
    this._changed.emit(undefined);
  }

  private readonly _changed = new Signal<this, undefined>(this);
  private _kernel: Kernel.IKernelConnection | null = null;
  private _comm: Kernel.IComm | null = null;
  private _state: Snapshot | null = null;
  private _link: Link = 'no kernel';
  private _restarting = false;
  private _disposed = false;
}
