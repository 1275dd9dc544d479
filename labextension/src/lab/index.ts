/** The plugins of JupyterLab and Notebook 7. They hold no privacy arithmetic: they ask the kernel, and draw. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { highlight } from './highlight';

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

export default [editor];
