/** The columns of a dataset, each to be put into a cell, as it is or as a ready question: by click, by key, or by drag. */
import { html } from '../parts/dom';
import { take, type Taken } from '../parts/insert';
import type { Column, Dataset } from '../parts/session_state';

/** Puts text into the cell at hand; false where there is none. */
export type Insert = (text: string) => boolean;

/** The type under which a column is dragged inside a panel: its dataset and its name. */
export const COLUMN = 'application/x-dpnb-column';

const MANY = 8;
const SHOWN = 40;

const SAID: Readonly<Record<Taken | 'refused', string>> = {
  written: 'Put into the cell.',
  copied: 'Copied: paste it into a cell.',
  shown: 'Copy it into a cell.',
  refused: 'Click into a code cell first: it is put there.'
};

/** The columns whose name, meaning or kind has every word that was typed. */
export function named(columns: readonly Column[], typed: string): Column[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return columns.filter(one => {
    const text = `${one.name} ${one.label} ${one.kind}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
}

export interface ColumnsView {
  readonly node: HTMLElement;
  readonly show: (one: Dataset) => void;
}

/** The list; without `insert`, the notebook around is offered the line, or the clipboard. */
export function columnsView(insert?: Insert): ColumnsView {
  const said = html('p', { class: 'soft', role: 'status' });
  const summary = html('summary', {});
  const unit = html('p', { class: 'soft' });
  const find = html('input', {
    type: 'text',
    'aria-label': 'find a column',
    placeholder: 'find a column',
    autocomplete: 'off'
  });
  const search = html('p', { class: 'find' }, find);
  const body = html('ul', { class: 'columns' });
  let [one, drawn]: [Dataset | null, string] = [null, ''];

  const tell = (text: string, became: keyof typeof SAID): void => {
    said.replaceChildren(html('code', {}, text), ` ${SAID[became]}`);
  };
  const give = (from: HTMLElement, text: string): void => {
    if (insert !== undefined) {
      tell(text, insert(text) ? 'written' : 'refused');
      return;
    }
    void take(from, text).then(became => tell(text, became));
  };
  /** What can be taken: not a button, which Firefox does not let be dragged. */
  const chip = (words: string, text: string, column?: string): HTMLElement => {
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
    node.addEventListener('dragstart', event => {
      event.dataTransfer?.setData('text/plain', text);
      if (column !== undefined) {
        event.dataTransfer?.setData(COLUMN, JSON.stringify([one?.name, column]));
      }
    });
    return node;
  };
  const item = (column: Column): HTMLElement =>
    html(
      'li',
      {},
      html(
        'div',
        { class: 'entry' },
        chip(column.name, column.spoken, column.name),
        html('span', { class: 'soft' }, column.kind)
      ),
      column.label === column.name ? null : html('p', { class: 'soft' }, column.label),
      html('div', { class: 'asks' }, ...column.asks.map(ready => chip(ready.words, ready.line)))
    );
  const draw = (): void => {
    if (one === null) {
      return;
    }
    const found = named(one.columns, find.value);
    body.replaceChildren(...found.slice(0, SHOWN).map(item));
    const hidden = found.length - SHOWN;
    said.textContent =
      found.length === 0 ? 'No column is like that.' : hidden > 0 ? `${hidden} more: type to find one.` : '';
  };
  find.addEventListener('input', draw);
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
        return; // a schema does not change with a charge: what is under the hand stays
      }
      drawn = key;
      summary.textContent = `${next.columns.length} columns`;
      unit.textContent = `Privacy unit: ${next.unit}.`;
      search.hidden = next.columns.length < MANY;
      draw();
    }
  };
}
