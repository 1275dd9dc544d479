/** What a column is, shown where the pointer rests on it in a `%%dp` cell. It reads the last state pushed, and asks nobody. */
import type { Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { html } from '../../widgets/parts/dom';
import type { Column, Snapshot } from '../../widgets/parts/session_state';
import { isProtected } from './magic';

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const BOUND = /^[ \t]*([\p{L}_][\p{L}\p{N}_]*)[ \t]*=(?!=)[ \t]*/gmu;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']' };

interface Found {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly column: Column;
}

/** One step of an expression like `hiv[hiv.age < 30].age`: a name, an attribute, or what stands in brackets. */
interface Step {
  readonly kind: 'name' | 'attribute' | '(' | '[';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function nameAt(source: string, at: number): string {
  NAME.lastIndex = at;
  return NAME.exec(source)?.[0] ?? '';
}

/** Where a bracket that opens at a place is closed; the end of the text where it is not. */
function closed(source: string, open: number): number {
  const wanted: string[] = [];
  for (let i = open; i < source.length; i++) {
    const letter = source[i]!;
    if (letter === '"' || letter === "'") {
      const end = source.indexOf(letter, i + 1);
      i = end < 0 ? source.length : end;
    } else if (letter in CLOSING) {
      wanted.push(CLOSING[letter]!);
    } else if (letter === wanted.at(-1)) {
      wanted.pop();
      if (wanted.length === 0) {
        return i + 1;
      }
    }
  }
  return source.length;
}

/** The steps of the expression that begins with a name at a place. */
function steps(source: string, start: number): Step[] {
  const first = nameAt(source, start);
  const found: Step[] = [{ kind: 'name', text: first, from: start, to: start + first.length }];
  for (let at = start + first.length; at < source.length;) {
    const letter = source[at]!;
    if (letter === '(' || letter === '[') {
      const to = closed(source, at);
      found.push({ kind: letter, text: source.slice(at + 1, to - 1).trim(), from: at, to });
      at = to;
    } else if (letter === '.' && nameAt(source, at + 1) !== '') {
      const text = nameAt(source, at + 1);
      found.push({ kind: 'attribute', text, from: at + 1, to: at + 1 + text.length });
      at += 1 + text.length;
    } else {
      break;
    }
  }
  return found;
}

/** The dataset that an expression is, when it is one: a name of one, filtered or grouped. */
function datasetOf(found: readonly Step[], names: ReadonlyMap<string, string>): string | undefined {
  const dataset = names.get(found[0]!.text);
  const plain = found.slice(1).every((step, i, all) => step.kind !== 'attribute' || all[i + 1]?.kind === '(');
  return plain ? dataset : undefined;
}

/** The names of datasets: those that the kernel told, and those that the cell gives to a part of one. */
function namesOf(source: string, state: Snapshot): Map<string, string> {
  const names = new Map(Object.entries(state.names ?? {}));
  for (const bound of source.matchAll(BOUND)) {
    const from = bound.index + bound[0].length;
    const found = nameAt(source, from) === '' ? [] : steps(source, from);
    const end = found.at(-1)?.to ?? from;
    const rest = source.slice(end, source.indexOf('\n', end) < 0 ? undefined : source.indexOf('\n', end));
    const last = found.at(-1);
    const part = last !== undefined && (last.kind === 'name' || last.kind === '[') && /^\s*(#|$)/.test(rest);
    const dataset = part ? datasetOf(found, names) : undefined;
    if (dataset === undefined || (last!.kind === '[' && /^(["']).*\1$/.test(last!.text))) {
      names.delete(bound[1]!);
    } else {
      names.set(bound[1]!, dataset);
    }
  }
  return names;
}

/** Where the steps of an expression name a column, and which. */
function columnsIn(found: readonly Step[], names: ReadonlyMap<string, string>, state: Snapshot): Found[] {
  return found.flatMap((step, i) => {
    const key = /^(["'])(.*)\1$/.exec(step.text)?.[2];
    const wanted = step.kind === 'attribute' ? step.text : step.kind === '[' ? key : undefined;
    const name = i === 0 || wanted === undefined ? undefined : datasetOf(found.slice(0, i), names);
    const dataset = state.datasets.find(one => one.name === name);
    const column = dataset?.columns.find(one => one.name === wanted);
    return column === undefined || found[i + 1]?.kind === '('
      ? []
      : [
          {
            from: i === 1 ? found[0]!.from : step.from,
            to: step.to,
            text: `${name}.${column.name}`,
            column
          }
        ];
  });
}

/** The column that stands at a place of a `%%dp` cell: `hiv.age`, `hiv["age"]`, `young.age` of a part of it. */
export function columnAt(source: string, at: number, state: Snapshot | null): Found | null {
  if (state === null || !isProtected(source)) {
    return null;
  }
  const names = namesOf(source, state);
  for (const start of source.matchAll(/(?<![\p{L}\p{N}_.)\]"'])[\p{L}_][\p{L}\p{N}_]*/gu)) {
    if (start.index > at || !names.has(start[0])) {
      continue;
    }
    const found = columnsIn(steps(source, start.index), names, state).find(
      one => one.from <= at && at <= one.to
    );
    if (found !== undefined) {
      return found;
    }
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
