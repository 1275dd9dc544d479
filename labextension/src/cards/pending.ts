/** The card of a question that waits, alive: ε ↔ ± in its place. Moving it spends nothing; Release leaves the cell that pays. */
import type { Kernel, Living } from '../lab/living';
import type { Waiting } from '../lab/record';
import { balance, isBalance, type SeesawFacts, type SeesawSet } from '../widgets/seesaw.widget';
import { opening } from './opening';

export function growPending(card: HTMLElement, waiting: Waiting, kernel: Kernel): Living | null {
  const line = card.querySelector(':scope > .line');
  if (line === null || waiting.key === null) {
    return null;
  }
  const { key, question } = waiting;
  return opening<SeesawFacts, SeesawSet>(
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
