/** The plugins of JupyterLab and Notebook 7. They hold no privacy arithmetic: they ask the kernel, and draw. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { LabIcon } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import { RELEASE_EVENT, type ReleaseRequest } from '../widgets/parts/release';
import { methodsOf } from '../widgets/parts/session';
import type { Snapshot } from '../widgets/parts/state';
import { Marks } from './cells';
import { Client } from './client';
import { Gauge } from './gauge';
import { highlight } from './highlight';
import { hoverHelp } from './hover';
import { asPlan, isProtected } from './magic';
import { SessionPanel } from './panel';
import { watchStill } from './saved';
import { shown } from './settings';

const CATEGORY = 'Differential privacy';
const icon = new LabIcon({
  name: 'dpnb:icon',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">' +
    '<path d="M12 2 4 5v6c0 5 3.4 9.7 8 11 4.600-1.300 8-6 8-11V5zm0 2.100 6 2.300V11c0 4-2.500 7.600-6 8.900C8.500 18.600 6 15 6 11V6.400z"/>' +
    '<path d="M8 16c1.600 0 2-7 4-7s2.400 7 4 7z"/></g></svg>'
});

const editor: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:editor',
  description: 'Colours the magic line of %%dp cells.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app: JupyterFrontEnd, editors: IEditorExtensionRegistry) => {
    editors.addExtension({
      name: 'dpnb:magic-line',
      factory: () => ({ instance: () => highlight(), reconfigure: () => null })
    });
  }
};

/** Put a cell below the one that holds an element, and run it: what a Release button asks for. */
async function runBelow(panel: NotebookPanel, element: Element, source: string): Promise<void> {
  const place = panel.content.widgets.findIndex(cell => cell.node.contains(element));
  if (place >= 0) {
    panel.content.activeCellIndex = place;
  }
  NotebookActions.insertBelow(panel.content);
  panel.content.activeCell?.model.sharedModel.setSource(source);
  await NotebookActions.run(panel.content, panel.sessionContext);
}

function insertText(panel: NotebookPanel | null, text: string): void {
  const cell = panel?.content.activeCell;
  if (cell?.editor == null || cell.model.type !== 'code') {
    return;
  }
  cell.editor.replaceSelection?.(text);
  cell.editor.focus();
}

const session: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:session',
  description: 'The privacy budget in the status bar and in a side panel, and the price of %%dp cells.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IStatusBar, ICommandPalette, ILauncher, IEditorExtensionRegistry, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    status: IStatusBar | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    editors: IEditorExtensionRegistry | null,
    registry: ISettingRegistry | null
  ) => {
    const clients = new Map<NotebookPanel, Client>();
    const marked = new Map<NotebookPanel, Marks>();
    let wanted = shown({});
    const gaugeWanted = new Signal<object, void>({});
    const panel = new SessionPanel({
      insert: text => insertText(tracker.currentWidget, text),
      methods: async dataset => {
        const client = tracker.currentWidget === null ? undefined : clients.get(tracker.currentWidget);
        return methodsOf((await client?.ask({ ask: 'methods', dataset })) ?? null);
      }
    });
    panel.title.icon = icon;
    app.shell.add(panel, 'right', { rank: 650 });
    const gauge = new Gauge(() => void app.commands.execute('dpnb:open-panel'));
    status?.registerStatusItem('dpnb:gauge', {
      item: gauge,
      align: 'left',
      rank: 20,
      isActive: () => wanted.gauge,
      activeStateChanged: gaugeWanted
    });

    const stateOf = (editor: HTMLElement): Snapshot | null => {
      const notebook = tracker.find(one => one.node.contains(editor));
      const client = notebook === undefined ? undefined : clients.get(notebook);
      return client?.link === 'live' ? client.state : null;
    };
    editors?.addExtension({
      name: 'dpnb:column-help',
      factory: () => ({ instance: () => hoverHelp(stateOf), reconfigure: () => null })
    });

    const draw = (): void => {
      const client = tracker.currentWidget === null ? undefined : clients.get(tracker.currentWidget);
      gauge.show_(client ?? null);
      panel.show_(client ?? null);
    };
    tracker.widgetAdded.connect((_, notebook) => {
      const client = new Client(notebook.sessionContext);
      clients.set(notebook, client);
      client.changed.connect(draw);
      marked.set(notebook, new Marks(notebook, client, () => wanted.price));
      watchStill(notebook);
      notebook.content.modelContentChanged.connect(() => app.commands.notifyCommandChanged('dpnb:plan-cell'));
      notebook.disposed.connect(() => {
        clients.delete(notebook);
        marked.delete(notebook);
        client.dispose();
        draw();
      });
      draw();
    });
    tracker.currentChanged.connect(draw);
    tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged('dpnb:plan-cell'));

    const source = (): string => tracker.activeCell?.model.sharedModel.getSource() ?? '';
    app.commands.addCommand('dpnb:open-panel', {
      label: 'Open the privacy panel',
      icon,
      execute: () => app.shell.activateById(panel.id)
    });
    app.commands.addCommand('dpnb:plan-cell', {
      label: 'Plan this %%dp cell',
      caption: 'Show what this cell would cost; nothing is spent',
      icon,
      isVisible: args =>
        (wanted.plan || args.toolbar !== true) &&
        tracker.activeCell?.model.type === 'code' &&
        isProtected(source()),
      execute: async () => {
        const notebook = tracker.currentWidget;
        const kernel = notebook?.sessionContext.session?.kernel;
        const plan = asPlan(source());
        if (notebook == null || kernel == null || plan === null) {
          return;
        }
        await runBelow(notebook, notebook.content.activeCell!.node, plan);
      }
    });
    app.commands.addCommand('dpnb:new-notebook', {
      label: args => (args.isLauncher === true ? 'Private notebook' : 'New guided notebook'),
      caption: 'A notebook that opens a study and asks a first question with differential privacy',
      icon,
      execute: async args => {
        const model = (await app.commands.execute('docmanager:new-untitled', {
          path: typeof args.cwd === 'string' ? args.cwd : '',
          type: 'notebook'
        })) as { path: string };
        await app.commands.execute('docmanager:open', {
          path: model.path,
          factory: 'Notebook',
          kernel: { name: 'python3' }
        });
        const notebook = tracker.currentWidget;
        if (notebook === null) {
          return;
        }
        await notebook.context.ready;
        const cells = [
          '%load_ext dpnb\nimport dpnb\n\nhiv = dpnb.open("hiv")',
          '%%dp plan epsilon=0.5\ncollected = hiv.got.mean()'
        ];
        notebook.content.model?.sharedModel.insertCells(
          0,
          cells.map(text => ({ cell_type: 'code', source: text }))
        );
        notebook.content.activeCellIndex = 0;
      }
    });
    for (const command of ['dpnb:open-panel', 'dpnb:plan-cell', 'dpnb:new-notebook']) {
      palette?.addItem({ command, category: CATEGORY });
    }
    launcher?.add({
      command: 'dpnb:new-notebook',
      category: 'Notebook',
      args: { isLauncher: true },
      rank: 50
    });

    // read now, and again whenever somebody changes them
    void registry?.load(session.id).then(settings => {
      const read = (): void => {
        wanted = shown(settings.composite);
        gaugeWanted.emit();
        marked.forEach(one => one.draw());
        app.commands.notifyCommandChanged('dpnb:plan-cell');
      };
      settings.changed.connect(read);
      read();
    });

    // a Release button in an output: only a person's click on it gets here
    document.addEventListener(RELEASE_EVENT, event => {
      const element = event.target as Element;
      const notebook = tracker.find(one => one.node.contains(element));
      if (notebook === undefined) {
        return;
      }
      event.preventDefault();
      const { source: text } = (event as CustomEvent<ReleaseRequest>).detail;
      void runBelow(notebook, element, text);
    });
  }
};

export default [editor, session];
