/** Plan before you spend: the questions of a cell, their shares under the hand, and a button that leaves the cell behind. */
import { divide, wholeWeights } from '../maths/budget';
import { halfWidth, significant } from '../maths/digits';
import { widthAt, type Curve } from '../maths/curve';
import { brief } from './parts/state';
import { announcer, eachFrame, html, set, svg } from './parts/dom';
import { draggable } from './parts/pointer';
import { releaseButton } from './parts/release';
import { slider } from './parts/slider';
import { widget, type Link, type View } from './parts/widget';

export interface PlannedQuestion {
  readonly name: string;
  readonly text: string;
  /** ± by loss; null where public facts do not give it. */
  readonly curve: Curve | null;
  /** What is known instead of ±, and the loss for which the kernel said so. */
  readonly words: string;
  readonly at: number;
  readonly stored: boolean;
  /** Whether the magic line can name it in weights=. */
  readonly nameable: boolean;
}

export interface PlanFacts {
  readonly dataset: string;
  readonly kind: 'epsilon' | 'rho';
  readonly symbol: 'ε' | 'ρ';
  readonly loss: number;
  readonly left: number;
  readonly shares: readonly number[];
  readonly questions: readonly PlannedQuestion[];
  /** The body of the cell that asks this. */
  readonly body: string;
  readonly problem: string;
}

export interface PlanSet {
  loss: number;
  shares: number[];
}

const [W, H] = [640, 34];
const LEAST = 0.01;

/** The cell that releases a plan as it stands: the loss and the weights on the magic line, the body untouched. */
export function cellOf(facts: PlanFacts, loss: number, shares: readonly number[]): string {
  const weights = wholeWeights(shares);
  const paid = facts.questions.filter(one => !one.stored);
  const named = paid.map((one, i) => [one.name, weights[i] ?? 1] as const);
  const equal = weights.every(weight => weight === weights[0]);
  const written =
    equal || !paid.every(one => one.nameable)
      ? ''
      : ` weights=${named.map(([name, w]) => `${name}:${w}`).join(',')}`;
  return `%%dp ${facts.kind}=${significant(loss, 3)}${written}\n${facts.body}`;
}

/** The shares at which every question has the same ± relative to what it would have alone. */
export function evened(curves: readonly (Curve | null)[], loss: number): number[] {
  const needs = curves.map(curve =>
    curve === null ? 1 : widthAt(curve, loss) / widthAt(curve, curve.loss[0]!)
  );
  const sum = needs.reduce((a, b) => a + b, 0);
  return needs.map(need => need / sum);
}

function draw(root: HTMLElement, link: Link<PlanFacts, PlanSet>): View {
  const first = link.facts();
  const paid = first.questions.filter(one => !one.stored);
  let loss = link.chosen().loss ?? first.loss;
  let shares = [...(link.chosen().shares ?? first.shares)];
  let held = 0;

  const board = svg('svg', {
    viewBox: `0 0 ${W} ${H}`,
    class: 'plot',
    role: 'group',
    'aria-label': 'how the loss is split'
  });
  const blocks = paid.map((_, i) =>
    svg('rect', { y: 4, height: H - 8, class: 'pv', opacity: i % 2 === 0 ? 0.9 : 0.6 })
  );
  const handles = paid.slice(1).map((one, i) =>
    svg('rect', {
      y: 0,
      width: 9,
      height: H,
      rx: 3,
      class: 'handle',
      tabindex: 0,
      role: 'slider',
      'aria-label': `divider between ${paid[i]!.name} and ${one.name}`,
      'aria-valuemin': 0,
      'aria-valuemax': 100
    })
  );
  const names = paid.map(one => svg('text', { y: H / 2 + 5, class: 'inside' }, one.name));
  board.append(...blocks, ...names, ...handles);
  const rows = first.questions.map((one, place) => {
    const width = html('td', {}, '');
    const cost = html('td', { class: 'num' }, '');
    const name = html('th', { scope: 'row' }, one.name);
    if (one.name !== one.text) {
      name.append(html('br'), html('code', {}, one.text));
    }
    return { place, width, cost, row: html('tr', {}, name, width, cost) };
  });
  const said = announcer();
  const problem = html('p', { class: 'warn', role: 'status' });
  const frame = eachFrame(() => show());
  const tell = (): void => link.choose({ loss, shares });
  const range = { low: Math.min(0.01, first.loss), high: Math.max(10, first.loss) };
  const losses = slider({
    label: `${first.symbol} of this cell`,
    range,
    value: loss,
    ends: ['more private', 'more accurate'],
    input: value => {
      loss = value;
      frame.ask();
    },
    change: tell
  });
  const preset = (label: string, make: () => number[]): HTMLButtonElement => {
    const button = html('button', { type: 'button' }, label);
    button.addEventListener('click', () => {
      shares = make();
      tell();
      frame.ask();
    });
    return button;
  };
  const equal = preset('Equal shares', () => paid.map(() => 1 / paid.length));
  const even = preset('Even out the relative ±', () =>
    evened(
      paid.map(one => one.curve),
      loss
    )
  );
  const release = releaseButton(() => cellOf(link.facts(), loss, shares));
  const cell = html('code', { class: 'cell' });

  root.append(
    html(
      'div',
      { class: 'head' },
      html('h3', {}, `Plan for ${first.dataset}`),
      html('span', { class: 'soft' }, 'Nothing was spent.')
    ),
    losses.node,
    ...(paid.length > 1
      ? [
          html(
            'p',
            { class: 'say' },
            html('strong', {}, 'The split: '),
            html('span', { class: 'soft' }, 'drag a divider')
          ),
          board
        ]
      : []),
    html(
      'div',
      { class: 'scroll' },
      html(
        'table',
        {},
        html(
          'thead',
          {},
          html(
            'tr',
            {},
            html('th', {}, 'question'),
            html('th', {}, 'expected accuracy (95 %)'),
            html('th', { class: 'num' }, 'cost')
          )
        ),
        html('tbody', {}, ...rows.map(row => row.row))
      )
    ),
    said,
    html('p', { class: 'say' }, html('span', { class: 'soft' }, 'This cell: '), cell),
    html('div', { class: 'buttons' }, release.node, ...(paid.length > 1 ? [equal, even] : [])),
    problem
  );

  function show(): void {
    const facts = link.facts();
    let from = 0;
    shares.forEach((share, i) => {
      set(blocks[i]!, { x: from * W, width: Math.max(share * W - 2, 1) });
      set(names[i]!, {
        x: from * W + 10,
        visibility: share * W > paid[i]!.name.length * 8 + 24 ? 'visible' : 'hidden'
      });
      from += share;
      const handle = handles[i];
      if (handle !== undefined) {
        const words = `${paid[i]!.name} ${facts.symbol} ${brief(loss * share)}, ${paid[i + 1]!.name} ${facts.symbol} ${brief(loss * shares[i + 1]!)}`;
        set(handle, { x: from * W - 5.5, 'aria-valuenow': Math.round(100 * from), 'aria-valuetext': words });
      }
    });
    let next = 0;
    for (const { place, width, cost } of rows) {
      const one = facts.questions[place]!;
      if (one.stored) {
        width.textContent = one.words;
        cost.textContent = `stored · ${facts.symbol} 0`;
        continue;
      }
      const mine = loss * shares[next++]!;
      width.textContent =
        one.curve !== null
          ? `± ${halfWidth(widthAt(one.curve, mine))}`
          : Math.abs(mine - one.at) <= 0.011 * mine
            ? one.words
            : '… let go to see';
      cost.textContent = `${facts.symbol} ${brief(mine)}`;
    }
    const total = paid.length === 0 ? 0 : loss;
    const fits = total <= facts.left * (1 + 1e-9);
    said.className = fits ? 'say' : 'say warn';
    said.textContent = fits
      ? `This cell would cost ${facts.symbol} ${brief(total)}; ${facts.symbol} ${brief(facts.left - total)} would be left.`
      : `Only ${facts.symbol} ${brief(facts.left)} is left: this would be refused. Ask less, or drop a question.`;
    release.button.disabled = !fits;
    cell.textContent = cellOf(facts, loss, shares).split('\n')[0]!;
    losses.words(`${facts.symbol} ${brief(loss)}: ${said.textContent}`);
    losses.show(loss);
    problem.textContent = facts.problem;
  }

  draggable(board, {
    start: at => {
      const edges = shares.slice(0, -1).map((_, i) => shares.slice(0, i + 1).reduce((a, b) => a + b, 0) * W);
      const far = edges.map(edge => Math.abs(edge - at));
      held = far.indexOf(Math.min(...far));
      return far[held]! < 30;
    },
    move: at => {
      shares = divide(shares, held, at / W, LEAST);
      frame.ask();
    },
    end: tell
  });
  handles.forEach((handle, i) =>
    handle.addEventListener('keydown', event => {
      const ways: Record<string, number> = {
        ArrowRight: LEAST,
        ArrowUp: LEAST,
        ArrowLeft: -LEAST,
        ArrowDown: -LEAST
      };
      const way = ways[event.key];
      if (way !== undefined) {
        event.preventDefault();
        const edge = shares.slice(0, i + 1).reduce((a, b) => a + b, 0);
        shares = divide(shares, i, edge + way, LEAST);
        tell();
        frame.ask();
      }
    })
  );

  show();
  return {
    update: () => {
      loss = link.chosen().loss ?? loss;
      shares = [...(link.chosen().shares ?? shares)];
      show();
    },
    dispose: frame.stop
  };
}

export default widget(draw);
