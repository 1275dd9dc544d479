/** What a cell asks, as a table: a line for each question with its accuracy and its cost, and one for each derived value. */
import { coded, html } from '../parts/dom';
import { scrolling } from '../parts/scroll_region';
import { derivedWords, type Now, type PlanFacts } from './model';
import { costWords, isFree } from './split';

interface Row {
  readonly row: HTMLElement;
  readonly width: HTMLElement;
  readonly cost: HTMLElement;
  readonly box: HTMLInputElement | null;
}

function rowOf(name: string, text: string, box: HTMLInputElement | null): Row {
  const head = html('th', { scope: 'row' });
  head.append(...(box === null ? [name] : [html('label', { class: 'check' }, box, ` ${name}`)]));
  if (name !== text) {
    head.append(html('br'), html('code', {}, ...coded(text)));
  }
  const [width, cost] = [html('td', {}), html('td', { class: 'num' })];
  return { row: html('tr', {}, head, width, cost), width, cost, box };
}

function tick(name: string, ticked: (on: boolean) => void): HTMLInputElement {
  const box = html('input', { type: 'checkbox', checked: '', 'aria-label': `ask ${name}` });
  box.addEventListener('change', () => ticked(box.checked));
  return box;
}

export interface QuestionTable {
  readonly node: HTMLElement;
  readonly show: (facts: PlanFacts, now: readonly Now[]) => void;
}

/** The table; `ticked` hears which question of the split is asked or left out. */
export function questionTable(first: PlanFacts, ticked: (place: number, on: boolean) => void): QuestionTable {
  const free = isFree(first);
  let next = 0;
  const rows = first.questions.map(({ name, text, state, nameable }) => {
    const i = state === 'split' ? next++ : -1;
    return rowOf(name, text, free && i >= 0 && nameable ? tick(name, on => ticked(i, on)) : null);
  });
  const derived = first.derived.map(one => rowOf(one.name, one.text, null));
  const heads = ['question', 'expected accuracy (95 %)'].map(name => html('th', { scope: 'col' }, name));
  const table = html(
    'table',
    { class: 'planned' },
    html('thead', {}, html('tr', {}, ...heads, html('th', { scope: 'col', class: 'num' }, 'cost'))),
    html('tbody', {}, ...[...rows, ...derived].map(one => one.row))
  );
  return {
    node: scrolling('what the cell asks', table),
    show: (facts, now) => {
      rows.forEach((one, i) => {
        const out = now[i]!.words === 'left out';
        one.width.textContent = now[i]!.words;
        one.cost.textContent = costWords(facts.questions[i]!, now[i]!, facts.paid.symbol);
        one.row.classList.toggle('out', out);
        if (one.box !== null) {
          one.box.checked = !out;
        }
      });
      derived.forEach((one, i) => {
        one.width.textContent = derivedWords(facts, i, now);
        one.cost.textContent = 'free';
      });
    }
  };
}
