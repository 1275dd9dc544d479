/** The model builder: variables dragged onto y ← x, or chosen by keyboard, become the cell that asks moments and regresses on them. */
import { COLUMN, type Insert } from './columns';
import { html, set } from '../parts/dom';
import { releaseButton } from '../parts/release';
import type { Column, Dataset } from '../parts/session_state';
import type { Answer } from '../parts/widget';

export interface Model {
  readonly y: string;
  readonly x: readonly string[];
}

export type Zone = 'y' | 'x';

/** Put a column on one side of a model: it leaves the other side, and y holds one. */
export function placed(model: Model, zone: Zone, column: string): Model {
  const x = model.x.filter(one => one !== column);
  if (zone === 'y') {
    return { y: column, x };
  }
  return { y: model.y === column ? '' : model.y, x: [...x, column] };
}

/** Take a column off a model. */
export function without(model: Model, column: string): Model {
  return { y: model.y === column ? '' : model.y, x: model.x.filter(one => one !== column) };
}

export interface Written {
  readonly cell: string;
  readonly cost: string;
  readonly words: string;
  readonly free: boolean;
  readonly problem: string;
}

/** What the kernel says of a model; silence is said too. */
export function writtenOf(answer: Answer | null): Written {
  const word = (name: string): string => {
    const found = answer?.[name];
    return typeof found === 'string' ? found : '';
  };
  const silent =
    answer === null ? 'The kernel did not answer. It may be busy: change something to ask again.' : '';
  return {
    cell: word('cell'),
    cost: word('cost'),
    words: word('words'),
    free: answer?.free === true,
    problem: silent || word('problem')
  };
}

type Ask = (question: Readonly<Record<string, unknown>>) => Promise<Answer | null>;

export interface ModelView {
  readonly node: HTMLElement;
  readonly show: (one: Dataset) => void;
}

const WAIT = 120;

export function modelView(ask: Ask, insert?: Insert): ModelView {
  let one: Dataset | null = null;
  let model: Model = { y: '', x: [] };
  let [cell, asked, timer, drawn] = ['', 0, 0, ''];
  const variables = html('div', { class: 'asks' });
  const said = html('p', { class: 'say', role: 'status' });
  const problem = html('p', { class: 'warn', role: 'status' });
  const text = html('code', { class: 'cell' });
  const release = releaseButton(() => cell);
  const put = html('button', { type: 'button' }, 'Put into the cell');
  const loss = html('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off', placeholder: '0.5' });
  const pay = html('label', { class: 'pay' }, html('span', {}, 'ε'), ' ', loss);
  const result = html(
    'div',
    { hidden: '' },
    html('pre', {}, text),
    said,
    html('div', { class: 'buttons' }, release.node, ...(insert === undefined ? [] : [put]))
  );

  const chip = (column: Column): HTMLElement => {
    const node = html('span', { class: 'chip', draggable: 'true', title: column.kind }, column.name);
    node.addEventListener('dragstart', event => {
      event.dataTransfer?.setData(COLUMN, JSON.stringify([one?.name, column.name]));
      event.dataTransfer?.setData('text/plain', column.spoken);
    });
    return node;
  };
  const zone = (
    name: Zone,
    words: string
  ): { node: HTMLElement; fill: (columns: readonly Column[]) => void } => {
    const held = html('div', { class: 'held' });
    const choice = html('select', { 'aria-label': words });
    const node = html(
      'div',
      { class: 'zone', 'data-zone': name },
      html('span', { class: 'soft' }, words),
      held,
      choice
    );
    node.addEventListener('dragover', event => {
      if (event.dataTransfer?.types.includes(COLUMN) === true) {
        event.preventDefault();
        set(node, { 'data-over': '' });
      }
    });
    node.addEventListener('dragleave', () => node.removeAttribute('data-over'));
    node.addEventListener('drop', event => {
      node.removeAttribute('data-over');
      const column = dropped(event.dataTransfer?.getData(COLUMN) ?? '', one);
      event.preventDefault();
      if (column !== null) {
        change(placed(model, name, column));
      }
    });
    choice.addEventListener('change', () => {
      if (choice.value !== '') {
        change(placed(model, name, choice.value));
        choice.focus();
      }
    });
    const fill = (columns: readonly Column[]): void => {
      const has = name === 'y' ? (model.y === '' ? [] : [model.y]) : model.x;
      held.replaceChildren(
        ...has.map(column => {
          const off = html(
            'button',
            { type: 'button', class: 'off', 'aria-label': `take ${column} off ${name}` },
            '×'
          );
          off.addEventListener('click', () => {
            change(without(model, column));
            choice.focus();
          });
          return html('span', { class: 'chip set' }, column, ' ', off);
        })
      );
      const free = columns.filter(column => !has.includes(column.name));
      const first = has.length === 0 ? 'drop or choose …' : name === 'y' ? 'another …' : 'and …';
      choice.replaceChildren(
        html('option', { value: '' }, first),
        ...free.map(column => html('option', { value: column.name }, column.name))
      );
      choice.value = '';
    };
    return { node, fill };
  };
  const y = zone('y', 'y, explained');
  const x = zone('x', 'x, explaining');

  function usable(): Column[] {
    return one?.columns.filter(column => column.numeric) ?? [];
  }
  function change(next: Model): void {
    model = next;
    y.fill(usable());
    x.fill(usable());
    price();
  }
  function price(): void {
    clearTimeout(timer);
    const mine = ++asked;
    if (one === null || model.y === '' || model.x.length === 0) {
      result.hidden = true;
      problem.textContent = '';
      return;
    }
    const question = {
      ask: 'model',
      dataset: one.name,
      y: model.y,
      x: [...model.x],
      loss: loss.value.trim()
    };
    timer = window.setTimeout(() => {
      void ask(question).then(answer => {
        if (mine === asked) {
          write(writtenOf(answer));
        }
      });
    }, WAIT);
  }
  function write(found: Written): void {
    cell = found.cell;
    result.hidden = cell === '';
    problem.textContent = found.problem;
    text.textContent = cell;
    said.textContent = [found.cost === '' ? '' : `Cost: ${found.cost}.`, found.words]
      .filter(Boolean)
      .join(' ');
    release.button.textContent = found.free ? 'Run it, free' : 'Release';
    release.button.disabled = found.problem !== '';
    pay.hidden = found.free && found.cost === 'free';
  }
  loss.addEventListener('input', price);
  put.addEventListener('click', () => {
    if (insert?.(cell) === false) {
      problem.textContent = 'Click into a code cell first: it is put there.';
    }
  });
  return {
    node: html(
      'details',
      {},
      html('summary', {}, 'Build a regression'),
      html(
        'p',
        { class: 'soft' },
        'Drag variables onto y and x, or choose them. Moments are paid for once; every regression on them is free.'
      ),
      variables,
      html('div', { class: 'zones' }, y.node, html('span', { 'aria-hidden': 'true' }, '←'), x.node),
      pay,
      problem,
      result
    ),
    show: next => {
      one = next;
      const key = JSON.stringify(next.columns.map(column => column.name));
      if (key !== drawn) {
        drawn = key;
        pay.firstElementChild!.textContent = `${next.symbol} for the moments`;
        set(loss, { placeholder: next.symbol === 'ε' ? '0.5' : '0.05' });
        variables.replaceChildren(...usable().slice(0, 40).map(chip));
        y.fill(usable());
        x.fill(usable());
      }
      price(); // what is left, and what is held, may be other than before
    }
  };
}

/** The column that was dropped, if it is one of this dataset that a regression can use. */
export function dropped(data: string, one: Pick<Dataset, 'name' | 'columns'> | null): string | null {
  try {
    const [dataset, column] = JSON.parse(data) as [unknown, unknown];
    const known = one?.columns.some(other => other.name === column && other.numeric);
    return dataset === one?.name && known === true ? String(column) : null;
  } catch {
    return null; // something else was dropped
  }
}
