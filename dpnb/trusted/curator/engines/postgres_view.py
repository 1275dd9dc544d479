"""A table of a PostgreSQL server that is asked as it is, where its owner allows no copy: codes are computed in every batch.

Only what the server's own numbers, dates and texts say exactly is read so: columns of numbers and dates in such types, categories
of them or of texts that are no numbers, and rows as units. Everything else needs the one reading of a copy, and is refused.
No cell can raise: it is compared with the ends of its grid before anything is computed of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.curator.engines.cell_sql import literal, steps_sql
from dpnb.trusted.curator.engines.postgres_table import FLOATS, INTEGERS, MOMENTS, Cells, Seen, text_sql
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.cell import number_of
from dpnb.trusted.schema.server_table import ServerTable

MOST_ROWS = 1 << 40
"""What a table that may grow is taken to have at most, when sums are made wide enough."""

_INFINITE, _LARGEST, _LEAST, _NOTHING = (
    "1.797693134862315807e308",
    "1e300",
    "1e-300",
    "2.4703282292062327e-324",
)
"""A NUMERIC becomes a binary64 without an error between the inner two; beyond the outer ones it is an infinity, or zero."""

_NUMBERS = INTEGERS | FLOATS | {"numeric", "bool"}


def relation(table: ServerTable, schema: Schema, seen: Seen) -> str:
    """The table as codes, by the names of a copy.

    Raises
    ------
    OwnerError
        For what cannot be read in the server alone.
    """
    if schema.unit.unit != "row" or schema.prepared:
        _needs_copy(table, "a unit with several rows, or lines of [prepare]")
    codes = [
        f"{_code(table, column, cells)} AS c{place}"
        for place, (column, cells) in enumerate(zip(schema.columns, seen.columns, strict=True))
    ]
    return f"(SELECT {', '.join(codes)} FROM {seen.sql} OFFSET 0) AS t"


def _needs_copy(table: ServerTable, what: str) -> NoReturn:
    raise OwnerError(
        f"{table.table}: {what}: this needs a prepared copy. Remove copy = false, or change it in the table."
    )


def _code(table: ServerTable, column: Column, cells: Cells) -> str:
    code = _category(table, column, cells) if column.type == "category" else _grid(table, column, cells)
    known = code if column.missing_code is None else f"coalesce({code}, {column.missing_code})"
    return f"CAST({known} AS BIGINT)"


def _category(table: ServerTable, column: Column, cells: Cells) -> str:
    """The place of the declared value that is the same cell: one number, or one text that is none."""
    if column.cells.rules or column.cells.true:
        _needs_copy(table, f'"{column.name}" declares trim, case or true')
    texts = list(declared_texts(column))
    numbers = [number_of(text) for text in texts]
    sql = quoted(cells.name)
    if cells.kind in _NUMBERS:
        pairs = [
            (f"'{number!r}'::float8", place) for place, number in enumerate(numbers) if number is not None
        ]
        return _chosen(_number(sql, cells), pairs)
    if cells.kind not in MOMENTS and any(number is not None for number in numbers):
        _needs_copy(table, f'"{column.name}" holds {cells.shown}, and some of its values are numbers')
    return _chosen(text_sql(sql, cells), [(literal(text), place) for place, text in enumerate(texts)])


def _chosen(sql: str, pairs: Sequence[tuple[str, int]]) -> str:
    if not pairs:
        return "NULL"
    return f"CASE {sql} {' '.join(f'WHEN {value} THEN {place}' for value, place in pairs)} END"


def _grid(table: ServerTable, column: Column, cells: Cells) -> str:
    """The nearest step of a grid; far ones are compared away first, so that nothing overflows or vanishes."""
    lower, step, steps = grid_constants(column)
    if column.calendar is None and cells.kind in _NUMBERS:
        x = _number(quoted(cells.name), cells)
    elif column.calendar is not None and cells.kind in MOMENTS:
        x = _place(quoted(cells.name), cells, column.calendar)
    else:
        _needs_copy(table, f'"{column.name}" is declared {column.type} and holds {cells.shown}')
    first, last = lower + step / 4, lower + step * (steps + 1)
    nearest = f"floor(({x} - {_double(lower)}) / {_double(step)} + {_double(0.5)})"
    return (
        f"CASE WHEN {x} IS NULL OR {x} = 'NaN'::float8{_coded(column, cells, x)} THEN NULL WHEN {x} <= {_double(first)} THEN 0 WHEN {x} >= {_double(last)} THEN {steps} "
        f"ELSE least({nearest}, {_double(float(steps))})::bigint END"
    )


def _coded(column: Column, cells: Cells, x: str) -> str:
    """Whether a cell is one of the codes for missing ones: the same number, or the same date."""
    codes = [literal(code) for code in column.cells.missing_codes]
    if column.calendar is not None:
        return f" OR {text_sql(quoted(cells.name), cells)} IN ({', '.join(codes)})" if codes else ""
    numbers = [_double(number) for number in map(number_of, column.cells.missing_codes) if number is not None]
    return f" OR {x} IN ({', '.join(numbers)})" if numbers else ""


def _double(value: float) -> str:
    return f"'{value!r}'::float8"


def _number(sql: str, cells: Cells) -> str:
    """The binary64 that a cell is."""
    if cells.kind == "bool":
        return f"(CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END)::float8"
    if cells.kind != "numeric":
        return f"{sql}::float8"
    return (
        f"(CASE WHEN {sql} = 'NaN' THEN 'NaN'::float8 WHEN {sql} >= {_INFINITE} THEN 'Infinity'::float8 "
        f"WHEN {sql} > {_LARGEST} THEN 1.7e308::float8 WHEN {sql} <= -{_INFINITE} THEN '-Infinity'::float8 "
        f"WHEN {sql} < -{_LARGEST} THEN -1.7e308::float8 WHEN abs({sql}) <= {_NOTHING} THEN 0::float8 "
        f"WHEN abs({sql}) < {_LEAST} THEN 5e-324::float8 ELSE {sql}::float8 END)"
    )


def _place(sql: str, cells: Cells, step: str) -> str:
    """The number of the step that a moment falls in, missing outside of the years 1 to 9999."""
    moment = f"({sql} AT TIME ZONE 'UTC')" if cells.kind == "timestamptz" else sql
    minutes = (
        f"({moment}::date - DATE '1970-01-01') * 1440::bigint + extract(hour FROM {moment}::timestamp) * 60"
    )
    month = f"extract(year FROM {moment}) * 12 + extract(month FROM {moment}) - 1"
    place = month if step == "month" else steps_sql(minutes, step)
    within = f"{moment} >= '0001-01-01' AND {moment} < '10000-01-01'"
    return f"(CASE WHEN {within} THEN ({place})::float8 END)"
