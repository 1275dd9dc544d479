/** Why intervals miss: one small drawing of each method at a time, chosen by a row of buttons. */
import { significant } from '../../maths/digits';
import { bars, errors, scores } from './histograms';
import { parted } from './partition';
import { html, set } from '../parts/dom';
import type { CoverageFacts, StudyFacts } from './facts';

const WHY = ['standard errors', 'z-scores', 'releases', 'one resample'] as const;

export interface Why {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts, facts: CoverageFacts) => void;
}

/** Why intervals miss: their standard errors with a spike at zero, z-scores, what was released, and a resample parted. */
export function why(): Why {
  let chosen: (typeof WHY)[number] = 'standard errors';
  let [last, shown]: [StudyFacts | null, string] = [null, ''];
  let now: CoverageFacts | null = null;
  const places = html('div', { class: 'stacks' });
  const words = html('p', { class: 'soft say' });
  const which = html('input', { type: 'range', min: 1, max: 24, value: 1, 'aria-label': 'which resample' });
  const tabs = WHY.map(name => {
    const tab = html('button', { type: 'button', 'aria-pressed': 'false' }, name);
    tab.addEventListener('click', () => {
      chosen = name;
      draw();
    });
    return { name, tab };
  });
  which.addEventListener('input', () => draw());
  const draw = (): void => {
    const run = now?.run ?? null;
    if (run === null || now === null) {
      return;
    }
    const parts = now.partition;
    if (chosen === 'one resample' && parts === null) {
      chosen = 'standard errors';
    }
    for (const { name, tab } of tabs) {
      set(tab, { 'aria-pressed': String(name === chosen), class: name === chosen ? 'strong' : null });
      tab.hidden = name === 'one resample' && parts === null;
    }
    const names = now.shown.filter(name => run.methods[name] !== undefined);
    which.hidden = chosen !== 'one resample';
    places.className = chosen === 'one resample' ? '' : 'stacks';
    if (chosen === 'one resample' && parts !== null) {
      which.max = String(parts.counts.length);
      const at = Math.min(Number(which.value), parts.counts.length);
      set(which, { 'aria-valuetext': `resample ${at} of ${parts.k}` });
      words.textContent = `Resample ${at} of ${parts.k}. Dashed: what is expected.`;
      places.replaceChildren(parted(parts, at - 1));
    } else if (chosen === 'releases') {
      words.textContent = 'What the studies answered: sampling and noise together.';
      places.replaceChildren(
        ...Object.entries(run.releases).map(([name, found]) =>
          bars(name, '', found.shares, [
            significant(found.low, 3),
            significant(found.low + found.step * found.shares.length, 3)
          ])
        )
      );
    } else {
      words.textContent =
        chosen === 'z-scores'
          ? 'How far off, in standard errors. Dashed: what a normal law would do; the ends hold what lies beyond.'
          : 'Half a width over the normal quantile. A spike at zero is a certain miss: the noise was taken for all the spread.';
      places.replaceChildren(
        ...names.map(name => (chosen === 'z-scores' ? scores(run, name) : errors(run, name)))
      );
    }
  };
  return {
    node: html(
      'section',
      {},
      html('h4', { class: 'say' }, 'Why?'),
      html(
        'div',
        { class: 'buttons', role: 'group', 'aria-label': 'what to look at' },
        ...tabs.map(one => one.tab)
      ),
      which,
      words,
      places
    ),
    show: (run, facts) => {
      now = facts;
      const names = facts.shown.join();
      if (run !== last || names !== shown) {
        [last, shown] = [run, names];
        draw();
      }
    }
  };
}
