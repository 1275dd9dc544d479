/** A first question in five small screens. The kernel writes and prices it; the last screen shows the cell that asks. */
import { halfWidth, significant } from '../../maths/digits';
import { widthAt, type Curve } from '../../maths/curve';
import { html, unique } from '../parts/dom';
import { lossWords } from '../parts/loss_words';
import { releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import { brief } from '../parts/session_state';
import type { Link, View } from '../parts/widget';

interface Goal {
  readonly id: string;
  readonly words: string;
  readonly compares: boolean;
  readonly columns: readonly string[];
}

interface Plan {
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

/** Why the next screen cannot be shown yet; empty where it can. */
export function missing(facts: GuideFacts, set: Partial<GuideSet>, screen: number, alive = true): string {
  const goal = facts.goals.find(one => one.id === set.goal);
  if (goal === undefined) {
    return 'Choose what you want to know.';
  }
  if (screen >= 1 && !goal.columns.includes(set.column ?? '')) {
    return 'Choose a column.';
  }
  if (screen >= 1 && goal.compares && !groupsFor(facts, set).includes(set.by ?? '')) {
    return 'Choose the column that tells the two groups apart.';
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
  const compares = facts.goals.find(one => one.id === set.goal)?.compares === true;
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

function choices(
  legend: string,
  options: readonly { id: string; words: string; note?: string }[],
  chosen: string | undefined,
  take: (id: string) => void
): HTMLElement {
  const group = unique('choice');
  return html(
    'fieldset',
    { class: 'choices' },
    html('legend', {}, legend),
    ...options.map(option => {
      const input = html('input', {
        type: 'radio',
        name: group,
        value: option.id,
        checked: option.id === chosen ? '' : null
      });
      input.addEventListener('change', () => take(option.id));
      const note = option.note === undefined ? null : html('span', { class: 'soft' }, ` ${option.note}`);
      return html('label', {}, input, html('span', {}, option.words, note));
    })
  );
}

export function guideView(root: HTMLElement, link: Link<GuideFacts, GuideSet>): View {
  let screen = Math.min(Math.max(link.chosen().screen ?? 0, 0), SCREENS.length - 1);
  const head = html('h3', {});
  const steps = html('ol', { class: 'steps' });
  const body = html('div', { class: 'screen' });
  const why = html('p', { class: 'say', role: 'status' });
  const back = html('button', { type: 'button' }, 'Back');
  const next = html('button', { type: 'button', class: 'strong' }, 'Next');
  root.append(
    html('div', { class: 'head' }, head),
    steps,
    body,
    why,
    html('div', { class: 'buttons' }, back, next)
  );

  const go = (to: number): void => {
    screen = to;
    link.choose({ screen });
    show();
    body.querySelector<HTMLElement>('input, button, textarea')?.focus();
  };
  back.addEventListener('click', () => go(screen - 1));
  next.addEventListener('click', () => {
    if (missing(link.facts(), link.chosen(), screen, link.alive?.()) === '') {
      go(screen + 1);
    }
  });

  const take = (part: Partial<GuideSet>): void => {
    link.choose(part);
    show();
  };

  function ofWhat(facts: GuideFacts, set: Partial<GuideSet>): Node[] {
    const goal = facts.goals.find(one => one.id === set.goal);
    const listed = facts.columns
      .filter(column => goal?.columns.includes(column.name))
      .map(({ name, label, words }) => ({
        id: name,
        words: label,
        note: label === name ? words : `${name}: ${words}`
      }));
    const found = [choices('Of which column?', listed, set.column, column => take({ column }))];
    if (goal?.compares === true) {
      const groups = groupsFor(facts, set).map(name => ({
        id: name,
        words: facts.columns.find(column => column.name === name)?.label ?? name,
        note: name
      }));
      found.push(choices('Between which two groups?', groups, set.by, by => take({ by })));
    }
    return found;
  }

  function howAccurate(facts: GuideFacts, set: Partial<GuideSet>): Node[] {
    const plan = planOf(facts, set);
    if (plan?.symbol === undefined) {
      return [];
    }
    const symbol = plan.symbol;
    let loss = set.loss ?? Math.min(0.5, plan.left ?? 0.5);
    const said = html('p', { class: 'say', 'aria-live': 'polite' });
    const tell = (): void => {
      const curve = plan.curve ?? null;
      const width =
        curve === null ? (plan.words ?? '') : `± ${halfWidth(widthAt(curve, loss))} (95 % privacy interval)`;
      const left = (plan.left ?? 0) - loss;
      said.textContent =
        left >= 0
          ? `${symbol} ${brief(loss)} buys ${width}; ${symbol} ${brief(left)} would be left.`
          : `Only ${symbol} ${brief(plan.left ?? 0)} is left: ask less.`;
      control.words(lossWords(plan.kind ?? 'epsilon', loss, said.textContent));
    };
    const control = slider({
      label: symbol,
      range: { low: 0.01, high: 10 },
      value: loss,
      ends: ['more private', 'more accurate'],
      input: value => {
        loss = value;
        tell();
      },
      change: value => link.choose({ loss: value })
    });
    tell();
    if (set.loss === undefined) {
      link.choose({ loss });
    }
    return [control.node, said];
  }

  function theCell(facts: GuideFacts, set: Partial<GuideSet>): Node[] {
    const plan = planOf(facts, set);
    if (plan === null || plan.code === '') {
      return [];
    }
    const text = cellOf(plan, set.loss ?? 0.5);
    return [
      html('pre', {}, html('code', { class: 'cell' }, text)),
      html('p', { class: 'soft' }, 'Nothing is spent until this cell runs.'),
      releaseButton(() => text).node
    ];
  }

  function show(): void {
    const facts = link.facts();
    const set = link.chosen();
    head.textContent = `A first question about ${facts.dataset}`;
    steps.replaceChildren(
      ...SCREENS.map((name, i) => html('li', { 'aria-current': i === screen ? 'step' : null }, name))
    );
    const goals = facts.goals.map(goal => ({ id: goal.id, words: goal.words }));
    const screens: (() => Node[])[] = [
      () => [choices('What do you want to know?', goals, set.goal, goal => take({ goal }))],
      () => ofWhat(facts, set),
      () => [html('p', {}, `${facts.unit}.`), html('p', { class: 'soft' }, facts.mode)],
      () => howAccurate(facts, set),
      () => theCell(facts, set)
    ];
    const held =
      root.ownerDocument.activeElement instanceof HTMLInputElement ? root.ownerDocument.activeElement : null;
    const value = held !== null && body.contains(held) ? held.value : null;
    body.replaceChildren(...screens[screen]!());
    if (value !== null) {
      body.querySelector<HTMLInputElement>(`input[value="${CSS.escape(value)}"]`)?.focus();
    }
    const lacks = missing(facts, set, screen, link.alive?.());
    why.textContent = facts.problem === '' ? lacks : facts.problem;
    back.disabled = screen === 0;
    next.hidden = screen === SCREENS.length - 1;
    next.disabled = lacks !== '';
  }

  show();
  // a slider under the hand is left alone: the kernel's echo of its own loss changes nothing
  let last = JSON.stringify(link.facts());
  return {
    update: () => {
      const facts = JSON.stringify(link.facts());
      if (facts !== last) {
        last = facts;
        show();
      }
    }
  };
}
