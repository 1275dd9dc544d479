/**
 * Registers the interactions. Nothing of JupyterLab is loaded here, so that Voilà loads it too; and where no widget manager is
 * installed, the outputs keep their still form.
 */
import { IJupyterWidgetRegistry } from '@jupyter-widgets/base';
import { MODULE, VERSION } from './name';
import { closePrototype } from './prototype';

const plugin = {
  id: 'dpnb-widgets:classes',
  description: 'The interactions of dpnb: fixed code and a closed table of kinds.',
  autoStart: true,
  optional: [IJupyterWidgetRegistry],
  activate: (_app: unknown, registry: IJupyterWidgetRegistry | null): void => {
    closePrototype(); // before any notebook's state is read
    registry?.registerWidget({ name: MODULE, version: VERSION, exports: () => import('./classes') });
  }
};

export default plugin;
