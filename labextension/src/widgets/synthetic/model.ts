/** Which two-way tables a loss can measure: the noise of a cell, the strength of the signal, and what is said of both. No DOM. */
import { epsilonOf } from '../../maths/composition';
import { number, significant } from '../../maths/digits';
import { variance, type Law } from '../../maths/laws';

export interface SyntheticFacts {
  readonly dataset: string;
  readonly columns: readonly { readonly name: string; readonly levels: number }[];
  /** Of each pair of columns, in the order of `pairsOf`, whether its table is asked. */
  readonly asked: readonly boolean[];
  readonly n: number;
  readonly kind: 'epsilon' | 'rho';
  readonly loss: number;
  /** The noise of a cell of one table alone, at a loss of 1. */
  readonly law: Law;
  /** The least g for 95 %, the least g at all, and the most tables. */
  readonly gates: { readonly full: number; readonly least: number; readonly tables: number };
  readonly problem: string;
}

export interface SyntheticSet {
  loss: number;
  /** 1 for each column that is kept, and for each pair whose table is asked. */
  columns: number[];
  pairs: number[];
}

type Pair = readonly [first: number, second: number];

/** The δ at which a ρ is told as an ε. */
const DELTA = 1e-6;
/** The losses that can be set. */
export const RANGES = { epsilon: { low: 0.01, high: 10 }, rho: { low: 0.0001, high: 10 } };

/** A saved state may name more columns than a table can have. */
const MOST = 20;

/** Every pair of so many columns, the first always the earlier: (0, 1), (0, 2), (1, 2), (0, 3), … */
export function pairsOf(columns: number): Pair[] {
  return Array.from({ length: Math.min(columns, MOST) }, (_, j) =>
    Array.from({ length: j }, (__, i) => [i, j] as const)
  ).flat();
}

export const startOf = (facts: SyntheticFacts): SyntheticSet => ({
  loss: facts.loss,
  columns: facts.columns.map(() => 1),
  pairs: facts.asked.map(Number)
});

/** The standard deviation of a cell's noise where so many tables share a loss. */
export function sigmaOf({ kind, law }: SyntheticFacts, tables: number, loss: number): number {
  const scale = law.scale * (kind === 'rho' ? Math.sqrt(tables / loss) : tables / loss);
  return Math.sqrt(variance({ kind: law.kind, scale }));
}

/** How a pair of columns stands: its table is measured; is too weak for this loss; was not asked; or a column is left out. */
export type State = 'measured' | 'weak' | 'unasked' | 'out';

export interface Standing {
  readonly states: readonly State[];
  readonly tables: number;
  readonly cells: number;
  readonly sigma: number;
  /** n / (cells of the largest table × σ). */
  readonly g: number;
  readonly level: 'full' | 'about' | 'none';
}

const cellsOf = (facts: SyntheticFacts, [i, j]: Pair): number =>
  facts.columns[i]!.levels * facts.columns[j]!.levels;

function strength(
  facts: SyntheticFacts,
  kept: readonly Pair[],
  loss: number
): Omit<Standing, 'states' | 'level'> {
  const cells = Math.max(...kept.map(pair => cellsOf(facts, pair)), 0);
  const sigma = kept.length > 0 ? sigmaOf(facts, kept.length, loss) : 0;
  return { tables: kept.length, cells, sigma, g: kept.length > 0 ? facts.n / (cells * sigma) : 0 };
}

/** What stays at a loss: while the signal is too weak, or tables are too many, the largest goes, the last of equals. */
export function standingOf(facts: SyntheticFacts, now: SyntheticSet): Standing {
  const pairs = pairsOf(facts.columns.length);
  const states = pairs.map(([i, j], place): State => {
    const kept = now.columns[i] === 1 && now.columns[j] === 1;
    return !kept ? 'out' : now.pairs[place] === 1 ? 'measured' : 'unasked';
  });
  for (;;) {
    const kept = pairs.filter((_, place) => states[place] === 'measured');
    const found = strength(facts, kept, now.loss);
    if (kept.length === 0 || (found.g >= facts.gates.least && kept.length <= facts.gates.tables)) {
      const level = kept.length === 0 ? 'none' : found.g >= facts.gates.full ? 'full' : 'about';
      return { ...found, states, level };
    }
    const largest = pairs.reduce(
      (at, pair, place) =>
        states[place] === 'measured' && cellsOf(facts, pair) === found.cells ? place : at,
      0
    );
    states[largest] = 'weak';
  }
}

export const LEVELS = { full: '95 %', about: 'about 90 %', none: 'none' };

const STATES = {
  measured: 'measured',
  weak: 'too weak at this loss',
  unasked: 'not measured',
  out: 'column left out'
};

/** A pair of columns for the ear. */
export function pairWords(facts: SyntheticFacts, [i, j]: Pair, state: State): string {
  const [first, second] = [facts.columns[i]!, facts.columns[j]!];
  return `${first.name} by ${second.name}, ${first.levels} × ${second.levels} cells: ${STATES[state]}`;
}

const tablesWords = (tables: number): string => `${number(tables)} table${tables === 1 ? '' : 's'}`;

/** What stays, and what it is good for. */
export function sentence(standing: Standing): string {
  const weak = standing.states.filter(state => state === 'weak').length;
  if (standing.level === 'none') {
    return weak > 0
      ? 'No table is strong enough at this loss: move it up, or keep fewer columns.'
      : 'Choose at least one pair of columns.';
  }
  const gone = weak > 0 ? ` ${tablesWords(weak)} must go (crossed out).` : '';
  return `${tablesWords(standing.tables)} measured, intervals of ${LEVELS[standing.level]}.${gone}`;
}

/** What a ρ is as an ε; nothing of an ε. */
export function lossNote(facts: SyntheticFacts, loss: number): string {
  return facts.kind === 'rho' ? `ε ${significant(epsilonOf(loss, DELTA), 2)} at δ = 10⁻⁶` : '';
}
