/** Twin of `dpnb/widgets/coverage_still.py` and of `dpnb.simulate.wilson`: shares with their bands, and what they say. */
import { number } from './digits';

const Z2 = 1.959963984540054 ** 2;

/** The 95 % Wilson interval of a share; nothing where there is no study. */
export function wilson(held: number, studies: number): [number, number] | null {
  if (studies === 0) {
    return null;
  }
  const share = held / studies;
  const middle = (share + Z2 / (2 * studies)) / (1 + Z2 / studies);
  const half =
    Math.sqrt(Z2 * ((share * (1 - share)) / studies + Z2 / (4 * studies ** 2))) / (1 + Z2 / studies);
  return [middle - half, middle + half];
}

export type Verdict = 'too few' | 'as promised' | 'more';

/** Where the promised share lies to the band of what was found. */
export function verdict(held: number, studies: number, level: number): Verdict {
  const [low, high] = wilson(held, studies) ?? [0, 1];
  return high < level ? 'too few' : low > level ? 'more' : 'as promised';
}

/** How many intervals missed, and how many were promised to. */
export function missed(name: string, held: number, studies: number, level: number): string {
  const found = `${name}: ${number(studies - held, 0)} of ${number(studies, 0)} intervals missed`;
  const promised = number(Math.floor((1 - level) * studies + 0.5), 0);
  switch (verdict(held, studies, level)) {
    case 'as promised':
      return `${found}, as promised.`;
    case 'too few':
      return `${found}, more than the ${promised} promised.`;
    case 'more':
      return `${found}, fewer than the ${promised} promised: wider than needed.`;
  }
}

/** How many studies stand behind the shares in print: a thousand or so. */
const PRINT_STUDIES = 1000;

/** The band that a share in print has by itself. */
export function printBand(printed: number): [number, number] {
  return wilson(printed * PRINT_STUDIES, PRINT_STUDIES)!;
}

/** How far a share lies from the one in print, in standard errors of both. */
export function besidePrint(name: string, held: number, studies: number, printed: number): string {
  const here = held / studies;
  const both = (held + printed * PRINT_STUDIES) / (studies + PRINT_STUDIES);
  const error = both < 1 ? Math.sqrt(both * (1 - both) * (1 / studies + 1 / PRINT_STUDIES)) : 0;
  const apart = error > 0 ? Math.abs(here - printed) / error : 0;
  const chance = apart <= Math.sqrt(Z2) ? 'no more than chance' : 'more than chance explains';
  return `${name}: ${number(100 * here, 1)} % here, ${number(100 * printed, 1)} % in print; ${number(apart, 1)} standard errors apart, ${chance}.`;
}
