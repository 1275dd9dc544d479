"""One row of each unit's rows, in SQL: :func:`dpnb.datasets.preparation.per_unit` over again, equal to it bit for bit.

A table is grouped once, at attach, by whose row it is; nothing of its rows is kept but what the lines of ``[prepare]`` take.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.unit_summary import LARGEST, UnitSummary

UNIT = '"##unit"'

_MOST_ROWS = 1 << 40
"""What a table is taken to have at most, when sums are made wide enough."""


def grouped(rows: str, lines: Sequence[UnitSummary], schema: Schema) -> str:
    """The SELECT of one row for each unit of a relation of codes with their units; rows without a unit are dropped."""
    taken = ", ".join(f"{_code(line, schema[line.name])} AS {quoted(line.name)}" for line in lines)
    return f"SELECT {UNIT}, {taken} FROM ({rows}) WHERE {UNIT} IS NOT NULL GROUP BY {UNIT}"


def joined(rows: str, tables: Sequence[tuple[str, Sequence[UnitSummary]]]) -> str:
    """The SELECT of a relation's rows with what is prepared of other tables for the same unit; missing where a unit has none there."""
    sql = rows
    for select, lines in tables:
        found = ", ".join(f"other.{quoted(line.name)} AS {quoted(line.name)}" for line in lines)
        sql = f"SELECT one.*, {found} FROM ({sql}) AS one LEFT JOIN ({select}) AS other USING ({UNIT})"
    return sql


def filled(column: Column, kind: str) -> str:
    """A prepared cell in the narrowest type, a missing one filled in as declared."""
    missing = "NULL" if column.missing_code is None else str(column.missing_code)
    return f"CAST(coalesce({quoted(column.name)}, {missing}) AS {kind}) AS {quoted(column.name)}"


def _code(line: UnitSummary, made: Column) -> str:
    cell = quoted(line.of.name)
    match line.take:
        case "count":
            return _placed(line, made, "count(*)", "0")
        case "sum" | "mean":
            return _placed(line, made, f"count({cell})", f"sum({cell})")
        case "any":
            listed = ", ".join(map(str, line.among))
            return f"CAST(bool_or({cell} IN ({listed})) AS BIGINT)"
    order, size = quoted(line.by.name if line.by else ""), line.of.size + 1
    last = f"max(CAST({order} AS BIGINT) * {size} + coalesce(CAST({cell} AS BIGINT) + 1, 0))"
    return f"nullif({last} % {size}, 0) - 1"


def _placed(line: UnitSummary, made: Column, rows: str, total: str) -> str:
    """The grid point nearest to a count, sum or mean: floor(t + ½) of a numerator that is not negative, held to the grid."""
    a, b, c, q = line.scale(made)
    mean, top = line.take == "mean", made.size - 1
    most = _MOST_ROWS * (abs(a) + abs(b) * (line.of.size - 1) + abs(c) + q)
    wide = "BIGINT" if 4 * most < LARGEST else "HUGEINT"
    each, n = (f"CAST({rows} AS {wide})" if mean else "1"), f"CAST({rows} AS {wide})"
    terms = [
        f"{a}::{wide} * {n}" if a else "",
        f"{b}::{wide} * CAST({total} AS {wide})" if b else "",
        f"{-c}::{wide} * {each}" if c else "",
    ]
    value = " + ".join(filter(None, terms)) or f"0::{wide}"
    if q == 1 and not mean:
        place = f"least(greatest({value}, 0), {top})"
    else:
        below = f"2 * {q}::{wide} * {each}"
        above = f"(2 * ({value}) + {each} * {q}::{wide})"
        place = f"CASE WHEN {above} <= 0 THEN 0 ELSE least({above} // ({below}), {top}) END"
    return (
        f"CAST({place} AS BIGINT)"
        if rows == "count(*)"
        else f"CAST(CASE WHEN {rows} > 0 THEN {place} END AS BIGINT)"
    )
