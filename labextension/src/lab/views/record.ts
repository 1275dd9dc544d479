/** The record of a released card, as `dpnb/cards/facts.py` writes it, in words. A record that is not one gives nothing. */
import { decimalsFor, number, span } from '../../maths/digits';

/** The most that is drawn of a record: rows in all, answers, notes of one, characters of a text. A record may be a stranger's. */
const [ROWS, ANSWERS, NOTES, LONGEST] = [1000, 100, 50, 2000];

/** One number of an answer, ready to be drawn as text. */
export interface Row {
  readonly key: string;
  readonly value: string;
  readonly privacy: string;
  readonly confidence: string;
}

/** One question or derived number. */
export interface Answer {
  readonly name: string;
  readonly question: string;
  readonly paid: string;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export interface Release {
  readonly title: string;
  readonly answers: readonly Answer[];
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];

/** The texts of a list that are drawn. */
const few = (value: unknown): string[] => (Array.isArray(value) ? texts(value.slice(0, NOTES)) : []);

/** A text as it is drawn. */
export const cut = (value: unknown): string => {
  const whole = text(value);
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
};

/** Both ends of an interval; an end without a number is unbounded. */
function ends(value: unknown): [number, number] | null {
  if (!Array.isArray(value) || value.length !== 2) {
    return null;
  }
  const [low, high] = value as unknown[];
  return [typeof low === 'number' ? low : -Infinity, typeof high === 'number' ? high : Infinity];
}

function half(value: unknown): number | null {
  const pair = ends(value);
  return pair === null ? null : (pair[1] - pair[0]) / 2;
}

function narrowest(entry: Json): number | null {
  const halves = [half(entry.privacy), half(entry.confidence)].filter(
    (width): width is number => width !== null && Number.isFinite(width) && width > 0
  );
  return halves.length === 0 ? null : Math.min(...halves);
}

function row(entry: Json, decimals: number | null): Row {
  const interval = (value: unknown): string => {
    const pair = ends(value);
    return pair === null ? '–' : span(pair[0], pair[1], decimals);
  };
  return {
    key: cut(entry.key),
    value: typeof entry.value === 'number' ? number(entry.value, decimals) : 'undefined',
    privacy: interval(entry.privacy),
    confidence: interval(entry.confidence)
  };
}

function answer(record: Json, room: number): Answer | null {
  if (!Array.isArray(record.entries) || typeof record.question !== 'string') {
    return null;
  }
  const entries = record.entries.slice(0, room).filter(isObject);
  const unlisted = typeof record.more === 'number' && record.more > 0 ? record.more : 0;
  const hidden = unlisted + record.entries.length - entries.length;
  const widths = entries.map(narrowest).filter((width): width is number => width !== null);
  const decimals = decimalsFor(widths.length === 0 ? [] : [Math.max(...widths)]);
  const more = hidden > 0 ? [`… ${hidden} more`] : [];
  const missing = isObject(record.unavailable)
    ? Object.entries(record.unavailable).map(([kind, why]) => `No ${kind} interval: ${text(why)}`)
    : [];
  return {
    name: cut(record.name) || cut(record.question),
    question: cut(record.question),
    paid: cut(record.paid),
    rows: entries.map(entry => row(entry, decimals)),
    notes: [...more, ...few(record.flags), ...missing, ...few(record.mechanism)].slice(0, NOTES).map(cut)
  };
}

/** A line of a card that comes alive: what its controls ask the kernel about. */
export interface Line {
  readonly name: string;
  readonly question: string;
  /** The ids of its releases; empty where it is public or derived. */
  readonly releases: readonly string[];
  /** The measure of what can be paid on top, where what that buys is known beforehand; else empty. */
  readonly again: '' | 'ε' | 'ρ';
}

/** The lines of a record in the order of its card, or null where it is none that this version knows. */
export function linesOf(record: unknown): Line[] | null {
  if (!isObject(record) || record.format !== 1 || record.pending === true) {
    return null;
  }
  const lines = Array.isArray(record.lines) ? record.lines : [record];
  const found = lines.filter(isObject).filter(line => Array.isArray(line.entries));
  return found.length === lines.length
    ? found.map(line => ({
        name: text(line.name),
        question: text(line.question),
        releases: texts(line.releases),
        again: line.again === 'ε' || line.again === 'ρ' ? line.again : ''
      }))
    : null;
}

/** Where a released card was charged: its dataset, and the entry of its ledger. Null where nothing was, or it is one answer's card. */
export function chargeOf(record: unknown): { dataset: string; entry: number } | null {
  const found = isObject(record) && record.format === 1 ? record : {};
  const [dataset, entry] = [text(found.dataset), found.entry];
  return dataset !== '' && Number.isSafeInteger(entry) ? { dataset, entry: entry as number } : null;
}

/** A question that waits for its release. */
export interface Waiting {
  readonly question: string;
  /** By which the kernel that showed it knows it; null where there is nothing to balance. */
  readonly key: string | null;
}

/** The question of a pending card, or null where a record is none. */
export function waitingOf(record: unknown): Waiting | null {
  if (!isObject(record) || record.format !== 1 || record.pending !== true) {
    return null;
  }
  return { question: text(record.question), key: text(record.waiting) || null };
}

/** The words of a record, or null where it is none that this version knows. */
export function release(record: unknown): Release | null {
  if (!isObject(record) || record.format !== 1) {
    return null;
  }
  const lines = Array.isArray(record.lines) ? record.lines.filter(isObject) : [record];
  let room = ROWS;
  const answers = lines.slice(0, ANSWERS).flatMap(line => {
    const found = answer(line, room);
    room -= found?.rows.length ?? 0;
    return found ?? [];
  });
  if (answers.length === 0) {
    return null;
  }
  const dataset = cut(record.dataset);
  return { title: dataset === '' ? 'Released' : `Released from ${dataset}`, answers };
}
