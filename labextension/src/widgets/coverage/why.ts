/** Why intervals miss: one small drawing of each method at a time, chosen by a row of buttons. */
import { significant } from '../../maths/digits';
import { bars, errors, scores } from './histograms';
import { parted } from './partition';
import { button, html, set } from '../parts/dom';
import type { CoverageFacts, Partition, StudyFacts } from './facts';

/** What can be looked at, and what is said of it. */
const WORDS = {
  'standard errors':
    'Half a width over the normal quantile. A spike at zero is a certain miss: the noise was taken for all the spread.',
  'z-scores':
    'How far off, in standard errors. Dashed: what a normal law would do; the ends hold what lies beyond.',
  releases: 'What the studies answered: sampling and noise together.',
  'one resample': ''
} as const;
type Look = keyof typeof WORDS;

export interface Why {
  readonly node: HTMLElement;
  readonly show: (run: StudyFacts, facts: CoverageFacts) => void;
}

/** The answers of the studies, a histogram for each number that was released. */
function releases({ releases: found }: StudyFacts): HTMLElement[] {
  return Object.entries(found).map(([name, { low, step, shares }]) =>
    bars(name, '', shares, [significant(low, 3), significant(low + step * shares.length, 3)])
  );
}

/** The drawings of a look. */
function drawings(chosen: Look, run: StudyFacts, shown: readonly string[]): HTMLElement[] {
  if (chosen === 'releases') {
    return releases(run);
  }
  const draw = chosen === 'z-scores' ? scores : errors;
  return shown.filter(name => run.methods[name] !== undefined).map(name => draw(run, name));
}

/** The buttons that choose what is looked at. */
function tabs(choose: (name: Look) => void): {
  readonly node: HTMLElement;
  readonly show: (chosen: Look, parts: Partition | null) => void;
} {
  const made = (Object.keys(WORDS) as Look[]).map(name => {
    return [name, button(name, () => choose(name), { 'aria-pressed': 'false' })] as const;
  });
  return {
    node: html(
      'div',
      { class: 'buttons', role: 'group', 'aria-label': 'what to look at' },
      ...made.map(([, tab]) => tab)
    ),
    show: (chosen, parts) => {
      for (const [name, tab] of made) {
        set(tab, { 'aria-pressed': String(name === chosen), class: name === chosen ? 'strong' : null });
        tab.hidden = name === 'one resample' && parts === null;
      }
    }
  };
}

/** Why intervals miss: their standard errors with a spike at zero, z-scores, what was released, and a resample parted. */
export function why(): Why {
  let chosen: Look = 'standard errors';
  let [last, shown]: [StudyFacts | null, string] = [null, ''];
  let now: CoverageFacts | null = null;
  const places = html('div', { class: 'stacks' });
  const words = html('p', { class: 'soft say' });
  const which = html('input', { type: 'range', min: 1, max: 24, value: 1, 'aria-label': 'which resample' });
  const choice = tabs(name => {
    chosen = name;
    draw();
  });
  which.addEventListener('input', () => draw());

  const drawResample = (parts: Partition): void => {
    which.max = String(parts.counts.length);
    const at = Math.min(Number(which.value), parts.counts.length);
    set(which, { 'aria-valuetext': `resample ${at} of ${parts.k}` });
    words.textContent = `Resample ${at} of ${parts.k}. Dashed: what is expected.`;
    places.replaceChildren(parted(parts, at - 1));
  };
  const draw = (): void => {
    const run = now?.run ?? null;
    if (run === null || now === null) {
      return;
    }
    const parts = now.partition;
    if (chosen === 'one resample' && parts === null) {
      chosen = 'standard errors';
    }
    const one = chosen === 'one resample';
    choice.show(chosen, parts);
    which.hidden = !one;
    places.className = one ? '' : 'stacks';
    if (one && parts !== null) {
      drawResample(parts);
    } else {
      words.textContent = WORDS[chosen];
      places.replaceChildren(...drawings(chosen, run, now.shown));
    }
  };
  return {
    node: html('section', {}, html('h4', { class: 'say' }, 'Why?'), choice.node, which, words, places),
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
