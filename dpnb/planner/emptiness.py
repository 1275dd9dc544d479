"""Filters that keep no row of any table, by the schema alone: what is asked of nobody needs no release."""

from __future__ import annotations

from collections.abc import Mapping

from dpnb.trusted.aggregate.algebra import Cmp, Not, Pred, bounds, conjuncts
from dpnb.trusted.measurements.facts import Range, code_ranges
from dpnb.trusted.measurements.regions import Regions
from dpnb.trusted.schema import Schema


def keeps_nobody(where: Pred | None, schema: Schema) -> bool:
    """Tell whether a filter is true for no row that the schema allows; what is not proved is no.

    A condition on one column is compared with its declared codes, together with all others on it that must hold too;
    a comparison of expressions with the ranges that they can have.
    """
    ranges = code_ranges(schema)
    if not all(Regions(ranges).of(where).values()):
        return True
    return any(_never(condition, ranges) for condition in conjuncts(where))


def _never(condition: Pred, ranges: Mapping[str, Range]) -> bool:
    if isinstance(condition, Not):
        return isinstance(condition.a, Cmp) and _always(condition.a, ranges)
    if not isinstance(condition, Cmp):
        return False
    (low, high), (first, last) = (bounds(side, ranges) for side in (condition.a, condition.b))
    match condition.op:
        case "==":
            return high < first or last < low
        case "<":
            return low >= last
    return low > last


def _always(comparison: Cmp, ranges: Mapping[str, Range]) -> bool:
    """Tell whether a comparison holds wherever both sides are known."""
    (low, high), (first, last) = (bounds(side, ranges) for side in (comparison.a, comparison.b))
    match comparison.op:
        case "==":
            return low == high == first == last
        case "<":
            return high < first
    return high <= first
