/** What a loss means for one person: in a sentence below a picture, and in the words of the slider that sets it. */
import { atMostPeople, atMostPercent, significant } from '../../maths/digits';
import { posterior } from '../../maths/odds';

type Kind = 'epsilon' | 'rho';

const CONCENTRATED = 'of zero-concentrated differential privacy';

export function oddsWords(kind: Kind, loss: number): string {
  if (kind === 'rho') {
    return `ρ ${significant(loss, 3)} ${CONCENTRATED}`;
  }
  const after = posterior(0.1, loss);
  return (
    `An honest 10 % guess about one person becomes at most ${atMostPercent(after)}: ` +
    `of 1,000 people like this, 100 before and at most ${atMostPeople(after, 1000)} after.`
  );
}

/** What the slider of a loss says of its value: the loss, what it means for one person (no belief is bounded under ρ), and what else the screen tells. */
export function lossWords(kind: Kind, loss: number, more = ''): string {
  const said =
    kind === 'rho'
      ? `ρ ${significant(loss, 3)} ${CONCENTRATED}`
      : `ε ${significant(loss, 3)}: an honest 10 % guess becomes at most ${atMostPercent(posterior(0.1, loss))}`;
  return more === '' ? said : `${said}. ${more}`;
}
