/** Where to begin: a tile in the launcher, and a section of the command palette. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { icon } from '../views/icon';
import { freshNotebook, gallery, GUIDED } from './first_notebook';

const CATEGORY = 'Differential privacy';
const PALETTE = ['dpnb:open-panel', 'dpnb:new-notebook', 'dpnb:open-gallery', 'dpnb:plan-cell'];

export const start: JupyterFrontEndPlugin<void> = {
  id: 'dpnb:start',
  description: 'A launcher tile and a palette section: open the panel, a guided notebook, the gallery.',
  autoStart: true,
  optional: [ICommandPalette, ILauncher, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    tracker: INotebookTracker | null
  ) => {
    const open = async (cwd: unknown, name: string, content: unknown): Promise<void> => {
      const beside = tracker?.currentWidget?.context.path.replace(/[^/]*$/, '').replace(/\/$/, '');
      const folder = typeof cwd === 'string' ? cwd : (beside ?? '');
      const path = await freshNotebook(app.serviceManager.contents, folder, name, content);
      await app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
    };
    app.commands.addCommand('dpnb:new-notebook', {
      label: args => (args.isLauncher === true ? 'Private notebook' : 'New guided notebook'),
      caption: 'A notebook that opens a study and leads to a first question with differential privacy',
      icon,
      execute: args => open(args.cwd, 'Private notebook', GUIDED)
    });
    app.commands.addCommand('dpnb:open-gallery', {
      label: 'Open gallery',
      caption: 'A copy of the notebook in which every ε can be dragged',
      icon,
      execute: async args => open(args.cwd, 'Privacy gallery', await gallery())
    });
    for (const command of PALETTE) {
      palette?.addItem({ command, category: CATEGORY });
    }
    launcher?.add({
      command: 'dpnb:new-notebook',
      category: 'Notebook',
      args: { isLauncher: true },
      rank: 50
    });
  }
};
