/** What `%%dp` cells wear and offer: colours, price, Plan button, help for columns, and the cell that a Release button leaves. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorExtensionRegistry, IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { INSERT_EVENT, type InsertRequest } from '../../widgets/parts/insert';
import { RELEASE_EVENT, type ReleaseRequest } from '../../widgets/parts/release';
import type { Snapshot } from '../../widgets/parts/session_state';
import { Marks } from '../cells/badges';
import { hoverHelp } from '../cells/hover';
import { icon } from '../views/icon';
import { asPlan, isProtected, marks } from '../cells/magic';
import { runBelow, runReleased, writeBelow } from '../cells/notebooks';
import { ISessions, type Sessions } from '../kernel/sessions';
import { RangeSetBuilder, type Extension } from '@codemirror/state';
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate
} from '@codemirror/view';
import type { CodeCell } from '@jupyterlab/cells';
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

const LINE = Decoration.line({ class: 'dpnb-magic-line' });
const KINDS = {
  magic: Decoration.mark({ class: 'dpnb-magic' }),
  option: Decoration.mark({ class: 'dpnb-option' })
};

function decorate(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const found = marks(view.state.doc.toString());
  if (found !== null) {
    const line = view.state.doc.lineAt(found.line).from;
    builder.add(line, line, LINE);
    for (const mark of found.marks) {
      builder.add(mark.from, mark.to, KINDS[mark.kind]);
    }
  }
  return builder.finish();
}

/** The editor extension; it looks at the text and at nothing else. */
export function highlight(): Extension {
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }
      update(update: ViewUpdate): void {
        if (update.docChanged) {
          this.decorations = decorate(update.view);
        }
      }
    },
    { decorations: plugin => plugin.decorations }
  );
}

const PLAN = 'dpnb:plan-cell';

function addEditors(editors: IEditorExtensionRegistry, tracker: INotebookTracker, sessions: Sessions): void {
  const stateOf = (editor: HTMLElement): Snapshot | null => {
    const client = sessions.of(tracker.find(one => one.node.contains(editor)));
    return client?.link === 'live' ? client.state : null;
  };
  const extensions = { 'dpnb:magic-line': highlight, 'dpnb:column-help': () => hoverHelp(stateOf) };
  for (const [name, instance] of Object.entries(extensions)) {
    editors.addExtension({ name, factory: () => ({ instance, reconfigure: () => null }) });
  }
}

function addPlan(app: JupyterFrontEnd, tracker: INotebookTracker, sessions: Sessions): void {
  const source = (): string => tracker.activeCell?.model.sharedModel.getSource() ?? '';
  app.commands.addCommand(PLAN, {
    label: 'Plan this %%dp cell',
    caption: 'Show what this cell would cost; nothing is spent',
    icon,
    isVisible: args =>
      (sessions.shown.plan || args.toolbar !== true) &&
      tracker.activeCell?.model.type === 'code' &&
      isProtected(source()),
    execute: async () => {
      const notebook = tracker.currentWidget;
      const plan = asPlan(source());
      if (notebook?.sessionContext.session?.kernel != null && plan !== null) {
        await runBelow(notebook, notebook.content.activeCell!.node, plan);
      }
    }
  });
  tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged(PLAN));
}

/** Keep the marks of every notebook's cells. */
function addMarks(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  sessions: Sessions,
  languages: IEditorLanguageRegistry | null
): void {
  const loaded = (language: string): Promise<unknown> =>
    languages?.getLanguage(language) ?? Promise.resolve();
  const marked = new Map<NotebookPanel, Marks>();
  const mark = (notebook: NotebookPanel): void => {
    const client = sessions.of(notebook);
    if (client === null || marked.has(notebook)) {
      return;
    }
    marked.set(notebook, new Marks(notebook, client, () => sessions.shown.price, loaded));
    watchStill(notebook);
    notebook.content.modelContentChanged.connect(() => app.commands.notifyCommandChanged(PLAN));
    notebook.disposed.connect(() => marked.delete(notebook));
  };
  // the sessions' plugin was there first: a notebook has its link before it has its marks
  tracker.widgetAdded.connect((_, notebook) => mark(notebook));
  tracker.forEach(mark);
  sessions.settled.connect(() => {
    marked.forEach(one => one.draw());
    app.commands.notifyCommandChanged(PLAN);
  });
}

/** A Release button in an output or in the side panel, which means the notebook in front: only a person's click on it gets here. */
function hearReleases(tracker: INotebookTracker): void {
  document.addEventListener(RELEASE_EVENT, event => {
    const element = event.target as Element;
    const around = tracker.find(one => one.node.contains(element));
    const notebook = element.closest('#dpnb-panel') === null ? around : tracker.currentWidget;
    if (notebook == null) {
      return;
    }
    event.preventDefault();
    void runReleased(notebook, element, (event as CustomEvent<ReleaseRequest>).detail);
  });
}

/** A question taken from a card in an output: it is written into a cell, and not run. */
function hearQuestions(tracker: INotebookTracker): void {
  document.addEventListener(INSERT_EVENT, event => {
    const element = event.target as Element;
    const notebook = tracker.find(one => one.node.contains(element));
    if (notebook !== undefined) {
      event.preventDefault();
      writeBelow(notebook, element, (event as CustomEvent<InsertRequest>).detail.line);
    }
  });
}

export const cells: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:cells',
  description: 'The price of %%dp cells, their Plan button, and help for columns.',
  autoStart: true,
  requires: [INotebookTracker, ISessions],
  optional: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    sessions: Sessions,
    editors: IEditorExtensionRegistry | null,
    languages: IEditorLanguageRegistry | null
  ) => {
    if (editors !== null) {
      addEditors(editors, tracker, sessions);
    }
    addPlan(app, tracker, sessions);
    addMarks(app, tracker, sessions, languages);
    hearReleases(tracker);
    hearQuestions(tracker);
  }
};
