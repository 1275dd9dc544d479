"""How a raw table becomes integers on its declared grid: the one quantiser.

A cell is read by itself (:mod:`dpnb.trusted.schema.cell`): missing, a number, or a text. A number becomes ``floor(t + ½)`` with
``t = (x − lower)/step``, all in binary64, then clamped to ``0..steps``; what is missing or no number is missing; ±inf
clamps. A category becomes the place of the declared value that is the same cell; anything else is missing. A public
constant may replace what is missing. A text that nobody listed becomes the whole numbers of its label
(:mod:`dpnb.trusted.schema.free_text`). A unit keeps its ``max_rows`` rows that come first in md5(key | unit | quantised row
| duplicate number), decided once, before any question; the row is written in the order of the columns' names. Where it may
keep several, each has its rank in that order: a question may keep fewer (:mod:`dpnb.trusted.aggregate.cap`).

This room never raises on a value, never looks at levels or ranges of the data, and never changes its rounding: the
sensitivity of every statistic is computed from this map. The curator's SQL and its meaning in numpy
(:mod:`dpnb.datasets.preparation`) equal each other bit for bit.
"""

from __future__ import annotations

from dpnb.trusted.schema import Column


def grid_constants(column: Column) -> tuple[float, float, int]:
    """The quantiser's (lower, step, steps): the exact bounds as the nearest binary64."""
    lower, step, steps = column.grid
    return float(lower), float(step), steps


def declared_texts(column: Column) -> dict[str, int]:
    """The code of each canonical text by which a cell, as it is read, matches a declared value."""
    values, cells = column.values or (), column.cells
    if cells.true:
        places = ((values.index(0), cells.false), (values.index(1), cells.true))
        return {text: place for place, texts in places for text in texts}
    return {column.value_text(value): place for place, value in enumerate(values)}
