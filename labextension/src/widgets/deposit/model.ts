/** A deposit as it is filled in: its form, what is lacking, its budget in words, its picks and how near each will be. No DOM. */
import { evened } from '../../maths/budget';
import { widthAt, type Curve } from '../../maths/curve';
import { halfWidth, number, significant } from '../../maths/digits';
import { secrecyOfTheSample } from '../../maths/odds';
import { brief } from '../parts/session_state';
import type { OddsFacts } from '../odds/model';

export interface ColumnFields {
  readonly name: string;
  readonly type: string;
  readonly label: string;
  readonly lower: string;
  readonly upper: string;
  readonly values: string;
  readonly missing: string;
  readonly use: string;
  readonly length: string;
}

export interface DatasetFields {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly adjacency: string;
  readonly unit: string;
  readonly most: string;
  readonly size: string;
  readonly epsilon: string;
  readonly delta: string;
  readonly pool: string;
  /** Empty, or "seen on data". */
  readonly bounds: string;
}

export interface Form {
  readonly dataset: DatasetFields;
  readonly columns: readonly ColumnFields[];
}

export interface Problem {
  /** Empty where it is of the whole dataset. */
  readonly column: string;
  readonly field: string;
  readonly blank: boolean;
  readonly words: string;
}

/** A statistic that can be picked. */
export interface Entry {
  readonly name: string;
  readonly words: string;
  readonly text: string;
  readonly curve: Curve | null;
  /** The whole of which its ± is a part. */
  readonly span: number | null;
  readonly unit: string;
  readonly problem: string;
}

export interface Standing {
  readonly state: string;
  readonly spent: number;
  readonly cap: number;
  readonly words: string;
  readonly promised: readonly (readonly [string, string])[];
  /** What the declaration loosens of what was promised to those who were answered. */
  readonly looser: readonly string[];
}

type TextName =
  | 'bounds'
  | 'most'
  | 'pool'
  | 'seen'
  | 'rows'
  | 'fit'
  | 'all'
  | 'delta'
  | 'looser'
  | 'near'
  | 'planned'
  | 'again'
  | 'page';

export interface DepositFacts {
  readonly file: string;
  readonly declaration: string;
  /** Whether the declaration is written as the form stands. */
  readonly declared: boolean;
  readonly form: Form;
  readonly toml: string;
  readonly problems: readonly Problem[];
  /** Names, and made-up rows under them. */
  readonly rows: readonly (readonly string[])[];
  readonly budget: {
    readonly kind: 'epsilon' | 'rho';
    readonly symbol: 'ε' | 'ρ';
    readonly cap: number;
    readonly label: string;
    readonly unit: string;
    readonly people: number;
    readonly chance: number;
    readonly register: readonly { readonly epsilon: number; readonly words: string }[];
  };
  readonly catalogue: readonly Entry[];
  readonly planned: number;
  readonly public_size: boolean;
  readonly standing: Standing | null;
  /** The longer texts, said in Python so that they are no code. */
  readonly texts: Readonly<Record<TextName, string>> & { readonly sample: readonly string[] };
  /** Whether statistics were released from here before. */
  readonly released: boolean;
  readonly problem: string;
}

export interface DepositSet {
  step: number;
  form: Form;
  prior: number;
  /** Of the population, how much the file is a sample of; and how it was drawn. */
  share: number;
  drawn: string;
  rows: number;
  typed: string[];
  picks: string[];
  shares: number[];
  loss: number;
  end: string;
  cap: number;
  reason: string;
}

export const STEPS = ['Declare', 'Budget', 'Pre-release', 'Open or close'] as const;
/** The part of a budget that one button keeps for analysts. */
const KEPT = 0.2;

const FIELD_WORDS: Readonly<Record<string, string>> = {
  unit: 'whose row it is',
  most: 'the most rows of one person',
  size: 'how many there are',
  name: 'the name',
  epsilon: 'ε',
  delta: 'δ',
  type: 'type',
  lower: 'lowest',
  upper: 'highest',
  values: 'values',
  length: 'most characters'
};

/** A step that there is. */
export const stepOf = ({ step }: Partial<DepositSet>): number =>
  Math.min(Math.max(Math.round(step ?? 0), 0), STEPS.length - 1);

/** What is wrong with a field; nothing where it is only blank. */
export function wordsOf(facts: DepositFacts, column: string, field: string): string {
  return facts.problems.find(one => one.column === column && one.field === field)?.words ?? '';
}

const spoken = ({ column, field }: Problem): string =>
  `${column === '' ? '' : `${column}: `}${FIELD_WORDS[field] ?? field}`;

/** What is looser than the ledger promised, in words; empty where nothing is. */
export function looserWords({ standing, texts }: DepositFacts): string {
  const looser = standing?.looser ?? [];
  const to = (standing?.promised ?? []).map(([who, loss]) => `${who}: ${loss}`).join('; ');
  return looser.length === 0 ? '' : `${looser.join('; ')}. Answered so far: ${to}. ${texts.looser}`;
}

/** Why the next step cannot be taken yet; empty where it can. */
export function lacking(facts: DepositFacts, step: number): string {
  const blank = facts.problems.filter(one => one.blank);
  const wrong = facts.problems.find(one => !one.blank);
  if (step > 1 || facts.problems.length === 0) {
    return '';
  }
  if (blank.length > 0) {
    const listed = blank.slice(0, 3).map(spoken).join('; ');
    const more = blank.length > 3 ? `; and ${blank.length - 3} more` : '';
    return `Still blank – ${listed}${more}.`;
  }
  return `To correct – ${spoken(wrong!)}.`;
}

/** The fields that a type of column has. */
export function fieldsOf(type: string): readonly ('lower' | 'upper' | 'values' | 'length')[] {
  if (type === 'category') return ['values'];
  if (type === 'text') return ['length'];
  return type === '' ? [] : ['lower', 'upper'];
}

// ---------------------------------------------------------------------- the budget

/** The facts of the interaction that shows odds, from those of a deposit. */
export function oddsOf(facts: DepositFacts): OddsFacts {
  const { people, chance } = facts.budget;
  const law = { kind: 'discrete-laplace', scale: 1 } as const;
  return { prior: 0.1, epsilon: 1, delta: 0, people, chance, law, problem: '' };
}

export const DRAWN = [
  ['no', 'not a secret random sample'],
  ['coins', 'each person of the population independently'],
  ['fixed', 'a fixed number of people, drawn without replacement']
] as const;

/** What the whole cap means for the population that a file is a secret sample of: a sentence, and whether it holds. */
export function sampleWords(
  adjacency: string,
  { epsilon, delta }: { readonly epsilon: number; readonly delta: number },
  share: number,
  drawn: string
): string {
  if (drawn === 'no') {
    return 'Nothing changes: the budget above applies.';
  }
  if (adjacency !== (drawn === 'coins' ? 'add-remove' : 'change-one')) {
    const [size, known] = drawn === 'coins' ? ['by coins', 'private'] : ['of fixed size', 'public'];
    return `A sample ${size} goes with “how many there are is ${known}”.`;
  }
  const [less, chance] = secrecyOfTheSample(epsilon, share, delta);
  const beside = delta > 0 ? ` and δ ${significant(chance, 2)}` : '';
  return (
    `For a person of the population, all that is ever released from this ${significant(100 * share, 3)} % sample is worth at most ` +
    `ε ${significant(less, 3)}${beside} – once, for the whole ε ${significant(epsilon, 3)}. No charge changes.`
  );
}

// ---------------------------------------------------------------------- the picks

export interface Picked {
  readonly entries: readonly Entry[];
  readonly shares: readonly number[];
  readonly loss: number;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** The picks that the catalogue has, their shares of the loss, and the loss: at most the budget. */
export function pickedOf(facts: DepositFacts, set: Partial<DepositSet>): Picked {
  const known = new Map(facts.catalogue.filter(one => one.problem === '').map(one => [one.name, one]));
  const told = set.picks ?? [];
  const good = set.shares?.length === told.length && set.shares.every(share => share > 0);
  const kept = told.flatMap((name, i) => {
    const entry = known.get(name);
    return entry === undefined ? [] : [{ entry, share: good ? set.shares![i]! : 1 }];
  });
  const whole = sum(kept.map(one => one.share));
  return {
    entries: kept.map(one => one.entry),
    shares: kept.map(one => one.share / whole),
    loss: Math.min(set.loss ?? facts.budget.cap, facts.budget.cap)
  };
}

/** Pick one more, with an equal share of the rest; or drop one, whose share goes to the others. */
export function toggled({ entries, shares }: Picked, name: string): Pick<DepositSet, 'picks' | 'shares'> {
  const names = entries.map(one => one.name);
  const at = names.indexOf(name);
  if (at >= 0) {
    const left = shares.filter((_, i) => i !== at);
    return { picks: names.filter((_, i) => i !== at), shares: left.map(share => share / (sum(left) || 1)) };
  }
  const part = 1 / (names.length + 1);
  return { picks: [...names, name], shares: [...shares.map(share => share * (1 - part)), part] };
}

/** The shares with which every ± is the same part of its whole. */
export function equalised({ entries, shares, loss }: Picked): number[] {
  const found = evened(
    entries.map(one => one.curve),
    entries.map(one => one.span),
    shares.map(share => share * loss)
  );
  return found.map(one => one / sum(found));
}

/** The loss that keeps a fifth of the budget. */
export const keeping = (facts: DepositFacts): number => (1 - KEPT) * facts.budget.cap;

/** The ± of a statistic at a loss, and the part of its whole that it is. */
export function nearness(entry: Entry, loss: number): { readonly part: number; readonly words: string } {
  if (entry.curve === null) {
    return { part: 1, words: entry.problem };
  }
  const width = widthAt(entry.curve, loss);
  const part = entry.span === null ? 0 : width / entry.span;
  const of = entry.span === null ? '' : `, ${significant(100 * part, 2)} % of ${number(entry.span)}`;
  return { part, words: `± ${halfWidth(width)}${entry.unit === '' ? '' : ` ${entry.unit}`}${of}` };
}

/** What the whole comes to, in a sentence. */
export function pickedWords(facts: DepositFacts, { entries, loss }: Picked): string {
  const { symbol, cap } = facts.budget;
  const left = Math.max(cap - loss, 0);
  return entries.length === 0
    ? 'Tick what you want to publish.'
    : `${entries.length} ${entries.length === 1 ? 'statistic' : 'statistics'} for ${symbol} ${brief(loss)} of ${brief(cap)}; ` +
        `${left < 1e-9 ? 'nothing' : `${symbol} ${brief(left)}`} stays for analysts.`;
}
