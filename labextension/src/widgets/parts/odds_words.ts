/** What a loss means for one person, in one sentence. */
import { atMostPeople, atMostPercent, significant } from '../../maths/digits';
import { posterior } from '../../maths/odds';

export function oddsWords(kind: 'epsilon' | 'rho', loss: number): string {
  if (kind === 'rho') {
    return `ρ ${significant(loss, 3)} of zero-concentrated differential privacy`;
  }
  const after = posterior(0.1, loss);
  return (
    `An honest 10 % guess about one person becomes at most ${atMostPercent(after)}: ` +
    `of 1,000 people like this, 100 before and at most ${atMostPeople(after, 1000)} after.`
  );
}
