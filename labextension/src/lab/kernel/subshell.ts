/**
 * Messages to a kernel, over a subshell of our own where the kernel has them, so that they are answered while a cell runs.
 *
 * JupyterLab gives each comm target a subshell too, but only once its kernel_info was answered, which a running cell delays:
 * after a reload of the page nothing would be known until the cell ends. Here the control channel is asked, which never waits.
 */
import { KernelMessage, type Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

type Connection = Kernel.IKernelConnection;

/** A message with a deadline: what does not come, or cannot be sent, is null. Nothing is thrown into the page. */
async function within<T>(coming: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer = 0;
  const late = new Promise<null>(resolve => {
    timer = window.setTimeout(() => resolve(null), milliseconds);
  });
  try {
    return await Promise.race([coming, late]);
  } catch {
    return null; // the kernel was restarted or ended meanwhile
  } finally {
    clearTimeout(timer);
  }
}

function message(
  kernel: Connection,
  channel: 'shell' | 'control',
  msgType: string,
  content: JSONObject,
  shell: string | null
): never {
  const made = KernelMessage.createMessage({
    msgType,
    channel,
    username: kernel.username,
    session: kernel.clientId,
    content
  } as unknown as Parameters<typeof KernelMessage.createMessage>[0]);
  return (shell === null
    ? made
    : { ...made, header: { ...made.header, subshell_id: shell } }) as unknown as never;
}

async function control(
  kernel: Connection,
  msgType: string,
  content: JSONObject,
  wait: number
): Promise<JSONObject | null> {
  try {
    const future = kernel.sendControlMessage(message(kernel, 'control', msgType, content, null), true);
    const reply = await within(future.done, wait);
    return (reply?.content as unknown as JSONObject | undefined) ?? null;
  } catch {
    return null;
  }
}

/** Where a kernel may be spoken to while a cell runs. */
export class Subshell {
  constructor(private readonly _kernel: Connection) {
    this._shell = this._make();
  }

  /** Whether a question is answered while a cell runs; settles when that is known. */
  async concurrent(): Promise<boolean> {
    return (await this._shell) !== null;
  }

  /** Whether the kernel holds a comm of a target: it is listed, so that a kernel without it is not made to complain. */
  async holds(target: string): Promise<boolean> {
    const shell = await this._shell;
    const asked = message(this._kernel, 'shell', 'comm_info_request', { target_name: target }, shell);
    try {
      const reply = await this._kernel.sendShellMessage(asked, true).done;
      const { comms } = reply.content as unknown as { comms?: JSONObject };
      return Object.keys(comms ?? {}).length > 0;
    } catch {
      return false;
    }
  }

  /** Open a comm that was made without JupyterLab's own subshell. */
  async open(comm: Kernel.IComm, data: JSONObject): Promise<void> {
    const shell = await this._shell;
    if (!comm.isDisposed) {
      this._send('comm_open', { comm_id: comm.commId, target_name: comm.targetName, data }, shell);
    }
  }

  /** Close a comm on the other side. */
  async close(comm: string): Promise<void> {
    this._send('comm_close', { comm_id: comm, data: {} }, await this._shell);
  }

  /** One question as the first message of a comm of its own. Null where no answer came in time. */
  async ask(target: string, data: JSONObject, wait: number): Promise<JSONObject | null> {
    const shell = await this._shell;
    const id = crypto.randomUUID();
    const answered = new Promise<JSONObject | null>(resolve => {
      const content = { comm_id: id, target_name: target, data };
      const future = this._send('comm_open', content, shell, said => {
        const found = said.content as { comm_id?: string; data?: JSONObject };
        if (said.header.msg_type === 'comm_msg' && found.comm_id === id) {
          resolve(found.data ?? null);
        }
      });
      void future?.done.then(
        () => resolve(null),
        () => resolve(null)
      );
      if (future === null) {
        resolve(null);
      }
    });
    const found = await within(answered, wait);
    this._send('comm_close', { comm_id: id, data: {} }, shell);
    return found;
  }

  /** End the subshell. */
  dispose(): void {
    void this._shell.then(shell => {
      if (shell !== null && this._reached()) {
        void control(this._kernel, 'delete_subshell_request', { subshell_id: shell }, 1000);
      }
    });
  }

  private async _make(): Promise<string | null> {
    const told = await control(this._kernel, 'kernel_info_request', {}, 5000);
    const features = told?.supported_features;
    if (!Array.isArray(features) || !features.includes('kernel subshells')) {
      return null;
    }
    const made = await control(this._kernel, 'create_subshell_request', {}, 5000);
    return typeof made?.subshell_id === 'string' ? made.subshell_id : null;
  }

  private _reached(): boolean {
    return !this._kernel.isDisposed && this._kernel.status !== 'dead';
  }

  /** Send, and hear what is published in reply; null where it cannot be sent. */
  private _send(
    msgType: string,
    content: JSONObject,
    shell: string | null,
    heard?: (said: KernelMessage.IIOPubMessage) => void
  ): Kernel.IShellFuture | null {
    if (!this._reached()) {
      return null;
    }
    try {
      const future = this._kernel.sendShellMessage(message(this._kernel, 'shell', msgType, content, shell));
      if (heard !== undefined) {
        future.onIOPub = heard;
      }
      return future;
    } catch {
      return null;
    }
  }

  private readonly _shell: Promise<string | null>;
}
