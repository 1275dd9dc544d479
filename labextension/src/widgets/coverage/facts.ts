/** What the kernel says about a simulation, and what the user sets: the interface of the coverage lab. */

/** [low, high, what is true, whether it is held]; nothing where there is no interval. */
export type Stack = readonly (readonly [number | null, number | null, number | null, boolean])[];
/** Studies so far, the share of their intervals that held, and the band of that share. */
type Trail = readonly (readonly [studies: number, share: number, low: number, high: number])[];

interface Histogram {
  readonly low: number;
  readonly step: number;
  readonly shares: readonly number[];
}

/** A method of the studies, and why it has no interval. */
export interface Row {
  readonly name: string;
  readonly reason: string;
}

/** What was found of a method: a mark, a sentence that is empty where nothing is simulated, and the cells of its row. */
export interface Finding {
  readonly name: string;
  readonly mark: string;
  readonly said: string;
  readonly cells: readonly string[];
}

/** What was seen of one method: its last intervals, its running coverage, its standard errors and z-scores. */
interface Watched {
  readonly stack: Stack;
  readonly trail: Trail;
  readonly errors: readonly number[];
  readonly zero: number;
  readonly wide: number;
  readonly scores: readonly number[];
}

export interface CoverageSetup {
  readonly statistic: string;
  readonly population: string;
  readonly n: number;
  readonly kind: 'epsilon' | 'rho';
  readonly loss: number;
  readonly reps: number;
  readonly seed: number;
  readonly level: number;
  readonly k: number;
  readonly repaired: boolean;
  readonly skew: number;
  readonly outliers: number;
  readonly share: number;
  readonly effect: number;
}

export interface StudyFacts {
  readonly rows: readonly Row[];
  readonly methods: Readonly<Record<string, Watched>>;
  /** Where the axis of the standard errors ends. */
  readonly top: number;
  readonly releases: Readonly<Record<string, Histogram>>;
}

/** One method along a sweep; null where nothing is known. */
export interface SweepRow {
  readonly name: string;
  readonly coverage: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  readonly width: readonly (number | null)[];
}

export interface SweepFacts {
  readonly over: 'loss' | 'n' | 'k';
  readonly values: readonly number[];
  readonly rows: readonly SweepRow[];
  readonly at: number;
  /** What is to be known at each value. */
  readonly notes: readonly string[];
}

/** How a few resamples part the rows: so many rows are held 0, 1, 2, … times, and how often the first row is. */
export interface Partition {
  readonly n: number;
  readonly k: number;
  readonly counts: readonly (readonly number[])[];
  readonly expected: readonly number[];
  readonly you: readonly number[];
}

/** One method of the studies at many losses; its arrays are called `<name>/ends` and `<name>/held`. */
export interface SharedMethod {
  readonly name: string;
  readonly about: 'dataset' | 'population';
}

/** The same studies with the same random numbers at many losses; their numbers and flags are in arrays. */
export interface SharedFacts {
  /** Which simulation it is. */
  readonly of: number;
  readonly values: readonly number[];
  /** How many there are so far, and how many there will be. */
  readonly studies: number;
  readonly goal: number;
  /** The first of those whose ends are here. */
  readonly first: number;
  readonly parameter: number | null;
  /** Whether ends may be drawn between two computed losses. */
  readonly smooth: boolean;
  readonly methods: readonly SharedMethod[];
}

export interface Method {
  readonly name: string;
  readonly words: string;
  readonly resampled: boolean;
  /** Why it cannot be computed here; empty where it can. */
  readonly unfit: string;
}

/** The shares of the population in bins from low to high; of two arms one after the other, each with its name. */
interface PopulationShape {
  readonly low: number;
  readonly high: number;
  readonly parts: readonly { readonly name: string; readonly shares: readonly number[] }[];
}

export interface CoverageFacts {
  readonly question: string;
  /** Where the facts come from, where it was started from an estimate. */
  readonly from: string;
  readonly statistics: readonly { readonly key: string; readonly label: string }[];
  readonly populations: readonly { readonly key: string; readonly label: string; readonly group: string }[];
  readonly sliders: readonly string[];
  readonly kind: string;
  readonly shape: PopulationShape | null;
  readonly methods: readonly Method[];
  readonly setup: CoverageSetup;
  readonly shown: readonly string[];
  readonly view: 'studies' | 'loss' | 'n' | 'k';
  readonly studies: number;
  readonly reps: number;
  /** The last block that was asked for and is in here. */
  readonly pulled: number;
  readonly run: StudyFacts | null;
  readonly sweep: SweepFacts | null;
  readonly shared: SharedFacts | null;
  readonly partition: Partition | null;
  /** What the resamples cost, in one sentence. */
  readonly charge: string;
  /** The columns of the table, and what was found at each value of a sweep, or once of single studies. */
  readonly columns: readonly string[];
  readonly findings: readonly (readonly Finding[])[];
  /** What is said beside the published table; empty where this is not its setup. */
  readonly beside: readonly string[];
  readonly code: string;
  readonly problem: string;
}

export interface CoverageSet {
  setup: Partial<CoverageSetup>;
  shown: string[];
  view: string;
  /** Whether studies at many losses are wanted. */
  shared: boolean;
  /** How many of those were here when more were asked for. */
  reached: number;
  /** Of which of them which forty are drawn. */
  page: [number, number];
  pull: number;
  reset: number;
  at: number;
}
