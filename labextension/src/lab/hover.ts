/** What a column is, shown where the pointer rests on it in a `%%dp` cell. It reads the last state pushed, and asks nobody. */
import type { Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { html } from '../widgets/parts/dom';
import type { Column, Snapshot } from '../widgets/parts/state';
import { isProtected } from './magic';

const NAMED = /(?<![\w.\])])([^\W\d]\w*)[ \t]*(?:\.[ \t]*([^\W\d]\w*)|\[[ \t]*(["'])([^"'\n]*)\3[ \t]*\])/gu;

export interface Found {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly column: Column;
}

/** The column of an open dataset whose name stands at a place of a `%%dp` cell: `hiv.age` or `hiv["age"]`. */
export function columnAt(source: string, at: number, state: Snapshot | null): Found | null {
  if (state === null || !isProtected(source)) {
    return null;
  }
  for (const found of source.matchAll(NAMED)) {
    const [whole, handle = '', attribute, , key] = found;
    const to = found.index + whole.length;
    if (found.index > at || at > to) {
      continue;
    }
    const name = state.names?.[handle];
    const dataset = state.datasets.find(one => one.name === name);
    const column = dataset?.columns.find(one => one.name === (attribute ?? key));
    return column === undefined ? null : { from: found.index, to, text: `${name}.${column.name}`, column };
  }
  return null;
}

/** What is said of a column: its label, its type and bounds, and what happens to a missing value. */
export function said(column: Column): { label: string; facts: readonly (readonly [string, string])[] } {
  return {
    label: column.label === column.name ? '' : column.label,
    facts: [
      ['type and bounds', column.kind],
      ['missing values', column.missing]
    ]
  };
}

function card(found: Found): HTMLElement {
  const { label, facts } = said(found.column);
  const rows = facts.flatMap(([name, value]) => [html('dt', {}, name), html('dd', {}, value)]);
  return html(
    'div',
    { class: 'dpnb-Hover' },
    html('p', {}, html('code', {}, found.text), label === '' ? null : ` ${label}`),
    html('dl', {}, ...rows)
  );
}

/** The editor extension; `state` finds what the kernel of an editor's notebook said last. */
export function hoverHelp(state: (editor: HTMLElement) => Snapshot | null): Extension {
  return hoverTooltip((view, at) => {
    const found = columnAt(view.state.doc.toString(), at, state(view.dom));
    return found === null
      ? null
      : { pos: found.from, end: found.to, above: true, create: () => ({ dom: card(found) }) };
  });
}
