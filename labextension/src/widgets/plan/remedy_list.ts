/** What to do when a plan exceeds the budget, as a list: an act for each, and why. */
import { html } from '../parts/dom';
import type { Remedy } from './remedies';

/** Draw remedies, each with what makes it so. */
export function remedyList(): {
  node: HTMLElement;
  show: (found: readonly Remedy[], act: (one: Remedy) => HTMLElement) => void;
} {
  const node = html('ul', { class: 'ways' });
  let offered = '';
  return {
    node,
    show: (found, act) => {
      const key = JSON.stringify(found);
      if (key === offered) {
        return; // a button under the pointer stays
      }
      offered = key;
      node.replaceChildren(
        ...found.map(one => html('li', {}, act(one), html('span', { class: 'soft' }, one.why)))
      );
    }
  };
}
