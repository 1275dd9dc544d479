"""The sums by which content is recognised, in SQL: :mod:`dpnb.trusted.curator.content` over again, equal to it to the last bit.

One pass hashes every cell that is read into a temporary table of integers, a list per row; sums, distinct cells and runs are
taken from that. Linear in the cells, and no text of the data is written anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from dpnb.trusted.curator.engines.list_sql import alike, in_order, selected
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
    connection.execute(f'CREATE TEMP TABLE "##cells" AS {_cells(raw, schema, key)}')
    try:
        columns = _columns(connection, len(read_names(schema)))
        kinds = _kinds(connection, columns)
        pairs = zip(columns, kinds, strict=True)
        known = [
            (column.known, column.total) for column, kind in pairs if identifies(kind.distinct, run=kind.run)
        ]
        rows, *halves = connection.execute(_totals(key)).fetchall()[0]
        guessable = may_be_guessed(rows, kinds)
    finally:
        connection.execute('DROP TABLE "##cells"')
    low, high, state_low, state_high = (0 if half is None else int(half) for half in halves)
    return finish(Sums(rows, known, guessable, (low, high), (state_low, state_high)), schema, key)


def _cells(raw: RawTable, schema: Schema, key: bytes) -> str:
    """The SELECT of every cell's hash (h) and, where it is one, its integer or day (i), with whose row it is."""
    lists = alike(
        [raw.column(name) for name in read_names(schema)], lambda _, sql, kind: canonical_sql(sql, kind)
    )
    unit = "NULL" if schema.unit_column is None else text_sql(*raw.column(schema.unit_column))
    owner = (
        "CAST(row_number() OVER () - 1 AS VARCHAR)"
        if schema.unit_column is None
        else f"coalesce('u' || {unit}, 'n')"
    )
    hashed = _lower(f"md5_number({literal(hash_text(key, 'cell'))} || x)")
    return (
        f"SELECT list_transform(cells, lambda x: {hashed}) AS h, list_transform(cells, lambda x: {_place('x')}) AS i, owner "
        f"FROM (SELECT {in_order(lists)} AS cells, owner "
        f"FROM (SELECT {selected(lists)}, {owner} AS owner FROM {raw.sql}))"
    )


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

    @property
    def may_run(self) -> bool:
        """Whether every known cell is an integer or a day."""
        return self.lowest is not None and self.whole == self.known

    @property
    def span(self) -> int:
        """How many integers or days lie between the first and the last, both counted."""
        return 0 if self.lowest is None or self.highest is None else self.highest - self.lowest + 1

    @property
    def surely_many(self) -> bool:
        """Whether the approximate number of distinct cells says enough."""
        near = self.near
        return near >= _SURELY_MANY and not (self.may_run and near / 2 <= self.span <= near * 2)


def _columns(connection: duckdb.DuckDBPyConnection, width: int) -> list[_Column]:
    cells = 'SELECT unnest(h) AS h, unnest(i) AS i, generate_subscripts(h, 1) AS place FROM "##cells"'
    found = connection.execute(
        "SELECT count(*), count(h), coalesce(sum(h), 0), approx_count_distinct(h), count(i), min(i), max(i) "
        f"FROM ({cells}) GROUP BY place ORDER BY place"
    ).fetchall()
    return [_Column(*row) for row in found] or [_Column(0, 0, 0, 0, 0, None, None)] * width


def _kinds(connection: duckdb.DuckDBPyConnection, columns: list[_Column]) -> list[Kind]:
    """Count exactly only where it matters: few cells, or integers whose range is about as long as they are many."""
    kinds = [Kind(column.near, run=False, missing=column.known < column.rows) for column in columns]
    unsure = [place for place, column in enumerate(columns) if not column.surely_many]
    cells = 'SELECT unnest(h) AS h, generate_subscripts(h, 1) - 1 AS place FROM "##cells"'
    counted = (
        f"SELECT place, count(*) AS n FROM ({cells}) WHERE h IS NOT NULL AND place IN ? GROUP BY place, h"
    )
    found = connection.execute(
        f"SELECT place, count(*), min(n) = max(n) FROM ({counted}) GROUP BY place", [unsure]
    ).fetchall()
    exact = {place: (distinct, even) for place, distinct, even in found}
    for place in unsure:
        distinct, even = exact.get(place, (0, False))
        run = distinct > 0 and columns[place].may_run and columns[place].span == distinct and even
        kinds[place] = Kind(distinct, run=run, missing=kinds[place].missing)
    return kinds


def _totals(key: bytes) -> str:
    """The SELECT of both sums over rows."""
    numbers = f"list_transform(h, lambda x: coalesce(CAST(x AS HUGEINT), {ABSENT}))"
    whole = f"list_reduce({numbers}, lambda x, y: x + y)"
    placed = "array_to_string(list_transform(h, lambda x: coalesce(CAST(x AS VARCHAR), '~')), ',')"
    row = f"{literal(hash_text(key, 'row'))} || CAST({whole} AS VARCHAR)"
    state = f"{literal(hash_text(key, 'state'))} || {placed} || '|' || owner"
    hashed = f'SELECT md5_number({row}) AS row, md5_number({state}) AS state FROM "##cells"'
    sums = ", ".join(f"sum({half(text)})" for text in ("row", "state") for half in (_lower, _upper))
    return f"SELECT count(*), {sums} FROM ({hashed})"


def _lower(number: str) -> str:
    """The last eight bytes of an md5; DuckDB's own word for it writes out every bit, and takes twice as long as hashing."""
    return f"CAST({number} >> 64 AS UBIGINT)"


def _upper(number: str) -> str:
    return f"CAST({number} & {2**64 - 1}::UHUGEINT AS UBIGINT)"
