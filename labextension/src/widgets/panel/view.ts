/** The session's panel inside the notebook: the same view as JupyterLab's side panel. */
import { session, type Actions } from './session';
import type { Snapshot } from '../parts/session_state';
import { mount, widget, type Link } from '../parts/widget';

/** What the notebook around can do; a page without a kernel is offered nothing that needs one. */
function actionsOf({ ask, alive }: Link<Snapshot, Record<string, never>>): Actions {
  if (ask === undefined || alive?.() === false) {
    return {};
  }
  return {
    ask,
    board: async facts => mount((await import('../plan/view')).planControls, facts)
  };
}

export default widget<Snapshot, Record<string, never>>((root, link) => {
  const actions = actionsOf(link);
  const draw = (): void => session(root, link.alive?.() === false ? 'gone' : 'live', link.facts(), actions);
  draw();
  return { update: draw, saysStale: true };
});
