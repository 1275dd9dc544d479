/** What to do when a plan exceeds the budget, as a list: an act for each, and why. */
import { html, type Part } from '../parts/dom';
import type { Remedy } from './remedies';

/** Draw remedies, each with what makes it so. */
export function remedyList(): Part<[found: readonly Remedy[], act: (one: Remedy) => HTMLElement]> {
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
