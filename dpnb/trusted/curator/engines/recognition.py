"""The sums by which content is recognised, in SQL: :mod:`dpnb.trusted.curator.content` over again, equal to it to the last bit.

One pass gives all sums of few columns, of a file that can be read again without keeping anything; of many columns (or of a CSV
file, which is slow to read) the cells' numbers are kept in a temporary table, a list per row. Linear in the cells, and no text
of the data is written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import duckdb

from dpnb.trusted.curator.content import (
    ABSENT,
    DAY,
    LEAST_DISTINCT,
    MASK,
    WHOLE,
    Content,
    Kind,
    Sums,
    column_numbers,
    finish,
    hash_text,
    identifies,
    may_be_guessed,
    numbers_of,
    read_names,
)
from dpnb.trusted.curator.engines.cell_sql import canonical_sql, is_number, literal, text_sql, whole_sql
from dpnb.trusted.curator.engines.list_sql import ListOfColumns, alike, in_order, selected
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
    lists = _lists(raw, schema)
    alone = all(one.alone for one in lists)
    kept = "VIEW" if alone and not raw.files else "TABLE"
    connection.execute(f'CREATE TEMP {kept} "##cells" AS {_cells(raw, schema, key)}')
    try:
        rows, multiset, state, *told = connection.execute(_totals(lists, key, alone=alone)).fetchall()[0]
        columns = (
            [_Column(rows, *told[place : place + 6]) for place in range(0, len(told), 6)]
            if alone
            else _columns(connection, len(read_names(schema)))
        )
        counting = [
            (
                '"##cells"' if kept == "TABLE" else f"({_cells(raw, schema, key, one)})",
                ("i" if column.may_run and is_number(raw.column(name)[1]) else "h") + one.name,
            )
            for one, column, name in zip(lists, columns, read_names(schema), strict=alone)
        ]
        kinds = _kinds(connection, columns, counting if alone else None)
    finally:
        connection.execute(f'DROP {kept} "##cells"')
    pairs = zip(columns, kinds, strict=True)
    known = [
        (column.known, int(column.total)) for column, kind in pairs if identifies(kind.distinct, run=kind.run)
    ]
    guessable = may_be_guessed(rows, kinds)
    return finish(Sums(rows, known, guessable, int(multiset or 0), int(state or 0)), schema, key)


def _lists(raw: RawTable, schema: Schema) -> list[ListOfColumns]:
    """The columns that are read: numbers as they are, everything else as its canonical text."""
    return alike(
        [raw.column(name) for name in read_names(schema)],
        lambda _, sql, kind: sql if is_number(kind) else canonical_sql(sql, kind),
    )


def _cells(raw: RawTable, schema: Schema, key: bytes, only: ListOfColumns | None = None) -> str:
    """The SELECT of every cell's number (h) and, where it is one, its integer or day (i), with whose row it is.

    Of one column alone, and nobody's, where only that is counted: a statement is planned with all that it names.
    """
    lists = _lists(raw, schema) if only is None else [only]
    kinds = [raw.column(name)[1] for name in read_names(schema)]
    alone, by_row = all(one.alone for one in lists), schema.unit_column is None and only is None
    unit = "NULL" if schema.unit_column is None or only else text_sql(*raw.column(schema.unit_column))
    owner = "row_number() OVER () - 1" if by_row else f"coalesce({_half(key, 'unit', unit)}, 0::UBIGINT)"
    source = f"SELECT {selected(lists)}, {owner} AS owner FROM {raw.sql}"
    whole = [f"{one.mapped(partial(_whole, kinds[one.places[0]]))} AS w{one.name}" for one in lists]
    source = f"SELECT *, {', '.join(whole)} FROM ({source})"
    mixed = {f"w{one.name}": (f"w{one.name}", "cell") for one in lists if alone}
    source = _mixed(source, mixed | ({"owner": ("owner", "place")} if by_row else {}), key)
    cells = [
        f"{one.mapped(partial(reading, key, kinds[one.places[0]], one))} AS {prefix}{one.name}"
        for prefix, reading in (("h", _hashed), ("i", _placed))
        for one in lists
    ]
    found = f"SELECT {', '.join(cells)}, {'m' if by_row else ''}owner AS owner FROM ({source})"
    if alone:
        return found
    return f"SELECT {in_order(lists, 'h')} AS h, {in_order(lists, 'i')} AS i, owner FROM ({found})"


def _whole(kind: str, sql: str, _: str) -> str:
    """The whole number that a cell is, or NULL."""
    if is_number(kind):
        return whole_sql(sql, kind)
    return f"CASE WHEN regexp_full_match({sql}, {literal(WHOLE)}) THEN CAST({sql} AS BIGINT) END"


def _hashed(key: bytes, kind: str, one: ListOfColumns, sql: str, n: str) -> str:
    whole, text = one.part("w", n), canonical_sql(sql, kind) if is_number(kind) else sql
    mixed = one.part("mw", n) if one.alone else _mixed_at_once(whole, numbers_of(key, "cell"))
    return f"CASE WHEN {whole} IS NULL THEN {_half(key, 'cell', text)} ELSE {mixed} END"


def _placed(_: bytes, kind: str, one: ListOfColumns, sql: str, n: str) -> str:
    """The whole number or the day that a cell is."""
    whole = one.part("w", n)
    if is_number(kind):
        return whole
    day = f"TRY_CAST({sql} AS DATE) - DATE '1970-01-01'"
    return f"CASE WHEN {whole} IS NOT NULL THEN {whole} WHEN regexp_full_match({sql}, {literal(DAY)}) THEN {day} END"


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


_FACTS = (
    "count({h})",
    "coalesce(sum({h}), 0)",
    "approx_count_distinct({h})",
    "count({i})",
    "min({i})",
    "max({i})",
)


def _columns(connection: duckdb.DuckDBPyConnection, width: int) -> list[_Column]:
    cells = 'SELECT unnest(h) AS h, unnest(i) AS i, generate_subscripts(h, 1) AS place FROM "##cells"'
    facts = ", ".join(_FACTS).format(h="h", i="i")
    found = connection.execute(
        f"SELECT count(*), {facts} FROM ({cells}) GROUP BY place ORDER BY place"
    ).fetchall()
    return [_Column(*row) for row in found] or [_Column(0, 0, 0, 0, 0, None, None)] * width


def _kinds(
    connection: duckdb.DuckDBPyConnection,
    columns: list[_Column],
    counting: Sequence[tuple[str, str]] | None,
) -> list[Kind]:
    """Count exactly only where it matters: few cells, or integers whose range is about as long as they are many."""
    kinds = [Kind(column.near, run=False, missing=column.known < column.rows) for column in columns]
    unsure = [place for place, column in enumerate(columns) if not column.surely_many]
    exact = (
        _counted_together(connection, unsure)
        if counting is None
        else {place: _counted(connection, *counting[place]) for place in unsure}
    )
    for place in unsure:
        distinct, even = exact.get(place, (0, False))
        run = distinct > 0 and columns[place].may_run and columns[place].span == distinct and even
        kinds[place] = Kind(distinct, run=run, missing=kinds[place].missing)
    return kinds


def _counted(connection: duckdb.DuckDBPyConnection, source: str, cell: str) -> tuple[int, bool]:
    """How many distinct cells a column has, and whether each occurs equally often."""
    counted = f"SELECT count(*) AS n FROM {source} WHERE {cell} IS NOT NULL GROUP BY {cell}"
    distinct, even = connection.execute(f"SELECT count(*), min(n) = max(n) FROM ({counted})").fetchall()[0]
    return distinct, bool(even)


def _counted_together(
    connection: duckdb.DuckDBPyConnection, unsure: list[int]
) -> dict[int, tuple[int, bool]]:
    cells = 'SELECT unnest(h) AS h, generate_subscripts(h, 1) - 1 AS place FROM "##cells"'
    counted = (
        f"SELECT place, count(*) AS n FROM ({cells}) WHERE h IS NOT NULL AND place IN ? GROUP BY place, h"
    )
    found = connection.execute(
        f"SELECT place, count(*), min(n) = max(n) FROM ({counted}) GROUP BY place", [unsure]
    ).fetchall()
    return {place: (distinct, even) for place, distinct, even in found}


def _totals(lists: Sequence[ListOfColumns], key: bytes, *, alone: bool) -> str:
    """The SELECT of both sums over rows and, where each column is alone, of what is told of its cells."""
    factor = numbers_of(key, "state")[1]
    places = [f"{number}::UBIGINT" for number in column_numbers(key, sum(len(one.places) for one in lists))]

    def told(x: str, place: str) -> str:
        return _halves(f"{_product(f'coalesce({x}, {ABSENT}::UBIGINT)', place, factor)}")

    if alone:
        cells = [f"h{one.name}" for one in lists]
        row = " + ".join(f"CAST(coalesce({cell}, {ABSENT}::UBIGINT) AS UHUGEINT)" for cell in cells)
        placed = " + ".join(
            f"CAST({told(cell, place)} AS UHUGEINT)" for cell, place in zip(cells, places, strict=True)
        )
        facts = [fact.format(h=f"h{one.name}", i=f"i{one.name}") for one in lists for fact in _FACTS]
    else:
        numbers = f"list_transform(h, lambda x: CAST(coalesce(x, {ABSENT}::UBIGINT) AS UHUGEINT))"
        row = f"list_reduce({numbers}, lambda x, y: x + y)"
        one = told("x", f"[{', '.join(places)}][n]")
        placed = f"list_reduce(list_transform(h, lambda x, n: CAST({one} AS UHUGEINT)), lambda x, y: x + y)"
        facts = []
    summed = f'SELECT *, {_low(row)} AS "row", {_low(f"{placed} + owner")} AS "state" FROM "##cells"'
    mixed = _mixed(summed, {name: (f'"{name}"', name) for name in ("row", "state")}, key)
    return f"SELECT {', '.join(('count(*)', 'sum(mrow)', 'sum(mstate)', *facts))} FROM ({mixed})"


def _half(key: bytes, kind: str, text: str) -> str:
    """The last eight bytes of an md5; DuckDB's own word for it writes out every bit, and takes twice as long as hashing."""
    return f"CAST(md5_number({literal(hash_text(key, kind))} || {text}) >> 64 AS UBIGINT)"


def _low(sql: str) -> str:
    """The last 64 bits of a sum."""
    return f"CAST(({sql}) & {MASK}::UHUGEINT AS UBIGINT)"


def _mixed(source: str, wanted: Mapping[str, tuple[str, str]], key: bytes) -> str:
    """A SELECT with numbers of its rows mixed (:func:`dpnb.trusted.curator.content.mix`): name by name m before it, of what kind.

    In steps, each a SELECT of its own, so that nothing is computed twice.
    """
    steps: list[list[str]] = [[], [], []]
    for name, (sql, kind) in wanted.items():
        a, b, c, d = numbers_of(key, kind)
        steps[0].append(f"{_product(_unsigned(sql), f'{a}::UBIGINT', b)} AS p{name}")
        steps[1].append(f"{_product(_halves(f'p{name}'), f'{c}::UBIGINT', d)} AS q{name}")
        steps[2].append(f"{_halves(f'q{name}')} AS m{name}")
    for step in steps:
        source = f"SELECT {', '.join(('*', *step))} FROM ({source})"
    return source


def _mixed_at_once(sql: str, numbers: tuple[int, int, int, int]) -> str:
    """A number mixed in one expression, as the cells of a list have to be."""
    a, b, c, d = numbers
    once = _halves(_product(_unsigned(sql), f"{a}::UBIGINT", b))
    return _halves(_product(once, f"{c}::UBIGINT", d))


def _unsigned(sql: str) -> str:
    """A whole number modulo 2^64."""
    return f"CAST(CAST({sql} AS HUGEINT) & {MASK}::HUGEINT AS UBIGINT)"


def _product(sql: str, added: str, factor: int) -> str:
    return f"(CAST(xor({sql}, {added}) AS UHUGEINT) * {factor}::UHUGEINT)"


def _halves(product: str) -> str:
    return f"xor(CAST({product} >> 64 AS UBIGINT), CAST({product} & {MASK}::UHUGEINT AS UBIGINT))"
