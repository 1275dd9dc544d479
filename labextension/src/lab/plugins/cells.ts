/** What `%%dp` cells wear and offer: colours, price, Plan button, help for columns, and the cell that a Release button leaves. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { INSERT_EVENT, type InsertRequest } from '../../widgets/parts/insert';
import { RELEASE_EVENT, type ReleaseRequest } from '../../widgets/parts/release';
import type { Snapshot } from '../../widgets/parts/session_state';
import { Marks } from '../cells/badges';
import { highlight } from '../cells/highlight';
import { hoverHelp } from '../cells/hover';
import { icon } from '../views/icon';
import { asPlan, isProtected } from '../cells/magic';
import { runBelow, runReleased, writeBelow } from '../cells/notebooks';
import { watchStill } from '../views/still_form';
import { ISessions, type Sessions } from '../kernel/sessions';

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
function addMarks(app: JupyterFrontEnd, tracker: INotebookTracker, sessions: Sessions): void {
  const marked = new Map<NotebookPanel, Marks>();
  const mark = (notebook: NotebookPanel): void => {
    const client = sessions.of(notebook);
    if (client === null || marked.has(notebook)) {
      return;
    }
    marked.set(notebook, new Marks(notebook, client, () => sessions.shown.price));
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
  optional: [IEditorExtensionRegistry],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    sessions: Sessions,
    editors: IEditorExtensionRegistry | null
  ) => {
    if (editors !== null) {
      addEditors(editors, tracker, sessions);
    }
    addPlan(app, tracker, sessions);
    addMarks(app, tracker, sessions);
    hearReleases(tracker);
    hearQuestions(tracker);
  }
};
