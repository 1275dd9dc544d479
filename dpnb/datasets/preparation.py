"""How a raw table becomes integers on its declared grid, spelled out in numpy: what :mod:`dpnb.trusted.aggregate.preparation` says.

Studies, simulations and tests prepare their tables so; the curator's SQL must equal it bit for bit.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.cell_text import canonical, text_of, unit_of
from dpnb.datasets.containers import cell_as, plain_column, use_of
from dpnb.datasets.exact_answers import ints_of, table_of
from dpnb.trusted.aggregate.arrays import Cells, written_otherwise
from dpnb.trusted.aggregate.cap import RANK
from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.aggregate.reference import Int64s, Ints, Table
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.calendar import place_of
from dpnb.trusted.schema.cell import number_of
from dpnb.trusted.schema.free_text import FreeText
from dpnb.trusted.schema.unit_summary import UnitSummary

Float64s: TypeAlias = NDArray[np.float64]
Units: TypeAlias = Sequence[str | None]


def prepare(
    raw: Mapping[str, object],
    schema: Schema,
    *,
    key: bytes = b"",
    others: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> Table:
    """Quantise a raw table, prepare what is declared of each unit's rows, and bound each unit's rows.

    Parameters
    ----------
    raw : mapping of column name to array
        Columns of one length, each in anything that :func:`~dpnb.datasets.containers.plain_column` reads.
    schema : Schema
        Declares columns, grids and the privacy unit.
    key : bytes
        The secret under which a unit's rows are ranked; irrelevant when the unit is the row.
    others : mapping of str to mapping
        The tables of which columns are prepared, by name.

    Returns
    -------
    Table
        One :class:`Ints` per declared column, of a text several, rows in the order of the source; and their ranks, where a unit may have several.
    """
    units, columns = _rows_coded(raw, schema.rows_of())
    if schema.prepared:
        units, columns = _with_prepared(units, columns, schema, others)
    if schema.unit.unit == "row":
        return table_of(columns)
    ranks = ranked(units, [columns[name] for name in sorted(columns)], key)
    kept = (ranks >= 0) & (ranks < schema.unit.max_rows)
    if schema.unit.max_rows > 1:
        columns[RANK] = ints_of(ranks)
    return table_of({name: Ints(ints.values[kept], ints.known[kept]) for name, ints in columns.items()})


def coded(raw: object, column: Column) -> dict[str, Ints]:
    """Turn one raw column into the columns of the prepared copy that it is: itself, or the whole numbers of a text."""
    if column.text is None:
        return {column.name: quantise(raw, column)}
    texts = [column.cell_text(text_of(cell)) for cell in plain_column(raw, column.name).tolist()]
    codes = {text: _codes_of(text, column) for text in set(texts)}
    rows = [codes[text] for text in texts]
    return {part: ints_of([row[place] for row in rows]) for place, part in enumerate(column.parts)}


def _codes_of(text: str | None, column: Column) -> Sequence[int | None]:
    declared = cast("FreeText", column.text)
    label = declared.label_of(text)
    return column.missing_words if label is None else declared.codes_of(label)


def _rows_coded(raw: Mapping[str, object], schema: Schema) -> tuple[Units, dict[str, Ints]]:
    """Whose each row of a table is, and its codes."""
    columns = {
        part: ints for column in schema.columns for part, ints in coded(raw[column.name], column).items()
    }
    unit = schema.unit
    return [] if unit.by_row else unit_ids(raw[unit.unit], unit.unit, unit.type), columns


def _with_prepared(
    units: Units, columns: dict[str, Ints], schema: Schema, others: Mapping[str, Mapping[str, object]]
) -> tuple[Units, dict[str, Ints]]:
    """The rows of a dataset with what is prepared for their units."""
    made = {line.name: schema[line.name] for line in schema.prepared}
    for source in ("", *schema.sources):
        lines = [line for line in schema.prepared if line.source == source]
        whose, raw = (units, columns) if not source else _rows_coded(others[source], schema.rows_of(source))
        found = per_unit(lines, made, whose, raw)
        if lines and not source:
            units, columns = list(found), {}
        nothing = [code_of(line, made[line.name], []) for line in lines]
        for at, line in enumerate(lines):
            columns[line.name] = ints_of(
                [found.get(unit or "", nothing)[at] if unit is not None else None for unit in units]
            )
    return units, {part: columns[part] for part in schema.parts}


def quantise(raw: object, column: Column) -> Ints:
    """Turn one raw column into codes; see the module's first paragraph."""
    if column.cells:
        raw = _ruled(raw, column)
    codes = (
        _category_codes(raw, column)
        if column.type == "category"
        else _grid_codes(_column_numbers(raw, column), column)
    )
    replacement = column.missing_code
    if replacement is None:
        return codes
    values = np.where(codes.known, codes.values, np.int64(replacement))
    return Ints(values, np.ones(len(values), dtype=bool))


def read(cell: object, column: Column) -> int | None:
    """The code of one cell, by that cell and the declaration alone; ``None`` where it is missing.

    This is the definition: :func:`quantise` is the same for a whole column, faster, and so is the curator's SQL.
    """
    text = column.cell_text(cell_as(cell, use_of(column)))
    code = _category_code(text, column) if column.type == "category" else _grid_code(text, column)
    return column.missing_code if code is None else code


def _ruled(raw: object, column: Column) -> Cells:
    """The texts that are read of a column's cells, where rules are declared for them."""
    plain = plain_column(raw, column.name, use_of(column))
    if plain.dtype.kind == "f" and column.cells.of_texts:
        raise written_otherwise(column.name, "numbers")
    cells = plain.tolist()
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [column.cell_text(text_of(cell)) for cell in cells]
    return texts


def _category_code(read: str | None, column: Column) -> int | None:
    return declared_texts(column).get(canonical(read) or "")


def _grid_code(text: str | None, column: Column) -> int | None:
    number = number_of(text) if column.calendar is None else place_of(text, column.calendar)
    if number is None:
        return None
    lower, step, steps = grid_constants(column)
    place = (number - lower) / step + 0.5
    return int(min(max(math.floor(place) if math.isfinite(place) else place, 0), steps))


def _grid_codes(x: Float64s, column: Column) -> Ints:
    lower, step, steps = grid_constants(column)
    known = ~np.isnan(x)
    with np.errstate(all="ignore"):
        rounded = np.floor((x - lower) / step + 0.5)
    codes = np.clip(np.where(known, rounded, 0.0), 0.0, float(steps))
    return Ints(codes.astype(np.int64), known)


def _category_codes(raw: object, column: Column) -> Ints:
    plain = plain_column(raw, column.name)
    if plain.dtype != object:
        return _places_of_numbers(plain.astype(np.float64), column)
    places = declared_texts(column)
    known = {text: places.get(canonical(text) or "") for text in set(plain.tolist())}
    return ints_of([known[text] for text in plain.tolist()])


def _places_of_numbers(x: Float64s, column: Column) -> Ints:
    """The places of binary64 cells in the declared list; a declared value that is no number matches none of them."""
    found = [(number_of(text), place) for text, place in declared_texts(column).items()]
    pairs = sorted((number, place) for number, place in found if number is not None)
    if not pairs:
        return Ints(np.zeros(len(x), dtype=np.int64), np.zeros(len(x), dtype=bool))
    declared = np.array([number for number, _ in pairs])
    nearest = np.minimum(np.searchsorted(declared, x), len(declared) - 1)
    known = declared[nearest] == x
    return Ints(np.where(known, np.array([place for _, place in pairs])[nearest], 0), known)


def numbers(raw: object, name: str = "this column") -> Float64s:
    """A raw column as binary64; NaN where it is missing or not a number."""
    plain = plain_column(raw, name, "grid")
    if plain.dtype != object:
        return plain.astype(np.float64)
    parsed = {text: number_of(text) for text in set(plain.tolist())}
    return np.array([parsed[text] for text in plain.tolist()], dtype=np.float64)


def _column_numbers(raw: object, column: Column) -> Float64s:
    if column.calendar is None:
        return numbers(raw, column.name)
    plain = plain_column(raw, column.name)
    if plain.dtype != object:  # a number is no date
        return np.full(len(plain), np.nan)
    parsed = {text: place_of(text, column.calendar) for text in set(plain.tolist())}
    return np.array([parsed[text] for text in plain.tolist()], dtype=np.float64)


def unit_ids(raw: object, name: str = "this column", declared: str | None = None) -> list[str | None]:
    """The units that a column names, by the unit's declared type; missing is ``None``."""
    plain = plain_column(raw, name, "unit")
    return [unit_of(cell, declared) for cell in plain.tolist()]


def row_texts(columns: Sequence[Ints]) -> list[str]:
    """Each quantised row as text: codes joined by commas, ``~`` for NULL; the caller sorts columns by name."""
    cells = [["~" if v is None else str(v) for v in column.tolist()] for column in columns]
    return [",".join(row) for row in zip(*cells, strict=True)]


def ranked(units: Sequence[str | None], columns: Sequence[Ints], key: bytes) -> Int64s:
    """The place of each row among those of its unit, by the keyed hash; −1 for a row without a unit."""
    hashes: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    seen: Counter[tuple[str, str]] = Counter()
    for place, (unit, row) in enumerate(zip(units, row_texts(columns), strict=True)):
        if unit is not None:
            seen[unit, row] += 1
            hashes[unit].append((row_hash(key, unit, row, seen[unit, row]), place))
    ranks = np.full(len(units), -1, dtype=np.int64)
    for rows in hashes.values():
        ranks[[place for _, place in sorted(rows)]] = np.arange(len(rows))
    return ranks


def row_hash(key: bytes, unit: str, row: str, duplicate: int) -> str:
    """md5(key | unit | quantised row | duplicate number), in hexadecimal.

    The key is written in hexadecimal and neither codes nor numbers hold a bar: the text is injective.
    """
    text = f"{key.hex()}|{unit}|{row}|{duplicate}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


Ordered = Sequence[tuple[int | None, int | None]]
"""Of each row of one unit the code of the cell that is taken, and that of its order."""


def code_of(line: UnitSummary, made: Column, cells: Ordered) -> int | None:
    """Return what a line of ``[prepare]`` means (:mod:`dpnb.trusted.schema.unit_summary`): the code of a unit's prepared cell, of the codes of its rows in any order; ``None`` where it is missing."""
    known = [code for code, _ in cells if code is not None]
    code: int | None = None
    match line.take:
        case "count" if cells:
            code = _placed(line, made, len(cells), 0)
        case "sum" | "mean" if known:
            code = _placed(line, made, len(known), sum(known))
        case "any" if known:
            code = int(any(one in line.among for one in known))
        case "latest":
            last = max(
                ((by, -1 if code is None else code) for code, by in cells if by is not None), default=(0, -1)
            )
            code = None if last[1] < 0 else last[1]
    return made.missing_code if code is None else code


def _placed(line: UnitSummary, made: Column, rows: int, total: int) -> int:
    """Return the grid point nearest to a count, sum or mean: floor(t + ½), held to the grid."""
    a, b, c, q = line.scale(made)
    each = rows if line.take == "mean" else 1
    place = (2 * (rows * a + b * total - each * c) + each * q) // (2 * each * q)
    return min(max(place, 0), made.size - 1)


def per_unit(
    lines: Sequence[UnitSummary],
    made: Mapping[str, Column],
    units: Sequence[str | None],
    raw: Mapping[str, Ints],
) -> dict[str, list[int | None]]:
    """Return for each unit with a row, in the order of their first ones, the codes of its prepared cells."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        if unit is not None:
            rows[unit].append(place)
    codes = {name: column.tolist() for name, column in raw.items()}

    def cell(line: UnitSummary, places: Sequence[int]) -> int | None:
        order = [None] * len(units) if line.by is None else codes[line.by.name]
        cells = [(codes[line.of.name][place], order[place]) for place in places]
        return code_of(line, made[line.name], cells)

    return {unit: [cell(line, places) for line in lines] for unit, places in rows.items()}
