"""A fitted model as an expression of columns, so that a handle can be asked how well it does: sums of constants times conditions.

Constants are rounded to four digits of the largest, which moves log odds by about a thousandth. Sums are built as balanced trees, since an expression may be only
so deep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from dpnb.client.columns import ColumnHandle
from dpnb.inference.elementwise import Floats
from dpnb.models.cells import Side


def rounded(number: float, digits: int = 4) -> float:
    """Return a number with so many significant digits."""
    return 0.0 if number == 0 or not math.isfinite(number) else float(f"{number:.{digits}g}")


def steps_of(column: ColumnHandle, side: Side, weights: Floats) -> list[tuple[Any, float]]:
    """Return conditions and constants whose products sum to the weight of a row's cell."""
    if side.edges is not None:
        jumps = np.diff(weights)
        first = [(column >= float(side.edges[0]), float(weights[0]))]
        return first + [
            (column >= float(edge), float(jump)) for edge, jump in zip(side.edges[1:-1], jumps, strict=True)
        ]
    return [(_is(column, [key]), float(weight)) for key, weight in zip(side.keys, weights, strict=True)]


def _is(column: ColumnHandle, keys: Sequence[Any]) -> ColumnHandle:
    if column.is_condition:
        return column if keys[0] else ~column
    return column == keys[0] if len(keys) == 1 else column.isin(list(keys))


def inside(column: ColumnHandle, side: Side, cells: Sequence[int]) -> ColumnHandle | None:
    """Return the condition that a row is in some cells of a column; None where that is all of them."""
    kept = sorted(cells)
    if len(kept) == len(side.keys):
        return None
    if side.edges is None:
        return _is(column, [side.keys[at] for at in kept])
    low, high = kept[0], kept[-1] + 1
    ends = []
    if low > 0:
        ends.append(column >= float(side.edges[low]))
    if high < len(side.keys):
        ends.append(column < float(side.edges[high]))
    return reduce(and_, ends)


def total_of(parts: Sequence[tuple[Any, float]], start: float = 0.0) -> ColumnHandle:
    """Return the sum of columns times constants."""
    terms = [part * rounded(weight) for part, weight in parts if rounded(weight)]
    while len(terms) > 1:
        terms = [
            terms[at] + terms[at + 1] if at + 1 < len(terms) else terms[at] for at in range(0, len(terms), 2)
        ]
    found: ColumnHandle = terms[0] + rounded(start, 5)
    return found
