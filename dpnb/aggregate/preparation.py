"""How a raw table becomes integers on its declared grid: the one quantiser, spelled out in numpy.

A number becomes ``floor(t + ½)`` with ``t = (x − lower)/step``, all in binary64, then clamped to ``0..steps``; NULL, NaN
and text that is not a number are missing; ±inf clamps. A category becomes its place in the declared list; anything
else is missing. A public constant may replace what is missing. A unit keeps its ``max_rows`` rows that come first in
md5(key | unit | quantised row | duplicate number), decided once, before any question.

This room never raises on a value, never looks at levels or ranges of the data, and never changes its rounding: the
sensitivity of every statistic is computed from this map. The curator's SQL must equal it bit for bit.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpnb.aggregate.reference import Bools, Ints, Table
from dpnb.schema import Column, Schema
from dpnb.schema.cell import BLANK, canonical, number_of, text_of

Float64s: TypeAlias = NDArray[np.float64]

_WHOLE_FLOATS = float(2**53)


def prepare(raw: Mapping[str, Any], schema: Schema, *, key: bytes = b"") -> Table:
    """Quantise a raw table and bound each unit's rows.

    Parameters
    ----------
    raw : mapping of column name to array
        Numbers (NaN is missing), booleans, or objects (text and ``None``); one length.
    schema : Schema
        Declares columns, grids and the privacy unit.
    key : bytes
        The secret under which a unit's rows are ranked; irrelevant when the unit is the row.

    Returns
    -------
    Table
        One :class:`Ints` per declared column, rows in the order of the source.
    """
    columns = {column.name: quantise(raw[column.name], column) for column in schema.columns}
    table = Table.of(columns)
    if schema.unit.unit == "row":
        return table
    units = unit_texts(raw[schema.unit.unit])
    kept = kept_rows(units, list(columns.values()), schema.unit.max_rows, key)
    return Table.of({name: Ints(ints.values[kept], ints.known[kept]) for name, ints in columns.items()})


def quantise(raw: Any, column: Column) -> Ints:
    """Turn one raw column into codes; see the module's first paragraph."""
    codes = _category_codes(raw, column) if column.type == "category" else _grid_codes(numbers(raw), column)
    replacement = column.missing_code
    if replacement is None:
        return codes
    values = np.where(codes.known, codes.values, np.int64(replacement))
    return Ints(values, np.ones(len(values), dtype=bool))


def read(cell: Any, column: Column) -> int | None:
    """The code of one cell, by that cell and the declaration alone; ``None`` where it is missing.

    This is the definition: :func:`quantise` is the same for a whole column, faster, and so is the curator's SQL.
    """
    code = _category_code(cell, column) if column.type == "category" else _grid_code(cell, column)
    return column.missing_code if code is None else code


def _category_code(cell: Any, column: Column) -> int | None:
    text = canonical(cell)
    declared = [canonical(value) for value in column.values or ()]
    return declared.index(text) if text is not None and text in declared else None


def _grid_code(cell: Any, column: Column) -> int | None:
    number = number_of(text_of(cell))
    if number is None:
        return None
    lower, step, steps = grid_constants(column)
    place = (number - lower) / step + 0.5
    return int(min(max(math.floor(place) if math.isfinite(place) else place, 0), steps))


def grid_constants(column: Column) -> tuple[float, float, int]:
    """The quantiser's (lower, step, steps): the exact bounds as the nearest binary64."""
    if column.lower is None or column.step is None or column.steps is None:
        raise ValueError(f"{column.name} has no grid")
    return float(column.lower), float(column.step), column.steps


def _grid_codes(x: Float64s, column: Column) -> Ints:
    lower, step, steps = grid_constants(column)
    known = ~np.isnan(x)
    with np.errstate(all="ignore"):
        rounded = np.floor((x - lower) / step + 0.5)
    codes = np.clip(np.where(known, rounded, 0.0), 0.0, float(steps))
    return Ints(codes.astype(np.int64), known)


def category_numbers(column: Column) -> list[float | None]:
    """The number by which a numeric source matches each declared value; ``None`` where only text can match."""
    return [number_of(v) if isinstance(v, str) else float(v) for v in column.values or ()]


def category_texts(column: Column) -> list[str | None]:
    """The text by which a text source matches each declared value; ``None`` where a number must match."""
    return [v if isinstance(v, str) else None for v in column.values or ()]


def truth_texts(column: Column) -> bool:
    """Whether the texts true and false count as 1 and 0: only where true/false values are declared."""
    return any(isinstance(value, bool) for value in column.values or ())


def text_numbers(column: Column) -> list[float | None]:
    """The number by which a text source matches each declared value: never one declared as text."""
    return [None if isinstance(v, str) else float(v) for v in column.values or ()]


def _category_codes(raw: Any, column: Column) -> Ints:
    plain = plain_column(raw)
    if plain.dtype != object:
        return Ints.of(_places(numbers(plain).tolist(), category_numbers(column)))
    texts, floats = category_texts(column), text_numbers(column)
    truths = truth_texts(column)
    places = _first_places(texts), _first_places(floats)

    def code(text: str | None) -> int | None:
        if text is None:
            return None
        number = _truth(text) if truths else None
        number = number_of(text) if number is None else number
        found = [places[0].get(text), None if number is None else places[1].get(number)]
        return min((place for place in found if place is not None), default=None)

    return Ints.of([code(text) for text in plain])


def _truth(text: str) -> float | None:
    return {"true": 1.0, "false": 0.0}.get(text.strip(BLANK).lower())


def _places(values: Iterable[float], declared: Sequence[float | None]) -> list[int | None]:
    first = _first_places(declared)
    return [first.get(value) for value in values]


def _first_places(declared: Sequence[Any]) -> dict[Any, int]:
    return {v: place for place, v in reversed(list(enumerate(declared))) if v is not None}


def numbers(raw: Any) -> Float64s:
    """A raw column as binary64; NaN where it is missing or not a number."""
    plain = plain_column(raw)
    if plain.dtype != object:
        return plain.astype(np.float64)
    parsed = (None if text is None else number_of(text) for text in plain)
    return np.array([np.nan if number is None else number for number in parsed], dtype=np.float64)


def plain_column(raw: Any) -> NDArray[Any]:
    """A raw column as a numeric or boolean array, or as an object array of texts and ``None``.

    Objects that are all numbers or missing become binary64; any text among them makes the whole column text.
    """
    array = np.ma.asarray(raw) if isinstance(raw, np.ma.MaskedArray) else np.asarray(raw)
    if isinstance(array, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(array), np.nan, np.ma.getdata(array).astype(np.float64))
    if array.dtype.kind in "biuf":
        return array.astype(np.float64) if array.dtype.kind == "f" else array
    cells = [None if _missing(cell) else cell for cell in array.tolist()]
    if any(isinstance(cell, str) for cell in cells):
        return _objects([None if cell is None else _text(cell) for cell in cells])
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _objects(cells: Sequence[str | None]) -> NDArray[Any]:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _missing(cell: Any) -> bool:
    return (
        cell is None
        or type(cell).__name__ in {"NAType", "NaTType"}
        or (isinstance(cell, float) and math.isnan(cell))
    )


def _text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def unit_texts(raw: Any) -> list[str | None]:
    """A unit column as texts: whole numbers without a point, missing as ``None``."""
    plain = plain_column(raw)
    if plain.dtype == object:
        return list(plain)
    return [_unit_text(cell) for cell in plain.tolist()]


def _unit_text(cell: float | bool) -> str | None:  # noqa: FBT001 - a cell, not a switch
    if isinstance(cell, bool):
        return str(cell).lower()
    if math.isnan(cell):
        return None
    return str(int(cell)) if cell == cell // 1 and abs(cell) < _WHOLE_FLOATS else str(cell)


def row_texts(columns: Sequence[Ints]) -> list[str]:
    """Each quantised row as text: codes joined by commas, ``~`` for NULL."""
    cells = [["~" if v is None else str(v) for v in column.tolist()] for column in columns]
    return [",".join(row) for row in zip(*cells, strict=True)]


def kept_rows(units: Sequence[str | None], columns: Sequence[Ints], most: int, key: bytes) -> Bools:
    """Which rows stay: per unit the ``most`` rows that come first in the keyed hash; no row without a unit."""
    ranked: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    seen: Counter[tuple[str, str]] = Counter()
    for place, (unit, row) in enumerate(zip(units, row_texts(columns), strict=True)):
        if unit is not None:
            seen[unit, row] += 1
            ranked[unit].append((row_hash(key, unit, row, seen[unit, row]), place))
    kept = np.zeros(len(units), dtype=bool)
    kept[[place for rows in ranked.values() for _, place in sorted(rows)[:most]]] = True
    return kept


def row_hash(key: bytes, unit: str, row: str, duplicate: int) -> str:
    """md5(key | unit | quantised row | duplicate number), in hexadecimal.

    The key is written in hexadecimal and neither codes nor numbers hold a bar: the text is injective.
    """
    text = f"{key.hex()}|{unit}|{row}|{duplicate}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
