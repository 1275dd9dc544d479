/**
 * Where an old card says that a question of it was paid for again since. Read from the ledger as the kernel told it last: nobody is
 * asked. What is not known there, because the session is another one or the ledger grew long, is not marked: a mark is never a guess.
 */
import type { Kernel, LiveCard } from '../lab/views/live_card';
import type { Line } from '../lab/views/record';
import { html } from '../widgets/parts/dom';
import type { Charge, Dataset } from '../widgets/parts/session_state';

/** The newest entry of this session that paid for a question after an entry, and has its answer; null where there is none. */
export function newest(ledger: readonly Charge[], question: string, entry: number): number | null {
  const later = ledger.filter(
    one =>
      one.here && one.stored && one.loss !== null && one.entry > entry && one.questions.includes(question)
  );
  return later.length === 0 ? null : Math.max(...later.map(one => one.entry));
}

/** Mark the lines of a card, and keep the marks in step with what the kernel tells. */
export function marks(
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
