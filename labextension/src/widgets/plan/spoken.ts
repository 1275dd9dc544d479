/** Accuracy in words, known at some losses, read between them: the numbers in a sentence follow the curve that they lie on. */
import { number } from '../../maths/digits';

/** What is known at increasing losses. */
export type Spoken = readonly (readonly [number, string])[];

const NUMBER = /(\d[\d,]*(?:\.\d+)?)/;
const CLOSE = 1e-9;

const valueOf = (text: string): number => Number(text.replaceAll(',', ''));

/** A number between two that are written; whole where both are. Between two positive ones it lies on a power law. */
function numberBetween(a: string, b: string, share: number): string {
  const [from, to] = [valueOf(a), valueOf(b)];
  if (from === to) {
    return a;
  }
  const found = from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share;
  return number(a.includes('.') || b.includes('.') ? found : Math.round(found));
}

/** A sentence between two that differ in their numbers alone; the first of them where they differ in words. */
function between(a: string, b: string, share: number): string {
  const [from, to] = [a.split(NUMBER), b.split(NUMBER)];
  const alike = from.length === to.length && from.every((part, i) => i % 2 === 1 || part === to[i]);
  const found = from.map((part, i) => (i % 2 === 0 ? part : numberBetween(part, to[i]!, share)));
  return alike ? found.join('') : a;
}

/** What is known at a loss; null below the smallest one. */
export function spokenAt(said: Spoken, loss: number): string | null {
  const above = said.findIndex(([at]) => at > loss * (1 + CLOSE));
  if (said.length === 0 || above === 0) {
    return null;
  }
  const [low, words] = said.at(above === -1 ? -1 : above - 1)!;
  if (above === -1 || loss <= low * (1 + CLOSE)) {
    return words;
  }
  const [high, next] = said[above]!;
  return between(words, next, Math.log(loss / low) / Math.log(high / low));
}
