/** The card of a question that waits, alive: ε ↔ ± in its place. Moving it spends nothing; Release leaves the cell that pays. */
import type { Kernel, LiveCard } from '../lab/views/live_card';
import type { Waiting } from '../lab/views/record';
import { isBalance, type SeesawFacts, type SeesawSet } from '../widgets/seesaw/model';
import { balance } from '../widgets/seesaw/view';
import { disclosure } from './disclosure';

export function growPending(card: HTMLElement, waiting: Waiting, kernel: Kernel): LiveCard | null {
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
