/** The session's panel inside the notebook: the same view as JupyterLab's side panel. */
import { session } from './parts/session';
import type { Snapshot } from './parts/state';
import { widget } from './parts/widget';

export default widget<Snapshot, Record<string, never>>((root, link) => {
  // a page without a kernel offers nothing that needs one
  const actions = link.ask === undefined || link.alive?.() === false ? {} : { ask: link.ask };
  const draw = (): void => session(root, link.alive?.() === false ? 'gone' : 'live', link.facts(), actions);
  draw();
  return { update: draw };
});
