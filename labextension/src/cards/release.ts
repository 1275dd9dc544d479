/** A released card alive: each line can show what paying more would buy, in its place. The card of a pending question is one of these too. */
import type { Grow } from '../lab/views/live_card';
import { chargeOf, linesOf, waitingOf } from '../lab/views/record';
import { isFacts, type RemeasureFacts, type RemeasureSet } from '../widgets/remeasure/model';
import { forecast } from '../widgets/remeasure/view';
import { marks } from './newer_answers';
import { disclosure } from './disclosure';
import { growPending } from './question';

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
