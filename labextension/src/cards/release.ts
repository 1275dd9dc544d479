/** A released card alive: each line can show what paying more would buy, in its place. The card of a pending question is one of these too. */
import type { Grow, Kernel, LiveCard } from '../lab/views/live_card';
import { type Line, type Waiting, chargeOf, linesOf, waitingOf } from '../lab/views/record';
import { html } from '../widgets/parts/dom';
import type { Charge, Dataset } from '../widgets/parts/session_state';
import { type RemeasureFacts, type RemeasureSet, isFacts } from '../widgets/remeasure/model';
import { forecast } from '../widgets/remeasure/view';
import { type SeesawFacts, type SeesawSet, isBalance } from '../widgets/seesaw/model';
import { balance } from '../widgets/seesaw/view';
import { disclosure } from './disclosure';

/** The card of a question that waits, alive: ε ↔ ± in its place. Moving it spends nothing; Release leaves the cell that pays. */
function growPending(card: HTMLElement, waiting: Waiting, kernel: Kernel): LiveCard | null {
  const line = card.querySelector(':scope > .line');
  if (line === null || waiting.key === null) {
    return null;
  }
  const { key, question } = waiting;
  return disclosure<SeesawFacts, SeesawSet>(
    line,
    {
      label: 'what accuracy costs',
      name: question,
      draw: balance,
      isFacts: isBalance,
      question: ({ size }) => ({ ask: 'seesaw', waiting: key, ...(size === undefined ? {} : { size }) })
    },
    kernel
  );
}

/**
 * The newest entry of this session that paid for a question after an entry, and has its answer; null where there is none. Read from
 * the ledger as the kernel told it last. What is not known there, because the session is another one or the ledger grew long, is not
 * marked: a mark is never a guess.
 */
export function newest(ledger: readonly Charge[], question: string, entry: number): number | null {
  const later = ledger.filter(
    one =>
      one.here && one.stored && one.loss !== null && one.entry > entry && one.questions.includes(question)
  );
  return later.length === 0 ? null : Math.max(...later.map(one => one.entry));
}

/** Mark the lines of a card, and keep the marks in step with what the kernel tells. */
function marks(
  places: readonly Element[],
  lines: readonly Line[],
  charge: { readonly dataset: string; readonly entry: number },
  kernel: Kernel
): LiveCard {
  const notes = places.map(() => html('p', { class: 'flag dpnb-newer', hidden: '' }));
  places.forEach((place, i) => place.querySelector(':scope > .row')?.after(notes[i]!));
  const look = (): void => {
    const found: Dataset | undefined = kernel.state()?.datasets.find(one => one.name === charge.dataset);
    lines.forEach(({ question, releases }, i) => {
      const later = releases.length > 0 ? newest(found?.ledger ?? [], question, charge.entry) : null;
      const note = notes[i]!;
      note.hidden = later === null;
      note.textContent =
        later === null ? '' : `↻ Paid for again since: ledger entry ${later} has a newer answer.`;
    });
  };
  const stop = kernel.listen(look);
  look();
  return {
    dispose: () => {
      stop();
      notes.forEach(note => note.remove());
    }
  };
}

export const grow: Grow = (card, record, kernel) => {
  const waiting = waitingOf(record);
  if (waiting !== null) {
    return growPending(card, waiting, kernel);
  }
  const lines = linesOf(record);
  const places = card.querySelectorAll(':scope > .line');
  if (lines?.length !== places.length) {
    return null;
  }
  const thumbs = lines.flatMap(({ name, question, releases, again }, i) => {
    const asked = { ask: 'remeasure', name, question, releases: [...releases] };
    const opens = { label: `more ${again}`, name, draw: forecast, isFacts, question: () => asked };
    return again === '' ? [] : [disclosure<RemeasureFacts, RemeasureSet>(places[i]!, opens, kernel)];
  });
  const charge = chargeOf(record);
  if (charge !== null) {
    thumbs.push(marks([...places], lines, charge, kernel));
  }
  return { dispose: () => thumbs.forEach(one => one.dispose()) };
};
