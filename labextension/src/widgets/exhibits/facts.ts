/** What the kernel says about the exhibits; twin of `dpnb/exhibits/page.py`. Nothing of it is computed here. */

/** A number, or infinity, for which JSON has no sign. */
export type Reach = number | 'inf';

export interface Finding {
  readonly text: string;
  readonly unit: string;
  readonly sense: string;
  readonly kept: boolean;
  /** Claimed and actual, written. */
  readonly words: readonly [string, string];
  /** Claimed and actual, as lengths of a full width of 1. */
  readonly shares: readonly [number, number];
}

export interface Lever {
  readonly label: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** Where the exhibit itself stands. */
  readonly at: number;
  readonly says: string;
  readonly claimed: readonly number[];
  readonly actual: readonly Reach[];
  readonly corrected: readonly number[] | null;
  readonly kept: readonly boolean[];
}

interface Neighbours {
  readonly columns: string;
  readonly rows: readonly (readonly [string, string, boolean])[];
}

export interface Page {
  readonly name: string;
  readonly title: string;
  readonly theme: string;
  readonly source: string;
  readonly claim: string;
  readonly neighbours: readonly [string, string];
  readonly rows: Neighbours | null;
  readonly left_out: string;
  readonly exact: boolean;
  readonly how: string;
  readonly why: string;
  readonly published: Finding;
  readonly event: readonly [string, number, number] | null;
  readonly correction: string;
  readonly corrected: Finding;
  readonly cost: string;
  readonly cell: string;
  readonly more: readonly (readonly [string, string])[];
}

export interface ExhibitFacts {
  readonly themes: readonly string[];
  readonly pages: readonly Page[];
  /** The levers that were computed: those of the pages that were opened. */
  readonly levers: Readonly<Record<string, Lever | null>>;
  /** The exhibits that have one. */
  readonly levered: readonly string[];
  readonly problem: string;
}

export interface ExhibitSet {
  /** The page that is open; none is the index. */
  open: string;
  /** Where each lever was left. */
  at: Readonly<Record<string, number>>;
}
