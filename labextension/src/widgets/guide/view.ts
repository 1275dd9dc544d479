/** A first question in five small screens. The kernel writes and prices it; the last screen shows the cell that asks. */
import { html } from '../parts/dom';
import { lossWords } from '../parts/loss_words';
import { releaseButton } from '../parts/release';
import { slider } from '../parts/slider';
import { widget, type Link, type View } from '../parts/widget';
import { choices } from './choices';
import {
  boughtBy,
  cellOf,
  columnsOf,
  comparisonsOf,
  isLast,
  lossOf,
  missing,
  planOf,
  SCREENS,
  screenOf,
  type GuideFacts,
  type GuideSet
} from './model';

/** What a screen draws: from the facts and what is set, and `take` hears what the user sets on it. */
type Screen = (facts: GuideFacts, set: Partial<GuideSet>, hand: Hand) => Node[];

interface Hand {
  /** Set some of it, and draw the screen anew. */
  readonly take: (part: Partial<GuideSet>) => void;
  /** Set some of it; the screen stands as it is. */
  readonly choose: (part: Partial<GuideSet>) => void;
}

const whatToKnow: Screen = (facts, set, { take }) => [
  choices(
    'What do you want to know?',
    facts.goals.map(({ id, words }) => ({ id, words })),
    set.goal,
    goal => take({ goal })
  )
];

const ofWhat: Screen = (facts, set, { take }) => {
  const groups = comparisonsOf(facts, set);
  const columns = choices('Of which column?', columnsOf(facts, set), set.column, column => take({ column }));
  return groups === null
    ? [columns]
    : [columns, choices('Between which two groups?', groups, set.by, by => take({ by }))];
};

const whoIsProtected: Screen = facts => [
  html('p', {}, `${facts.unit}.`),
  html('p', { class: 'soft' }, facts.mode)
];

const howAccurate: Screen = (facts, set, { choose }) => {
  const plan = planOf(facts, set);
  if (plan?.symbol === undefined) {
    return [];
  }
  const loss = lossOf(plan, set);
  const said = html('p', { class: 'say', 'aria-live': 'polite' });
  const tell = (value: number): void => {
    said.textContent = boughtBy(plan, value);
    control.words(lossWords(plan.kind ?? 'epsilon', value, said.textContent));
  };
  const control = slider({
    label: plan.symbol,
    range: { low: 0.01, high: 10 },
    value: loss,
    input: tell,
    change: value => choose({ loss: value })
  });
  tell(loss);
  if (set.loss === undefined) {
    choose({ loss });
  }
  return [control.node, said];
};

const theCell: Screen = (facts, set) => {
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
};

/** The screens, in the order of their names. */
const DRAWN: readonly Screen[] = [whatToKnow, ofWhat, whoIsProtected, howAccurate, theCell];

/** Draw a screen anew; a choice that has the focus keeps it. */
function redraw(body: HTMLElement, nodes: readonly Node[]): void {
  const { activeElement } = body.ownerDocument;
  const held = activeElement instanceof HTMLInputElement && body.contains(activeElement);
  const value = held ? activeElement.value : null;
  body.replaceChildren(...nodes);
  if (value !== null) {
    body.querySelector<HTMLInputElement>(`input[value="${CSS.escape(value)}"]`)?.focus();
  }
}

interface Frame {
  readonly head: HTMLElement;
  readonly steps: HTMLElement;
  readonly body: HTMLElement;
  readonly why: HTMLElement;
  readonly back: HTMLButtonElement;
  readonly next: HTMLButtonElement;
}

/** What stands around every screen: the title, the steps, what is lacking, and the way back and on. */
function frame(root: HTMLElement): Frame {
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
  return { head, steps, body, why, back, next };
}

function guideView(root: HTMLElement, link: Link<GuideFacts, GuideSet>): View {
  let screen = screenOf(link.chosen());
  const { head, steps, body, why, back, next } = frame(root);
  const lacks = (): string => missing(link.facts(), link.chosen(), screen, link.alive?.());

  const go = (to: number): void => {
    screen = to;
    link.choose({ screen });
    show();
    body.querySelector<HTMLElement>('input, button, textarea')?.focus();
  };
  back.addEventListener('click', () => go(screen - 1));
  next.addEventListener('click', () => {
    if (lacks() === '') {
      go(screen + 1);
    }
  });
  const hand: Hand = {
    choose: part => link.choose(part),
    take: part => {
      link.choose(part);
      show();
    }
  };

  function show(): void {
    const facts = link.facts();
    head.textContent = `A first question about ${facts.dataset}`;
    steps.replaceChildren(
      ...SCREENS.map((name, i) => html('li', { 'aria-current': i === screen ? 'step' : null }, name))
    );
    redraw(body, DRAWN[screen]!(facts, link.chosen(), hand));
    const lacking = lacks();
    why.textContent = facts.problem === '' ? lacking : facts.problem;
    back.disabled = screen === 0;
    next.hidden = isLast(screen);
    next.disabled = lacking !== '';
  }

  show();
  // a slider in use is left alone: the kernel's echo of its own loss changes nothing
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

export default widget(guideView);
