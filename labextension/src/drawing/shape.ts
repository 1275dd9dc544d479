/** What state must look like before it is drawn: state is data, and a notebook's state may come from a stranger. */
import type { Module } from '../widgets/parts/widget';

/** The module of a view, whose facts and whose hand's settings are checked before they are read. */
export function checked<Facts, Set>(
  module: Module<Facts, Set>,
  facts: Shape,
  set: Fields
): Module<Facts, Set> {
  const reader = {
    facts: (raw: unknown) => (fits(raw, facts) ? (raw as Facts) : null),
    set: (raw: unknown) => fitting(raw, set) as Partial<Set>
  };
  return { render: props => module.render(props, reader) };
}

export type Shape =
  | 'any'
  | 'null'
  | 'boolean'
  | 'number'
  | 'string'
  | { readonly is: readonly (string | number)[] }
  | { readonly one: readonly Shape[] }
  | { readonly list: Shape; readonly most?: number }
  | { readonly row: readonly Shape[]; readonly least?: number }
  | { readonly each: Shape }
  | Fields;

/** An object: the fields that it must have, and those that it may have. What else it has, nobody reads. */
export interface Fields {
  readonly all: Readonly<Record<string, Shape>>;
  readonly some?: Readonly<Record<string, Shape>>;
}

/** The longest list and the longest text, the most values in all, and the most characters in all: what is drawn within a second. */
const [LONGEST, VALUES, CHARACTERS] = [50_000, 500_000, 1_000_000];
const DEEPEST = 12;
/** The longest list that is drawn, where its shape names no other: each entry may become an element of the page. */
const MOST = 2000;

class Room {
  values = VALUES;
  characters = CHARACTERS;

  /** Whether a value, and what it holds, is JSON that is not too much of it. */
  holds(value: unknown, depth = 0): boolean {
    this.values -= 1;
    if (this.values < 0 || depth > DEEPEST) {
      return false;
    }
    if (typeof value === 'string') {
      this.characters -= value.length;
      return value.length <= LONGEST && this.characters >= 0;
    }
    if (Array.isArray(value)) {
      return value.length <= LONGEST && value.every(one => this.holds(one, depth + 1));
    }
    if (isObject(value)) {
      const entries = Object.entries(value);
      return entries.length <= LONGEST && entries.flat().every(one => this.holds(one, depth + 1));
    }
    return value === null || typeof value === 'boolean' || Number.isFinite(value);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function has(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

function matches(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') {
    return shape === 'any' || (shape === 'null' ? value === null : typeof value === shape);
  }
  if ('is' in shape) {
    return shape.is.some(one => one === value);
  }
  if ('one' in shape) {
    return shape.one.some(one => matches(value, one));
  }
  if ('list' in shape) {
    const { list, most = MOST } = shape;
    return Array.isArray(value) && value.length <= most && value.every(one => matches(one, list));
  }
  if ('row' in shape) {
    const { row, least = row.length } = shape;
    return (
      Array.isArray(value) &&
      value.length >= least &&
      value.length <= row.length &&
      value.every((one, i) => matches(one, row[i]!))
    );
  }
  if (!isObject(value)) {
    return false;
  }
  if ('each' in shape) {
    const each = Object.values(value);
    return each.length <= MOST && each.every(one => matches(one, shape.each));
  }
  const { all, some = {} } = shape;
  return (
    Object.entries(all).every(([name, one]) => has(value, name) && matches(value[name], one)) &&
    Object.entries(some).every(([name, one]) => !has(value, name) || matches(value[name], one))
  );
}

/** Whether a value has a shape, and is not too large to be drawn. */
export function fits(value: unknown, shape: Shape): boolean {
  return new Room().holds(value) && matches(value, shape);
}

/** Of what a hand is said to have set, the fields that have their shape. */
export function fitting(value: unknown, { all, some = {} }: Fields): Record<string, unknown> {
  const shapes: Readonly<Record<string, Shape>> = { ...all, ...some };
  const found = isObject(value) && new Room().holds(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    found.filter(([name, one]) => Object.hasOwn(shapes, name) && matches(one, shapes[name]!))
  );
}
