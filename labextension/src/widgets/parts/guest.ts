/** Another interaction's module as a guest in this one: its text comes from the kernel, and it is run as the notebook runs it. */
import { html } from './dom';
import type { Answer, Mounted } from './widget';

interface Module {
  readonly default: { readonly render: (props: { model: unknown; el: HTMLElement }) => unknown };
}

/** The text of a module, as the kernel answered; null where it gave none. */
export function textOf(answer: Answer | null): string | null {
  return typeof answer?.module === 'string' && answer.module !== '' ? answer.module : null;
}

/** Load a module from its text. */
async function load(text: string): Promise<Module> {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  try {
    return (await import(address)) as Module;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Show a module on facts of its own, without a model in the kernel. */
export async function guest<Facts>(text: string, facts: Facts): Promise<Mounted<Facts>> {
  const node = html('div', {});
  const kept: Record<string, unknown> = { facts, chosen: {} };
  const heard = new Map<string, (() => void)[]>();
  const model = {
    get: (name: string) => kept[name],
    set: (name: string, value: unknown) => {
      kept[name] = value;
      heard.get(`change:${name}`)?.forEach(call => call());
    },
    on: (name: string, call: () => void) => heard.set(name, [...(heard.get(name) ?? []), call]),
    off: () => undefined,
    save_changes: () => undefined
  };
  const module = await load(text);
  const dispose = module.default.render({ model, el: node });
  return {
    node,
    show: newer => model.set('facts', newer),
    dispose: () => (typeof dispose === 'function' ? (dispose as () => void)() : undefined)
  };
}
