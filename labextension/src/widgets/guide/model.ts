/** A first question as it is chosen: what each screen offers, what it lacks, what it says, and the cell at the end. No DOM. */
import { covers } from '../../maths/budget';
import { widthAt, type Curve } from '../../maths/curve';
import { halfWidth, significant } from '../../maths/digits';
import { brief } from '../parts/session_state';

interface Goal {
  readonly id: string;
  readonly words: string;
  readonly compares: boolean;
  readonly columns: readonly string[];
}

export interface Plan {
  /** What was chosen on the first two screens; no groups where none are compared. */
  readonly goal: string;
  readonly column: string;
  readonly by: string;
  readonly code: string;
  readonly refused: string;
  readonly kind?: 'epsilon' | 'rho';
  readonly symbol?: string;
  readonly curve?: Curve | null;
  readonly words?: string;
  /** What a ± is of, or for how many people it is told. */
  readonly given?: string;
  /** The largest loss that a stored answer covers: up to there it is free. */
  readonly held?: number | null;
  /** How accurate that answer is. */
  readonly stored?: string;
  readonly left?: number;
}

export interface GuideFacts {
  readonly dataset: string;
  readonly handle: string;
  readonly goals: readonly Goal[];
  readonly columns: readonly { readonly name: string; readonly label: string; readonly words: string }[];
  readonly groups: readonly string[];
  readonly unit: string;
  readonly mode: string;
  readonly plan: Plan | null;
  /** On a page without a kernel: every question, priced when the page was made. */
  readonly plans?: readonly Plan[];
  readonly problem: string;
}

export interface GuideSet {
  goal: string;
  column: string;
  by: string;
  loss: number;
  screen: number;
}

export const SCREENS = ['What to know', 'Of what', 'Who is protected', 'How accurate', 'The cell'] as const;

/** What is to be known, where it was chosen. */
function goalOf(facts: GuideFacts, set: Partial<GuideSet>): Goal | undefined {
  return facts.goals.find(one => one.id === set.goal);
}

/** Why the next screen cannot be shown yet; empty where it can. */
export function missing(facts: GuideFacts, set: Partial<GuideSet>, screen: number, alive = true): string {
  const goal = goalOf(facts, set);
  if (goal === undefined) {
    return 'Choose what you want to know.';
  }
  if (screen >= 1 && !goal.columns.includes(set.column ?? '')) {
    return 'Choose a column.';
  }
  if (screen >= 1 && goal.compares && !groupsFor(facts, set).includes(set.by ?? '')) {
    return 'Choose the column that defines the two groups.';
  }
  if (screen < 3) {
    return '';
  }
  const silent = alive
    ? 'The kernel prices the question: run this cell again if it does not answer.'
    : `There is no kernel here to price this question. In a notebook, run: %dp guide ${facts.handle}`;
  const plan = planOf(facts, set);
  return plan === null ? silent : plan.refused;
}

/** The question that is chosen, where the kernel or the page has priced it: never the one that was chosen before. */
export function planOf(facts: GuideFacts, set: Partial<GuideSet>): Plan | null {
  const compares = goalOf(facts, set)?.compares === true;
  const known = [facts.plan, ...(facts.plans ?? [])];
  return (
    known.find(
      one =>
        one?.goal === set.goal && one?.column === set.column && one?.by === (compares ? (set.by ?? '') : '')
    ) ?? null
  );
}

/** Columns that can tell two groups apart, without the one that is compared. */
export function groupsFor(facts: GuideFacts, set: Partial<GuideSet>): string[] {
  return facts.groups.filter(name => name !== set.column);
}

/** The cell that asks the question at a loss. */
export function cellOf(plan: Plan, loss: number): string {
  return `%%dp ${plan.kind ?? 'epsilon'}=${significant(loss, 3)}\n${plan.code}`;
}

const LAST = SCREENS.length - 1;

/** A screen that there is. */
export function screenOf({ screen }: Partial<GuideSet>): number {
  return Math.min(Math.max(screen ?? 0, 0), LAST);
}

export const isLast = (screen: number): boolean => screen === LAST;

export interface Option {
  readonly id: string;
  readonly words: string;
  readonly note?: string;
}

/** The columns that the goal can be asked of. */
export function columnsOf(facts: GuideFacts, set: Partial<GuideSet>): Option[] {
  const goal = goalOf(facts, set);
  return facts.columns
    .filter(column => goal?.columns.includes(column.name))
    .map(({ name, label, words }) => ({
      id: name,
      words: label,
      note: label === name ? words : `${name}: ${words}`
    }));
}

/** The columns whose two groups can be compared; null for a goal that compares none. */
export function comparisonsOf(facts: GuideFacts, set: Partial<GuideSet>): Option[] | null {
  return goalOf(facts, set)?.compares === true
    ? groupsFor(facts, set).map(name => ({
        id: name,
        words: facts.columns.find(column => column.name === name)?.label ?? name,
        note: name
      }))
    : null;
}

/** The loss that was set, or the one to begin with: half a unit, and no more than is left. */
export function lossOf({ left }: Plan, { loss }: Partial<GuideSet>): number {
  return loss ?? Math.min(0.5, left ?? 0.5);
}

/** What a loss buys, and what would be left of the budget. */
export function boughtBy(plan: Plan, loss: number): string {
  const { symbol = '', curve = null, words = '', given = '', held = null, stored = '', left = 0 } = plan;
  if (held !== null && covers(held, loss)) {
    return `This is stored${stored === '' ? '' : ` with ${stored}`}, released at ${symbol} ${brief(held)}: the cell is free.`;
  }
  if (left < loss) {
    return `Only ${symbol} ${brief(left)} is left: choose a smaller loss.`;
  }
  const told =
    curve === null ? '' : [`± ${halfWidth(widthAt(curve, loss))}`, given].filter(Boolean).join(' ');
  const width = curve === null ? words : `${told} (95 % privacy interval)`;
  return `${symbol} ${brief(loss)} buys ${width}; ${symbol} ${brief(left - loss)} would be left.`;
}
