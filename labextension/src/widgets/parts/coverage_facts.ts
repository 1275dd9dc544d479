/** What the kernel says about a simulation, and what the hand sets: the seam of the coverage lab. */

/** [low, high, what is true, whether it is held]; nothing where there is no interval. */
export type Stack = readonly (readonly [number | null, number | null, number | null, boolean])[];
/** [studies, coverage, and its 95 % band]. */
export type Trail = readonly (readonly [number, number | null, number | null, number | null])[];

export interface Histogram {
  readonly low: number;
  readonly step: number;
  readonly shares: readonly number[];
}

export interface Row {
  readonly name: string;
  readonly about: 'dataset' | 'population';
  readonly studies: number;
  readonly held: number;
  readonly coverage: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly width: number | null;
  readonly reason: string;
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
}

export interface StudyFacts {
  readonly rows: readonly Row[];
  readonly stack: Readonly<Record<string, Stack>>;
  readonly trail: Readonly<Record<string, Trail>>;
  readonly scores: (Histogram & { readonly noise: boolean }) | null;
  readonly releases: Histogram | null;
  readonly errors: (Histogram & { readonly zero: number }) | null;
}

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
  /** What is to be known at each value. */
  readonly notes?: readonly string[];
}

export interface CoverageFacts {
  readonly question: string;
  readonly statistics: readonly { readonly key: string; readonly label: string }[];
  readonly populations: readonly { readonly key: string; readonly label: string }[];
  readonly methods: readonly { readonly name: string; readonly words: string }[];
  /** What each row of the table is. */
  readonly about: Readonly<Record<string, string>>;
  readonly setup: CoverageSetup;
  readonly shown: readonly string[];
  readonly view: 'studies' | 'loss' | 'n' | 'k';
  readonly studies: number;
  readonly reps: number;
  /** The last block that was asked for and is in here. */
  readonly pulled: number;
  readonly run: StudyFacts | null;
  readonly sweep: SweepFacts | null;
  readonly code: string;
  readonly problem: string;
}

export interface CoverageSet {
  setup: Partial<CoverageSetup>;
  shown: string[];
  view: string;
  pull: number;
  reset: number;
}
