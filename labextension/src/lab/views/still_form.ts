/** A saved interaction without its kernel: JupyterLab knows no model for it, so its still form is shown in its place. */
import type { CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { MimeModel } from '@jupyterlab/rendermime';

const RECORD = /^application\/vnd\.dpnb\.[a-z]+\+json$/;
const LOST = 'Error displaying widget';

/** Whether an output is one of ours that has both forms. */
export function isInteraction(data: Readonly<Record<string, unknown>>): boolean {
  return (
    'application/vnd.jupyter.widget-view+json' in data &&
    'text/html' in data &&
    Object.keys(data).some(type => RECORD.test(type))
  );
}

/** Show the still form of every interaction of a notebook whose model is lost. */
export async function showStill(panel: NotebookPanel): Promise<void> {
  for (const cell of panel.content.widgets) {
    if (cell.model.type !== 'code') {
      continue;
    }
    const { outputs } = (cell as CodeCell).model;
    const nodes = cell.node.querySelectorAll<HTMLElement>('.jp-OutputArea-output');
    for (let i = 0; i < Math.min(outputs.length, nodes.length); i++) {
      const output = outputs.get(i);
      const node = nodes[i]!;
      if (!isInteraction(output.data) || !node.textContent.startsWith(LOST)) {
        continue;
      }
      const renderer = panel.content.rendermime.createRenderer('text/html');
      await renderer.renderModel(new MimeModel({ data: output.data, trusted: output.trusted }));
      node.replaceChildren(renderer.node);
    }
  }
}

/** Look again for a while after a notebook was opened: models are restored step by step. */
export function watchStill(panel: NotebookPanel): void {
  void panel.context.ready
    .then(() => panel.sessionContext.ready)
    .then(() => {
      for (const wait of [500, 1500, 4000, 10_000]) {
        setTimeout(() => {
          if (!panel.isDisposed) {
            void showStill(panel);
          }
        }, wait);
      }
    });
}
