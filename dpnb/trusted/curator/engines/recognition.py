"""The sums by which content is recognised, in SQL: :mod:`dpnb.trusted.curator.content` over again, equal to it to the last bit.

One pass hashes every cell that is read into a temporary table of integers; sums, distinct cells and runs are taken from
that. Linear in the rows, and no text of the data is written anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from dpnb.trusted.curator.content import (
    ABSENT,
    DAY,
    LEAST_DISTINCT,
    WHOLE,
    Content,
    Kind,
    Sums,
    finish,
    hash_text,
    identifies,
    may_be_guessed,
    read_names,
)
from dpnb.trusted.curator.engines.cell_sql import canonical_sql, literal, text_sql
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.schema import Schema

_SURELY_MANY = 16 * LEAST_DISTINCT
"""An approximate number of distinct cells from which on the exact one is surely large enough."""


def recognise(connection: duckdb.DuckDBPyConnection, raw: RawTable, schema: Schema, key: bytes) -> Content:
    """Sum the cells that a schema reads.

    Parameters
    ----------
    connection : duckdb connection
    raw : RawTable
    schema : Schema
    key : bytes
        The curator's key for recognising content, one for all datasets.
    """
    width = len(read_names(schema))
    connection.execute(f'CREATE TEMP TABLE "##cells" AS {_cells(raw, schema, key)}')
    try:
        columns = _columns(connection, width)
        kinds = [_kind(connection, place, column) for place, column in enumerate(columns)]
        pairs = zip(columns, kinds, strict=True)
        known = [
            (column.known, column.total) for column, kind in pairs if identifies(kind.distinct, run=kind.run)
        ]
        rows, *halves = _row(connection, _totals(width, key))
        guessable = may_be_guessed(rows, kinds)
    finally:
        connection.execute('DROP TABLE "##cells"')
    low, high, state_low, state_high = (0 if half is None else int(half) for half in halves)
    return finish(Sums(rows, known, guessable, (low, high), (state_low, state_high)), schema, key)


def _cells(raw: RawTable, schema: Schema, key: bytes) -> str:
    """The SELECT of every cell's hash (h) and, where it is one, its integer or day (i), with whose row it is."""
    sources = [raw.column(name) for name in read_names(schema)]
    texts = ", ".join(f"{canonical_sql(*source)} AS c{place}" for place, source in enumerate(sources))
    unit = "NULL" if schema.unit_column is None else text_sql(*raw.column(schema.unit_column))
    owner = (
        "CAST(row_number() OVER () - 1 AS VARCHAR)"
        if schema.unit_column is None
        else f"coalesce('u' || {unit}, 'n')"
    )
    hashed = ", ".join(
        f"md5_number_lower({literal(hash_text(key, 'cell'))} || c{place}) AS h{place}, {_place(f'c{place}')} AS i{place}"
        for place in range(len(sources))
    )
    return f"SELECT {hashed}, owner FROM (SELECT {texts}, {owner} AS owner FROM {raw.sql})"


def _place(text: str) -> str:
    return (
        f"CASE WHEN regexp_full_match({text}, {literal(WHOLE)}) THEN CAST({text} AS BIGINT) "
        f"WHEN regexp_full_match({text}, {literal(DAY)}) THEN TRY_CAST({text} AS DATE) - DATE '1970-01-01' END"
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """What one pass says of a column's cells."""

    rows: int
    known: int
    total: int
    near: int
    whole: int
    lowest: int | None
    highest: int | None


def _columns(connection: duckdb.DuckDBPyConnection, width: int) -> list[_Column]:
    parts = ", ".join(
        f"count(h{n}), coalesce(sum(h{n}), 0), approx_count_distinct(h{n}), count(i{n}), min(i{n}), max(i{n})"
        for n in range(width)
    )
    found = _row(connection, f'SELECT {parts}, count(*) FROM "##cells"')
    return [_Column(found[-1], *found[6 * n : 6 * n + 6]) for n in range(width)]


def _kind(connection: duckdb.DuckDBPyConnection, place: int, column: _Column) -> Kind:
    """Count exactly only where it matters: few cells, or integers whose range is about as long as they are many."""
    may_run = column.lowest is not None and column.highest is not None and column.whole == column.known
    missing = column.known < column.rows
    span = column.highest - column.lowest + 1 if may_run else 0  # type: ignore[operator]
    if column.near >= _SURELY_MANY and not (may_run and column.near / 2 <= span <= column.near * 2):
        return Kind(column.near, run=False, missing=missing)
    counted = f'SELECT count(*) AS n FROM "##cells" WHERE h{place} IS NOT NULL GROUP BY h{place}'
    distinct, least, most = _row(connection, f"SELECT count(*), min(n), max(n) FROM ({counted})")
    run = distinct > 0 and may_run and span == distinct and least == most
    return Kind(distinct, run=run, missing=missing)


def _totals(width: int, key: bytes) -> str:
    """The SELECT of both sums over rows."""
    cells = ", ".join(f"coalesce(CAST(h{n} AS HUGEINT), {ABSENT})" for n in range(width))
    whole = f"list_reduce([{cells}], lambda x, y: x + y)"
    placed = ", ".join(f"coalesce(CAST(h{n} AS VARCHAR), '~')" for n in range(width))
    row = f"{literal(hash_text(key, 'row'))} || CAST({whole} AS VARCHAR)"
    state = f"{literal(hash_text(key, 'state'))} || concat_ws(',', {placed}) || '|' || owner"
    sums = ", ".join(
        f"sum(md5_number_{half}({text}))" for text in ("row", "state") for half in ("lower", "upper")
    )
    return f'SELECT count(*), {sums} FROM (SELECT {row} AS row, {state} AS state FROM "##cells")'


def _row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    rows = connection.execute(sql).fetchall()  # to its end: an unfinished result blocks what comes next
    return tuple(rows[0])
