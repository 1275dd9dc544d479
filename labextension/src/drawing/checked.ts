/** A view that is given nothing but state of its own shape; what else comes is refused, and said. */
import type { Module } from '../widgets/parts/widget';
import { fits, fitting, type Fields, type Shape } from './shape';

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
