/**
 * Registers the interactions. Nothing of JupyterLab is loaded here, so that Voilà loads it too; and where no widget manager is
 * installed, the outputs keep their still form.
 */
import { IJupyterWidgetRegistry } from '@jupyter-widgets/base';
import { MODULE, VERSION } from './name';

/**
 * The object that all others inherit from, closed against new properties.
 *
 * ipywidgets puts the buffers of saved state where the state says, and looks at no word of it: `["__proto__", "trusted"]` makes
 * every plain object of the page "trusted", and JupyterLab then draws a stranger's Markdown with its scripts. It does so as soon as
 * the notebook has a kernel, and asks nobody. Once nothing can be added there, such a notebook's state is not restored, and its
 * outputs keep their still form. What is there already can be written as before: libraries that name a method `toString` still can.
 */
function closePrototype(): void {
  Object.preventExtensions(Object.prototype);
}

const plugin = {
  id: 'dpnb-widgets:classes',
  description: 'The interactions of dpnb: a closed table of fixed code.',
  autoStart: true,
  optional: [IJupyterWidgetRegistry],
  activate: (_app: unknown, registry: IJupyterWidgetRegistry | null): void => {
    closePrototype(); // before any notebook's state is read
    registry?.registerWidget({ name: MODULE, version: VERSION, exports: () => import('./classes') });
  }
};

export default plugin;
