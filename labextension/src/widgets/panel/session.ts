/** The session as a person sees it: one view, in the notebook's output and in JupyterLab's side panel. */
import { livingBar } from '../parts/bar';
import { columnsView, type Insert } from './columns';
import { countingView } from '../parts/comparison';
import { button, html, type Part } from '../parts/dom';
import { ledgerView } from '../parts/ledger';
import { methodsOf, notice } from './model';
import type { Dataset, Link, Snapshot } from '../parts/session_state';
import type { Answer, Mounted } from '../parts/widget';
import { isPlanFacts, type PlanFacts } from '../plan/model';

/** Makes the board of a plan. It is brought when there is a plan to see: most panels never show one. */
type Board = (facts: PlanFacts) => Promise<Mounted<PlanFacts> | null>;

/** The facts of a plan, as the kernel answered; null where it gave none. */
function factsOf(answer: Answer | null): PlanFacts | null {
  const facts: unknown = answer?.facts;
  return isPlanFacts(facts) ? facts : null;
}

function plannedView(
  ask: (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>,
  make: Board
): Part<[one: Dataset, state: Snapshot]> {
  const cost = html('span', { class: 'soft' });
  const place = html('div', {});
  const node = html('details', { hidden: '' }, html('summary', {}, 'Current plan ', cost), place);
  let [key, number, turn] = ['', 0, 0];
  let board: Mounted<PlanFacts> | null = null;

  const bring = async (): Promise<void> => {
    const mine = ++turn;
    const facts = factsOf(await ask({ ask: 'plan' }));
    if (mine !== turn) {
      return;
    }
    if (facts === null) {
      key = ''; // asked again with the next state
      return;
    }
    if (board !== null) {
      board.show(facts);
      return;
    }
    const made = await make(facts);
    if (mine === turn && made !== null) {
      board = made;
      place.replaceChildren(made.node);
    } else {
      made?.dispose();
    }
  };
  const look = (): void => {
    if (node.open && !node.hidden && key === '') {
      key = 'asked';
      void bring();
    }
  };
  node.addEventListener('toggle', look);
  return {
    node,
    show: (one, state) => {
      const plan = state.plan?.dataset === one.name ? state.plan : null;
      node.hidden = plan === null;
      if (plan === null || plan.number !== number) {
        turn++;
        board?.dispose();
        board = null;
        place.replaceChildren();
        number = plan?.number ?? 0;
      }
      cost.textContent = plan?.cost ?? '';
      key = '';
      look();
    }
  };
}

export interface Actions {
  /** Put text into the active cell; where there is none around, a click offers it to the notebook instead. */
  readonly insert?: Insert;
  /** Ask the kernel a question that spends nothing. */
  readonly ask?: (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;
  /** Make the split board of a plan. */
  readonly board?: Board;
}

/** Put text on the clipboard; false where the browser does not allow it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or a page that is not served over https
  }
}

function paragraph(dataset: string, ask: NonNullable<Actions['ask']>): HTMLElement {
  const said = html('p', { class: 'soft', role: 'status' });
  const text = html('textarea', {
    readonly: '',
    hidden: '',
    rows: 7,
    class: 'methods',
    'aria-label': 'methods paragraph'
  });
  const copy = button('Copy as methods paragraph', () => {
    copy.disabled = true;
    void ask({ ask: 'methods', dataset }).then(async answer => {
      const found = methodsOf(answer);
      text.value = found.text;
      text.hidden = found.text === '';
      const done = found.text !== '' && (await copied(found.text));
      said.textContent = found.problem || (done ? 'Copied.' : 'Select the text and copy it.');
      copy.disabled = false;
    });
  });
  return html('div', {}, html('div', { class: 'buttons' }, copy), said, text);
}

type DatasetPart = Part<[one: Dataset, state: Snapshot]>;

/** The model builder, whose code comes after JupyterLab has started. */
function builder(ask: NonNullable<Actions['ask']>, insert?: Insert): DatasetPart {
  const node = html('div', {});
  let [last, made]: [Dataset | null, DatasetPart | null] = [null, null];
  void import(/* webpackChunkName: "panel-regression" */ './regression').then(({ regressionView }) => {
    const found = (made = regressionView(ask, insert));
    node.append(found.node);
    if (last !== null) {
      found.show(last);
    }
  });
  return {
    node,
    show: (one, state) => {
      last = one;
      made?.show(one, state);
    }
  };
}

/** One dataset: made once, and brought in step, so that what is typed, unfolded or being dragged stays. */
function datasetView(name: string, actions: Actions): DatasetPart {
  const title = html('h3', {});
  const code = html('code', {});
  const badge = html('span', { class: 'badge' });
  const words = html('p', {});
  const own = html('p', { class: 'soft' });
  const bar = livingBar();
  const counting = countingView();
  const parts: DatasetPart[] = [
    { node: bar.node, show: one => bar.show(one) },
    { node: words, show: () => undefined },
    { node: own, show: () => undefined },
    { node: counting.node, show: one => counting.show(one) },
    ...(actions.ask === undefined || actions.board === undefined
      ? []
      : [plannedView(actions.ask, actions.board)]),
    columnsView(actions.insert),
    ...(actions.ask === undefined ? [] : [builder(actions.ask, actions.insert)]),
    ledgerView(actions.ask)
  ];
  const more = actions.ask === undefined ? [] : [paragraph(name, actions.ask)];
  const node = html(
    'section',
    { 'aria-label': name },
    html('div', { class: 'head' }, html('div', {}, title, code), badge),
    ...parts.map(part => part.node),
    ...more
  );
  return {
    node,
    show: (one, state) => {
      title.textContent = one.title;
      code.textContent = one.handle === one.title ? '' : one.handle;
      badge.textContent = one.badge;
      badge.title = one.sentence;
      words.textContent = one.words;
      words.className = one.used >= 0.9 ? 'warn' : 'soft';
      own.textContent = one.own;
      own.hidden = one.own === '';
      parts.forEach(part => part.show(one, state));
    }
  };
}

interface View {
  readonly show: (link: Link, state: Snapshot | null) => void;
}

function sessionView(root: HTMLElement, actions: Actions): View {
  const said = html('p', { role: 'status' });
  const place = html('div', {});
  const made = new Map<string, DatasetPart>();
  root.replaceChildren(said, place);
  return {
    show: (link, state) => {
      said.textContent = notice(link, state);
      said.hidden = said.textContent === '';
      said.className = link === 'gone' ? 'warn stale' : '';
      const shown = (link === 'live' || link === 'gone') && state !== null ? state.datasets : [];
      for (const [name, part] of made) {
        if (!shown.some(one => one.name === name)) {
          part.node.remove();
          made.delete(name);
        }
      }
      for (const one of shown) {
        const part = made.get(one.name) ?? datasetView(one.name, actions);
        if (!made.has(one.name)) {
          made.set(one.name, part);
          place.append(part.node);
        }
        part.show(one, state!);
      }
    }
  };
}

const views = new WeakMap<HTMLElement, View>();

/** Draw the session into an element, or bring it in step there. */
export function session(root: HTMLElement, link: Link, state: Snapshot | null, actions: Actions = {}): void {
  const view = views.get(root) ?? sessionView(root, actions);
  views.set(root, view);
  view.show(link, state);
}
