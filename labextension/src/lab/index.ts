/** The plugins of JupyterLab and Notebook 7. They hold no privacy arithmetic: they ask the kernel, and draw. */
import { cards } from './plugins/cards';
import { cells } from './plugins/cells';
import { session } from './plugins/session';
import { start } from './plugins/start';

export default [session, cells, cards, start];
