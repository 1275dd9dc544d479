/** The columns of a dataset, each to be put into a cell, as it is or as a ready question: by click, by key, or by drag. */
import { coded, html, type Part } from '../parts/dom';
import { take, type Taken } from '../parts/insert';
import { finder } from '../parts/search';
import { foundOf, MANY, named, SHOWN } from './model';
import type { Column, Dataset } from '../parts/session_state';

/** Puts text into the cell at hand; false where there is none. */
export type Insert = (text: string) => boolean;

/** The type under which a column is dragged inside a panel: its dataset and its name. */
export const COLUMN = 'application/x-dpnb-column';

const SAID: Readonly<Record<Taken | 'refused', string>> = {
  written: 'Put into the cell.',
  copied: 'Copied: paste it into a cell.',
  shown: 'Copy it into a cell.',
  refused: 'Click into a code cell first: it is put there.'
};

/** Gives a text to the cell at hand, or to the notebook around, and says what became of it. */
function giver(said: HTMLElement, insert?: Insert): (from: HTMLElement, text: string) => void {
  const tell = (text: string, became: keyof typeof SAID): void => {
    said.replaceChildren(html('code', {}, ...coded(text)), ` ${SAID[became]}`);
  };
  return (from, text) => {
    if (insert !== undefined) {
      tell(text, insert(text) ? 'written' : 'refused');
      return;
    }
    void take(from, text).then(became => tell(text, became));
  };
}

/** A column as it is dragged inside a panel: its dataset and its name. */
type DraggedColumn = readonly [dataset: string, name: string];

/** Give an element, where it is dragged to, as text; inside a panel as the column that it is. */
export function drag(node: HTMLElement, text: string, column?: DraggedColumn): void {
  node.addEventListener('dragstart', event => {
    event.dataTransfer?.setData('text/plain', text);
    if (column !== undefined) {
      event.dataTransfer?.setData(COLUMN, JSON.stringify(column));
    }
  });
}

/** What can be taken: not a button, which Firefox does not let be dragged. */
function chip(
  words: string,
  text: string,
  give: (from: HTMLElement, text: string) => void,
  column?: DraggedColumn
): HTMLElement {
  const node = html(
    'span',
    { class: 'chip', role: 'button', tabindex: 0, draggable: 'true', title: `put ${text} into the cell` },
    words
  );
  node.addEventListener('click', () => give(node, text));
  node.addEventListener('keydown', event => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      give(node, text);
    }
  });
  drag(node, text, column);
  return node;
}

/** One column of the list: itself, and the questions that are ready to be asked of it. */
function item(column: Column, dataset: string, give: (from: HTMLElement, text: string) => void): HTMLElement {
  const itself = chip(column.name, column.spoken, give, [dataset, column.name]);
  return html(
    'li',
    {},
    html('div', { class: 'entry' }, itself, html('span', { class: 'soft' }, ...coded(column.kind))),
    column.label === column.name ? null : html('p', { class: 'soft' }, column.label),
    html('div', { class: 'asks' }, ...column.asks.map(ready => chip(ready.words, ready.line, give)))
  );
}

/** The list; without `insert`, the notebook around is offered the line, or the clipboard. */
export function columnsView(insert?: Insert): Part<[one: Dataset]> {
  const said = html('p', { class: 'soft', role: 'status' });
  const summary = html('summary', {});
  const unit = html('p', { class: 'soft' });
  const find = finder('find a column', () => draw());
  const search = html('p', { class: 'find' }, find);
  const body = html('ul', { class: 'columns' });
  const give = giver(said, insert);
  let [one, drawn]: [Dataset | null, string] = [null, ''];

  const draw = (): void => {
    if (one === null) {
      return;
    }
    const { name } = one;
    const found = named(one.columns, find.value);
    body.replaceChildren(...found.slice(0, SHOWN).map(column => item(column, name, give)));
    said.textContent = foundOf(found.length);
  };
  return {
    node: html(
      'details',
      {},
      summary,
      unit,
      html('p', { class: 'soft' }, 'Click, or drag into a cell: a column, or a ready question.'),
      search,
      body,
      said
    ),
    show: next => {
      const key = JSON.stringify([next.handle, next.columns]);
      one = next;
      if (key === drawn) {
        return; // a schema does not change with a charge: what is in use stays
      }
      drawn = key;
      summary.textContent = `${next.columns.length} columns`;
      unit.textContent = `Privacy unit: ${next.unit}.`;
      search.hidden = next.columns.length < MANY;
      draw();
    }
  };
}
