/** The model builder: variables dragged onto y ← x, or chosen by keyboard, become the cell that asks moments and regresses on them. */
import { COLUMN, drag, type Insert } from './columns';
import { button, coded, html, set, type Part } from '../parts/dom';
import { dataTable } from '../parts/layout';
import {
  costOf,
  dropped,
  placed,
  prompt,
  questionOf,
  SHOWN,
  standing,
  usable,
  widthWords,
  without,
  writtenOf,
  type Formula,
  type Written,
  type Zone
} from './model';
import { releaseButton } from '../parts/release';
import type { Column, Dataset } from '../parts/session_state';
import type { Answer } from '../parts/widget';

type Ask = (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;

const WAIT = 120;

/** The formula being built, and the dataset of its columns. */
interface Builder {
  readonly dataset: () => Dataset | null;
  readonly formula: () => Formula;
  readonly change: (next: Formula) => void;
}

/** A variable, to be dragged onto a side. */
function chip({ name, kind, spoken }: Column, dataset: string): HTMLElement {
  const node = html('span', { class: 'chip', draggable: 'true', title: kind }, name);
  drag(node, spoken, [dataset, name]);
  return node;
}

/** Make an element a place where variables are dropped. */
function droppable(node: HTMLElement, { dataset }: Builder, take: (column: string) => void): void {
  node.addEventListener('dragover', event => {
    if (event.dataTransfer?.types.includes(COLUMN) === true) {
      event.preventDefault();
      set(node, { 'data-over': '' });
    }
  });
  node.addEventListener('dragleave', () => node.removeAttribute('data-over'));
  node.addEventListener('drop', event => {
    node.removeAttribute('data-over');
    const column = dropped(event.dataTransfer?.getData(COLUMN) ?? '', dataset());
    event.preventDefault();
    if (column !== null) {
      take(column);
    }
  });
}

/** A variable on its side, and the button that takes it off. */
function taken(column: string, zone: Zone, off: () => void): HTMLElement {
  const takes = button('×', off, { class: 'off', 'aria-label': `take ${column} off ${zone}` });
  return html('span', { class: 'chip set' }, column, ' ', takes);
}

/** One side of the formula. */
function side(zone: Zone, words: string, builder: Builder): { node: HTMLElement; fill: () => void } {
  const held = html('div', { class: 'held' });
  const choice = html('select', { 'aria-label': words });
  const node = html(
    'div',
    { class: 'zone', 'data-zone': zone },
    html('span', { class: 'soft' }, words),
    held,
    choice
  );
  const take = (column: string): void => builder.change(placed(builder.formula(), zone, column));
  droppable(node, builder, take);
  choice.addEventListener('change', () => {
    if (choice.value !== '') {
      take(choice.value);
      choice.focus();
    }
  });
  const off = (column: string): void => {
    builder.change(without(builder.formula(), column));
    choice.focus();
  };
  return {
    node,
    fill: () => {
      const has = standing(builder.formula(), zone);
      const free = usable(builder.dataset()).filter(column => !has.includes(column.name));
      held.replaceChildren(...has.map(column => taken(column, zone, () => off(column))));
      choice.replaceChildren(
        html('option', { value: '' }, prompt(zone, has)),
        ...free.map(column => html('option', { value: column.name }, column.name))
      );
      choice.value = '';
    }
  };
}

/** The ± that each coefficient is expected to have, before anything is bought. */
function expectation(): Part<[found: Written]> {
  const [rows, given] = [html('tbody', {}), html('p', { class: 'soft' })];
  const warning = html('p', { class: 'warn', role: 'status' });
  const table = dataTable(['coefficient', 'expected ± (95 %)'], rows, 'expected');
  const node = html('div', { hidden: '' }, table, given, warning);
  return {
    node,
    show: ({ coefficients, given: words, warning: known }) => {
      node.hidden = coefficients.length === 0;
      rows.replaceChildren(
        ...coefficients.map(one =>
          html('tr', {}, html('th', { scope: 'row' }, one.name), html('td', {}, widthWords(one)))
        )
      );
      given.textContent = words;
      warning.textContent = known;
    }
  };
}

/** What the kernel wrote, what it costs, and what can be done with it. */
function writing(insert?: Insert): {
  readonly problem: HTMLElement;
  readonly result: HTMLElement;
  readonly show: (found: Written) => void;
  readonly clear: () => void;
} {
  let cell = '';
  const text = html('code', { class: 'cell' });
  const said = html('p', { class: 'say', role: 'status' });
  const expected = expectation();
  const problem = html('p', { class: 'warn', role: 'status' });
  const release = releaseButton(() => cell);
  const put = button('Put into the cell', () => {
    if (insert?.(cell) === false) {
      problem.textContent = 'Click into a code cell first: it is put there.';
    }
  });
  const result = html(
    'div',
    { hidden: '' },
    html('pre', {}, text),
    said,
    expected.node,
    html('div', { class: 'buttons' }, release.node, ...(insert === undefined ? [] : [put]))
  );
  return {
    problem,
    result,
    show: found => {
      cell = found.cell;
      result.hidden = cell === '';
      problem.textContent = found.problem;
      text.replaceChildren(...coded(cell));
      said.textContent = costOf(found);
      expected.show(found);
      release.button.textContent = found.free ? 'Run it, free' : 'Release';
      release.allow(found.problem === '');
    },
    clear: () => {
      result.hidden = true;
      problem.textContent = '';
    }
  };
}

/** The loss that is paid for the moments. */
function payment(changed: () => void): {
  readonly node: HTMLElement;
  readonly typed: () => string;
  readonly measure: (symbol: string) => void;
} {
  const loss = html('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off', placeholder: '0.5' });
  const symbol = html('span', {}, 'ε');
  loss.addEventListener('input', changed);
  return {
    node: html('label', { class: 'pay' }, symbol, ' ', loss),
    typed: () => loss.value,
    measure: name => {
      symbol.textContent = `${name} for the moments`;
      set(loss, { placeholder: name === 'ε' ? '0.5' : '0.05' });
    }
  };
}

const HINT =
  'Drag variables onto y and x, or choose them. Moments are paid for once; every regression on them is free.';

export function regressionView(ask: Ask, insert?: Insert): Part<[one: Dataset]> {
  let one: Dataset | null = null;
  let formula: Formula = { y: '', x: [] };
  let [asked, timer, drawn] = [0, 0, ''];
  const builder: Builder = {
    dataset: () => one,
    formula: () => formula,
    change: next => {
      formula = next;
      fill();
      price();
    }
  };
  const variables = html('div', { class: 'asks' });
  const [y, x] = [side('y', 'y, explained', builder), side('x', 'x, explaining', builder)];
  const pay = payment(price);
  const written = writing(insert);

  const fill = (): void => [y, x].forEach(one => one.fill());
  function price(): void {
    clearTimeout(timer);
    const mine = ++asked;
    const question = questionOf(one?.name, formula, pay.typed());
    if (question === null) {
      written.clear();
      return;
    }
    timer = window.setTimeout(() => {
      void ask(question).then(answer => {
        if (mine === asked) {
          const found = writtenOf(answer);
          written.show(found);
          pay.node.hidden = found.free && found.cost === 'free';
        }
      });
    }, WAIT);
  }
  return {
    node: html(
      'details',
      {},
      html('summary', {}, 'Build a regression'),
      html('p', { class: 'soft' }, HINT),
      variables,
      html('div', { class: 'zones' }, y.node, html('span', { 'aria-hidden': 'true' }, '←'), x.node),
      pay.node,
      written.problem,
      written.result
    ),
    show: next => {
      one = next;
      const key = JSON.stringify(next.columns.map(column => column.name));
      if (key !== drawn) {
        drawn = key;
        pay.measure(next.symbol);
        variables.replaceChildren(
          ...usable(one)
            .slice(0, SHOWN)
            .map(column => chip(column, next.name))
        );
        fill();
      }
      price(); // what is left, and what is held, may be other than before
    }
  };
}
