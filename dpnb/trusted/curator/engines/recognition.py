"""The sums by which content is recognised, in SQL: :mod:`dpnb.trusted.curator.content` over again, equal to it to the last bit.

One pass gives all sums of few columns, of a file that can be read again without keeping anything; of a CSV file, which is
slow to read, the cells' numbers are kept in a temporary table, and so are those of many columns, each cell as a row of its own:
a statement is planned in the time that its columns take, and all cells of one type are then one column. Linear in the cells,
and no text of the data is written anywhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import duckdb

from dpnb.trusted.curator.content import (
    DAY,
    DAYS,
    FINALISER,
    LEAST_DISTINCT,
    MASK,
    MISSING,
    Content,
    Kind,
    Sums,
    column_numbers,
    finish,
    finished,
    hash_text,
    identifies,
    may_be_guessed,
    mix,
    numbers_of,
    read_names,
)
from dpnb.trusted.curator.engines.cell_sql import (
    has_moments,
    is_integer,
    is_number,
    is_text,
    literal,
    may_be_number,
    number_sql,
    readable,
    text_sql,
    whole_sql,
)
from dpnb.trusted.curator.engines.list_sql import MOST_ALONE
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import LARGEST_WHOLE

_FINISHED, _NUMBER = '"##finished"', '"##number"'

_ARITHMETIC = {
    '"##times"': f"CAST(CAST(xor(x, x >> 32) AS UHUGEINT) * {FINALISER} & {MASK}::UHUGEINT AS UBIGINT)",
    '"##twice"': '"##times"("##times"(x))',
    '"##half"': 'xor("##twice"(x), "##twice"(x) >> 32)',
    _FINISHED: f'xor("##half"(CAST(CAST(x AS UHUGEINT) >> 64 AS UBIGINT)), "##half"(CAST(CAST(x AS UHUGEINT) & {MASK}::UHUGEINT AS UBIGINT)))',
    _NUMBER: f"{_FINISHED}(CAST(CAST(x + 0.0::DOUBLE AS BIT) AS UBIGINT))",
}

_NAN, _HALF = "'nan'::DOUBLE", "0.5::DOUBLE"

_FIRST = 2**14
"""Rows of which distinct cells are counted first: most columns show there that they have many."""

_LABEL = "LABEL"
"""The type of texts that are hashed as they stand, none of which may be a number."""


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
    cells = _with_labels(connection, _Cells.of(raw, schema, key))
    define_finished(connection)
    relation = '"##cells"' if cells.kept else f"({cells.sql()})"
    if cells.kept:
        connection.execute(f"CREATE TEMP TABLE {relation} AS {cells.sql()}")
    try:
        rows, multiset, state, *told = connection.execute(_totals(cells, relation)).fetchall()[0]
        columns = (
            _columns(connection, cells, rows)
            if cells.many
            else [cells.column(rows, *told[place : place + 4]) for place in range(0, len(told), 4)]
        )
        kinds = _kinds(connection, cells, columns, rows)
    finally:
        if cells.kept:
            connection.execute(f"DROP TABLE {relation}")
    pairs = zip(columns, kinds, strict=True)
    known = [
        (column.known, column.total) for column, kind in pairs if identifies(kind.distinct, run=kind.run)
    ]
    guessable = may_be_guessed(rows, kinds)
    return finish(Sums(rows, known, guessable, int(multiset or 0), int(state or 0)), schema, key)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells that are read, on their way to numbers; each column's SQL and type, of texts of any type their text."""

    raw: RawTable
    schema: Schema
    key: bytes
    columns: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, raw: RawTable, schema: Schema, key: bytes) -> Self:
        """Find the columns that a schema reads."""
        return cls(raw, schema, key, [_plainly(*raw.column(name)) for name in read_names(schema)])

    @property
    def many(self) -> bool:
        """Whether a statement that names every column is planned for longer than it runs."""
        return len(self.columns) > MOST_ALONE

    @property
    def kept(self) -> bool:
        """Whether the cells' numbers are kept in a table."""
        return self.many or bool(self.raw.files)

    @property
    def missing(self) -> int:
        """The number of a missing cell."""
        return mix(MISSING, numbers_of(self.key, "cell"))

    def column(
        self, rows: int, missing: int, total: int, lowest: float | None, below: float | None
    ) -> _Column:
        """What is known of a column, its missing cells taken off its sum."""
        highest = None if below is None else -below
        return _Column(rows - missing, int(total) - missing * self.missing, lowest, highest)

    def sql(self) -> str:
        """The SELECT of every cell's number (h) and its place (i) among numbers, or, between two of them, days; with whose row it is.

        Of few columns a row is a row, with ``owner``; of many it is a cell, with its ``row`` and ``place``, the owner at place 0.
        """
        return self._long() if self.many else self._wide()

    def numbers(self, places: Sequence[int], rows: float) -> str:
        """The SELECT of some columns' numbers in so many rows; in all rows, of one column, each cell of the data once."""
        first, distinct = (f"LIMIT {rows}", "") if rows < math.inf else ("", "DISTINCT")
        if self.kept:
            return f'SELECT {", ".join(f"h{place}" for place in places)} FROM "##cells" {first}'
        cells = ", ".join(f"{self.columns[place][0]} AS x{place}" for place in places)
        kinds = {str(place): self.columns[place][1] for place in places}
        return self._numbered(f"SELECT {distinct} {cells} FROM {self.raw.sql} {first}", kinds, "0")

    def _wide(self) -> str:
        cells = ", ".join(f"{sql} AS x{place}" for place, (sql, _) in enumerate(self.columns))
        source = f"SELECT {cells}, {self._whose()} FROM {self.raw.sql}"
        kinds = {str(place): kind for place, (_, kind) in enumerate(self.columns)}
        if self.schema.unit_column is None:
            return self._numbered(source, kinds, f"{self._owner()} AS owner")
        whole, text = self._unit()
        named = f"CASE WHEN {whole} IS NULL THEN {_half(self.key, 'unit', text)} END AS whose"
        numbered = self._numbered(f"SELECT *, {named} FROM ({source})", kinds, "whose")
        at = read_names(self.schema).index(self.schema.unit_column)
        return f"SELECT * EXCLUDE (whose), coalesce(whose, h{at}) AS owner FROM ({numbered})"

    def _long(self) -> str:
        places: dict[str, list[int]] = {}
        for place, (_, kind) in enumerate(self.columns):
            places.setdefault(kind, []).append(place)
        lists = ", ".join(
            f"[{', '.join(self.columns[place][0] for place in alike)}] AS l{number}"
            for number, alike in enumerate(places.values())
        )
        by_unit = "" if self.schema.unit_column is None else f', {self.raw.place} AS "row"'
        read = f"SELECT {lists}, {self._whose()}{by_unit} FROM {self.raw.sql}"
        parts = [f'SELECT {self._owner()} AS h, CAST(NULL AS DOUBLE) AS i, "row", 0 AS place FROM cells']
        for number, (kind, alike) in enumerate(places.items()):
            each = f'SELECT unnest(l{number}) AS x, generate_subscripts(l{number}, 1) AS n, "row" FROM cells'
            at = f"{_constants('INTEGER', [one + 1 for one in alike])}[n]"
            parts.append(self._numbered(each, {"": kind}, f'"row", {at} AS place'))
        return f"WITH cells AS MATERIALIZED ({read}) {' UNION ALL '.join(parts)}"

    def _whose(self) -> str:
        """What says whose a row is: its place, or the unit's own cell."""
        if self.schema.unit_column is None:
            return f'{self.raw.place} AS "row"'
        sql, kind = self.raw.column(self.schema.unit_column)
        return f"{sql if is_number(kind) else text_sql(sql, kind)} AS unit"

    def _owner(self) -> str:
        """The number of whose a row is."""
        if self.schema.unit_column is None:
            return _mixed(f'{_FINISHED}("row")', "place", self.key)
        whole, text = self._unit()
        named = f"coalesce({_half(self.key, 'unit', text)}, {self.missing}::UBIGINT)"
        number = _mixed(f"{_NUMBER}(CAST({whole} AS DOUBLE))", "cell", self.key)
        return f"CASE WHEN {whole} IS NULL THEN {named} ELSE {number} END"

    def _unit(self) -> tuple[str, str]:
        """The whole number that a unit's name plainly is, or NULL, and its text: a unit's number is its cell's in the first case."""
        kind = self.raw.column(self.schema.unit_column or "")[1]
        number = is_number(kind)
        return whole_sql("unit", kind if number else "VARCHAR"), text_sql("unit", kind) if number else "unit"

    def _numbered(self, source: str, kinds: Mapping[str, str], beside: str) -> str:
        """The SELECT of the numbers and places of the columns x of a relation, each named on with what is given, beside others."""
        columns = [self._steps(name, kind) for name, kind in kinds.items()]
        for step in itertools.zip_longest(*columns, fillvalue=()):
            source = f"SELECT *, {', '.join(itertools.chain(*step))} FROM ({source})"
        numbers = ", ".join(f"h{name}, i{name}" for name in kinds)
        return f"SELECT {numbers}, {beside} FROM ({source})"

    def _steps(self, name: str, kind: str) -> list[list[str]]:
        """What is computed of a column, one SELECT after the other, until h is the number of a cell, and i its place.

        Of a text d is the number that it is, y the day. Those that cannot be numbers are hashed first, as they stand: by functions
        alone, which DuckDB calls once for each text of a dictionary, as most files hold them.
        """
        x, d, y = f"x{name}", f"d{name}", f"y{name}"
        number, text = f"{_NUMBER}({d})", _half(self.key, "cell", x)
        if kind == _LABEL:
            return [
                [f"coalesce({text}, {self.missing}::UBIGINT) AS h{name}", f"CAST(NULL AS DOUBLE) AS i{name}"]
            ]
        if kind == "DATE":
            day = f"{_FINISHED}(coalesce({DAYS} + {y}, {MISSING}))"
            known = f"CASE WHEN year({x}) BETWEEN 1 AND 9999 THEN {_day(x)} END AS {y}"
            return [[known], [f"{self._mixed(day)} AS h{name}", f"{y} + {_HALF} AS i{name}"]]
        if kind != "VARCHAR":
            known = f"coalesce({number_sql(x, kind)}, {_NAN}) AS {d}"
            return [
                [known],
                [f"{self._mixed(number)} AS h{name}", f"{x if self.as_integers(kind) else d} AS i{name}"],
            ]
        stands = self.as_it_stands(kind)
        first = [f"{may_be_number(x)} AS b{name}", *([f"{text} AS g{name}"] if stands else [])]
        read = f"CASE WHEN b{name} THEN {number_sql(x, kind)} END AS {d}"
        date = f"b{name} AND {d} IS NULL AND regexp_full_match({x}, {literal(DAY)}) AND {x} >= '0001'"
        known = (
            f"CASE WHEN {y} IS NULL THEN {_NUMBER}(coalesce({d}, {_NAN})) ELSE {_FINISHED}({DAYS} + {y}) END"
        )
        plain = f"{d} IS NULL AND {y} IS NULL AND {x} <> ''"
        return [
            first,
            [read],
            [f"CASE WHEN {date} THEN {_day(f'TRY_CAST({x} AS DATE)')} END AS {y}"],
            [
                f"CASE WHEN {plain} THEN {f'g{name}' if stands else text} ELSE {self._mixed(known)} END AS h{name}",
                f"coalesce({d}, {y} + {_HALF}) AS i{name}",
            ],
        ]

    def _mixed(self, bits: str) -> str:
        return _mixed(bits, "cell", self.key)

    def as_it_stands(self, kind: str) -> bool:
        """Whether texts are hashed as they stand: a file of columns may hold each of them once."""
        return kind == "VARCHAR" and not self.many and not self.raw.files

    def as_integers(self, kind: str) -> bool:
        """Whether the places of a column's cells are its cells: integers, of which none is NaN."""
        return is_integer(kind) and not self.many


def _with_labels(connection: duckdb.DuckDBPyConnection, cells: _Cells) -> _Cells:
    """Tell texts none of which may be a number from the others: a tenth of the work tells them."""
    texts = [place for place, (_, kind) in enumerate(cells.columns) if cells.as_it_stands(kind)]
    if not texts:
        return cells
    asked = (f"bool_or({may_be_number(cells.columns[place][0])})" for place in texts)
    found = connection.execute(f"SELECT {', '.join(asked)} FROM {cells.raw.sql}").fetchall()[0]
    labels = {place for place, some in zip(texts, found, strict=True) if not some}
    columns = [(sql, _LABEL if place in labels else kind) for place, (sql, kind) in enumerate(cells.columns)]
    return replace(cells, columns=columns)


def _plainly(sql: str, kind: str) -> tuple[str, str]:
    """A column of a type whose cells are no numbers or days by itself, as its texts."""
    if has_moments(kind) and kind != "DATE":
        return text_sql(sql, kind), "VARCHAR"
    plain = kind == "VARCHAR" or (readable(kind) and not is_text(kind))
    return (sql, kind) if plain else (f"CAST({sql} AS VARCHAR)", "VARCHAR")


def _day(date: str) -> str:
    return f"({date} - DATE '1970-01-01')"


@dataclass(frozen=True, slots=True)
class _Column:
    """What one pass says of a column's cells."""

    known: int
    total: int
    lowest: float | None
    highest: float | None

    def narrow(self) -> bool:
        """Whether integers between the lowest and the highest are too few to identify."""
        return (self.highest or 0) - (self.lowest or 0) < LEAST_DISTINCT - 1


_FACTS = (
    "coalesce(count_if({h} = {missing}::UBIGINT), 0)",
    "coalesce(sum({h}), 0)",
    "min({i})",
    "min(-{i})",
)
"""Of NaN, which is the largest number, a least one says nothing."""

_OF_INTEGERS = ("count(*) - count({i})", _FACTS[1], "min({i})::DOUBLE", "-max({i})::DOUBLE")
"""The same of integers, in half the time."""


def _columns(connection: duckdb.DuckDBPyConnection, cells: _Cells, rows: int) -> list[_Column]:
    facts = ", ".join(_FACTS).format(h="h", i="i", missing=cells.missing)
    found = connection.execute(
        f'SELECT {facts} FROM "##cells" WHERE place > 0 GROUP BY place ORDER BY place'
    ).fetchall()
    return [cells.column(rows, *row) for row in found] or [_Column(0, 0, None, None)] * len(cells.columns)


def _kinds(
    connection: duckdb.DuckDBPyConnection, cells: _Cells, columns: Sequence[_Column], rows: int
) -> list[Kind]:
    """Count all rows only where neither the first nor the lowest and highest integer say whether a column's cells are few."""
    runs: dict[tuple[float, float], int] = {}
    run = [_is_run(connection, column, cells.key, runs) for column in columns]

    def kinds() -> list[Kind]:
        told = zip(columns, run, strict=True)
        return [Kind(distinct[at], run=it, missing=one.known < rows) for at, (one, it) in enumerate(told)]

    distinct = _counted(connection, cells, range(len(columns)), _FIRST)
    few = [place for place, found in distinct.items() if found < LEAST_DISTINCT and rows > _FIRST]
    narrow = [place for place in few if is_integer(cells.columns[place][1]) and columns[place].narrow()]
    distinct |= _counted(connection, cells, [place for place in few if place not in narrow], math.inf)
    if narrow and may_be_guessed(rows, kinds()):
        distinct |= _counted(connection, cells, narrow, math.inf)
    return kinds()


def _is_run(
    connection: duckdb.DuckDBPyConnection, column: _Column, key: bytes, runs: dict[tuple[float, float], int]
) -> bool:
    """Whether a column's sum is that of its range, so many times; sums of ranges are kept in ``runs``."""
    lowest, highest = column.lowest, column.highest
    if lowest is None or highest is None or not max(-lowest, highest) < LARGEST_WHOLE:
        return False
    size, part = int(highest - lowest) + 1, lowest % 1
    if part not in (0, 0.5) or part != highest % 1 or column.known % size:
        return False
    if (lowest, highest) not in runs:
        bits = f"{_FINISHED}({DAYS} + range)" if part else f"{_NUMBER}(CAST(range AS DOUBLE))"
        cells = f"range({math.floor(lowest)}, {math.floor(highest) + 1})"
        query = f"SELECT sum({_mixed(bits, 'cell', key)}) FROM {cells}"
        runs[lowest, highest] = int(connection.execute(query).fetchall()[0][0])
    return column.total == column.known // size * runs[lowest, highest]


def _counted(
    connection: duckdb.DuckDBPyConnection, cells: _Cells, places: Sequence[int], rows: float
) -> dict[int, int]:
    """How many distinct cells columns have in the first rows, so many."""
    count = f"count(DISTINCT {{0}}) FILTER ({{0}} <> {cells.missing}::UBIGINT)"
    if cells.many:
        first = f'"row" < {rows}' if rows < math.inf else "true"
        query = f'SELECT place - 1, {count.format("h")} FROM "##cells" WHERE place - 1 IN ? AND {first} GROUP BY place'
        found = dict(connection.execute(query, [list(places)]).fetchall())
        return {place: found.get(place, 0) for place in places}
    found = {}
    for some in [places] if places and rows < math.inf else [[place] for place in places]:
        counts = ", ".join(count.format(f"h{place}") for place in some)
        query = f"SELECT {counts} FROM ({cells.numbers(some, rows)})"
        found |= dict(zip(some, connection.execute(query).fetchall()[0], strict=True))
    return found


def _totals(cells: _Cells, relation: str) -> str:
    """The SELECT of both sums over rows and, where each column is alone, of what is told of its cells."""
    width = len(cells.columns)
    numbers = column_numbers(cells.key, width)
    if cells.many:
        its = f"{_constants('UBIGINT', numbers)}[place]"
        added = (
            f"sum(h) FILTER (place > 0) AS cells, bit_xor({_FINISHED}(xor(h, {its}))) FILTER (place > 0) AS told, "
            "max(h) FILTER (place = 0) AS owner"
        )
        facts, source = [], f'SELECT {added} FROM {relation} GROUP BY "row"'
    else:
        row = " + ".join(f"CAST(h{place} AS HUGEINT)" for place in range(width))
        changed = (f"{_FINISHED}(xor(h{at}, {number}::UBIGINT))" for at, number in enumerate(numbers))
        told = reduce("xor({}, {})".format, changed)
        facts = [
            fact.format(h=f"h{place}", i=f"i{place}", missing=cells.missing)
            for place, (_, kind) in enumerate(cells.columns)
            for fact in (_OF_INTEGERS if cells.as_integers(kind) else _FACTS)
        ]
        source = f"SELECT *, {row} AS cells, {told} AS told FROM {relation}"
    finished = f"{_FINISHED}(cells) AS mrow, {_FINISHED}(xor(told, owner)) AS mstate"
    folded = f"SELECT *, {finished} FROM ({source})"
    return f"SELECT {', '.join(('count(*)', 'sum(mrow)', 'sum(mstate)', *facts))} FROM ({folded})"


def _constants(kind: str, numbers: Sequence[int]) -> str:
    """Integers as one SQL list, which is read as one text."""
    return f"CAST('{list(numbers)}' AS {kind}[])"


def _half(key: bytes, kind: str, text: str) -> str:
    """The last eight bytes of an md5; DuckDB's own word for it writes out every bit, and takes twice as long as hashing."""
    return f"CAST(md5_number({literal(hash_text(key, kind))} || {text}) >> 64 AS UBIGINT)"


def _mixed(bits: str, kind: str, key: bytes) -> str:
    """What is finished of 64 bits, mixed on (:func:`dpnb.trusted.curator.content.mix`): never NULL, where they are not."""
    changed, factor = numbers_of(key, kind)
    return f"{_FINISHED}(CAST(xor({bits}, {changed}::UBIGINT) AS UHUGEINT) * {factor}::UHUGEINT)"


def define_finished(connection: duckdb.DuckDBPyConnection, *, own: bool = True) -> None:
    """Name what finishes bits (:func:`dpnb.trusted.curator.content.finished`), and those of a number: the engine's own hash, while that is this one.

    Another version of DuckDB may hash otherwise, and what is recognised stays: the arithmetic written out is the same, and slower.
    """
    probes = {"UHUGEINT": (1, 2**63 + 12345, 3**80), "BIGINT": (7, DAYS)}
    asked = [f"hash({probe}::{kind})" for kind, each in probes.items() for probe in each]
    expected = [finished(probe) for each in probes.values() for probe in each]
    for number, bits in ((_NAN, MISSING), ("-0.0::DOUBLE", 0), ("-1.5::DOUBLE", 0xBFF8 << 48)):
        asked.append(f"hash({number})")
        expected.append(finished(bits))
    own = own and list(connection.execute(f"SELECT {', '.join(asked)}").fetchall()[0]) == expected
    written_out = {_FINISHED: "hash(x)", _NUMBER: "hash(x)"} if own else _ARITHMETIC
    for name, written in written_out.items():
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {name}(x) AS {written}")
