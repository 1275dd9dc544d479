"""The sums by which content is recognised, in SQL: :mod:`dpnb.trusted.curator.content` over again, equal to it to the last bit.

One pass gives all sums of few columns, of a file that can be read again without keeping anything; of a CSV file, which is
slow to read, the cells' numbers are kept in a temporary table, and so are those of many columns, each cell as a row of its own:
a statement is planned in the time that its columns take, and all cells of one type are then one column. Linear in the cells,
and no text of the data is written anywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import duckdb

from dpnb.trusted.curator.content import (
    ABSENT,
    DAY,
    DAYS,
    FINALISER,
    FRACTION,
    LEAST_DISTINCT,
    MASK,
    MIDDLE,
    WHOLE,
    Content,
    Kind,
    Sums,
    column_numbers,
    finish,
    finished,
    hash_text,
    identifies,
    may_be_guessed,
    numbers_of,
    read_names,
)
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    is_float,
    is_integer,
    is_number,
    is_small,
    is_text,
    literal,
    may_be_number,
    text_sql,
    whole_sql,
)
from dpnb.trusted.curator.engines.list_sql import MOST_ALONE
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import LARGEST_WHOLE, NUMBER

_FINISHED = '"##finished"'

_ARITHMETIC = {
    '"##times"': f"CAST(CAST(xor(x, x >> 32) AS UHUGEINT) * {FINALISER} & {MASK}::UHUGEINT AS UBIGINT)",
    '"##twice"': '"##times"("##times"(x))',
    '"##half"': 'xor("##twice"(x), "##twice"(x) >> 32)',
    _FINISHED: f'xor("##half"(CAST(CAST(x AS UHUGEINT) >> 64 AS UBIGINT)), "##half"(CAST(CAST(x AS UHUGEINT) & {MASK}::UHUGEINT AS UBIGINT)))',
}

_SURELY_MANY = 4 * LEAST_DISTINCT
"""An approximate number of distinct cells from which on the exact one is surely large enough: 63 are taken for 65 at the most."""

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
    kept = cells.many or bool(raw.files)
    relation = '"##cells"' if kept else f"({cells.sql()})"
    if kept:
        connection.execute(f"CREATE TEMP TABLE {relation} AS {cells.sql()}")
    try:
        rows, multiset, state, *told = connection.execute(_totals(cells, relation)).fetchall()[0]
        columns = (
            _columns(connection, len(cells.columns))
            if cells.many
            else [_Column(rows, *told[place : place + 7]) for place in range(0, len(told), 7)]
        )
        kinds = _kinds(connection, cells, columns, kept=kept)
    finally:
        if kept:
            connection.execute(f"DROP TABLE {relation}")
    pairs = zip(columns, kinds, strict=True)
    known = [
        (column.known, int(column.total)) for column, kind in pairs if identifies(kind.distinct, run=kind.run)
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

    def sql(self) -> str:
        """The SELECT of every cell's number (h) and, where it is a whole number or a day, what was mixed (i), with whose row it is.

        Of few columns a row is a row, with ``owner``; of many it is a cell, with its ``row`` and ``place``, the owner at place 0.
        """
        return self._long() if self.many else self._wide()

    def distinct(self, place: int) -> str:
        """The SELECT of one column's numbers, each text of the data once."""
        sql, kind = self.columns[place]
        cells = f"SELECT DISTINCT {sql} AS x FROM {self.raw.sql}"
        return f"SELECT h FROM ({self._numbered(cells, {'': kind}, '0')})"

    def _wide(self) -> str:
        cells = ", ".join(f"{sql} AS x{place}" for place, (sql, _) in enumerate(self.columns))
        source = f"SELECT {cells}, {self._whose()} FROM {self.raw.sql}"
        kinds = {str(place): kind for place, (_, kind) in enumerate(self.columns)}
        if self.schema.unit_column is None:
            return self._numbered(self._owned(source), kinds, "owner")
        whole, text = self._unit()
        named = f"CASE WHEN {whole} IS NULL THEN {_half(self.key, 'unit', text)} END AS whose"
        numbered = self._numbered(f"SELECT *, {named} FROM ({source})", kinds, "whose")
        at = read_names(self.schema).index(self.schema.unit_column)
        return f"SELECT * EXCLUDE (whose), coalesce(whose, h{at}, 0::UBIGINT) AS owner FROM ({numbered})"

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
        parts = [
            f'SELECT owner AS h, CAST(NULL AS BIGINT) AS i, "row", 0 AS place FROM ({self._owned("SELECT * FROM cells")})'
        ]
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

    def _owned(self, source: str) -> str:
        """A SELECT with the number of whose each row is."""
        if self.schema.unit_column is None:
            placed = _mixed(source, {"owner": (_unsigned('"row"'), "place")}, self.key)
            return f"SELECT *, mowner AS owner FROM ({placed})"
        whole, text = self._unit()
        owner = f"CASE WHEN eowner IS NULL THEN {_half(self.key, 'unit', text)} ELSE mowner END"
        mixed = _mixed(
            f"SELECT *, {whole} AS eowner FROM ({source})", {"owner": (_unsigned("eowner"), "cell")}, self.key
        )
        return f"SELECT *, coalesce({owner}, 0::UBIGINT) AS owner FROM ({mixed})"

    def _unit(self) -> tuple[str, str]:
        """The whole number that a unit's name plainly is, or NULL, and its text: a unit's number is its cell's in the first case."""
        kind = self.raw.column(self.schema.unit_column or "")[1]
        number = is_number(kind)
        return whole_sql("unit", kind if number else "VARCHAR"), text_sql("unit", kind) if number else "unit"

    def _numbered(self, source: str, kinds: Mapping[str, str], beside: str) -> str:
        """The SELECT of the numbers of the columns x of a relation, each named on with what is given, beside others."""
        columns = [self._steps(name, kind) for name, kind in kinds.items()]
        for step in itertools.zip_longest(*columns, fillvalue=()):
            source = f"SELECT *, {', '.join(itertools.chain(*step))} FROM ({source})"
        mixed = {name: kind for name, kind in kinds.items() if kind != _LABEL}
        parted = [name for name, kind in mixed.items() if not _is_whole(kind)]
        source = _mixed(source, {f"f{name}": (_unsigned(f"f{name}"), "part") for name in parted}, self.key)
        source = _mixed(
            source, {f"w{name}": (_changed(name, kind), "cell") for name, kind in mixed.items()}, self.key
        )
        numbers = (
            f"{self._number(name, kind)} AS h{name}, "
            f"{f'w{name}' if _is_whole(kind) else f'CASE WHEN f{name} IS NULL THEN w{name} END'} AS i{name}"
            if kind != _LABEL
            else f"h{name}, i{name}"
            for name, kind in kinds.items()
        )
        return f"SELECT {', '.join(numbers)}, {beside} FROM ({source})"

    def _steps(self, name: str, kind: str) -> list[list[str]]:
        """What is computed of a column, one SELECT after the other, until w is the whole number that is mixed for a cell, or NULL.

        Of numbers with a fraction and of texts w is the whole part or a day, and f the fraction. Texts are numbers by their canonical text. Those
        that cannot be numbers are hashed first, as they stand: by functions alone, which DuckDB calls once for each text of a dictionary,
        as most files hold them.
        """
        x, t = f"x{name}", f"t{name}"
        if _is_whole(kind):
            return [[f"{_plain(x, kind)} AS w{name}"]]
        if kind == _LABEL:
            return [[f"{_half(self.key, 'cell', x)} AS h{name}", f"CAST(NULL AS BIGINT) AS i{name}"]]
        if is_float(kind):
            return [[f"CAST({x} AS DOUBLE) AS d{name}"], *_in_parts(name, "")]
        stands = self.as_it_stands(kind)
        plain = f"CASE WHEN b{name} THEN {_plain(x, kind)} END" if stands else _plain(x, kind)
        known = f"b{name} AND e{name} IS NULL" if stands else f"e{name} IS NULL"
        first = [f"{may_be_number(x)} AS b{name}", f"{_half(self.key, 'cell', x)} AS g{name}"]
        return [
            *([first] if stands else []),
            [f"{plain} AS e{name}"],
            [f"CASE WHEN {known} THEN {canonical_sql(x, kind)} END AS {t}"],
            [f"coalesce(e{name}, {_read(t)}) AS r{name}", f"{_double(t)} AS d{name}"],
            *_in_parts(name, f"r{name}, "),
        ]

    def _number(self, name: str, kind: str) -> str:
        """A cell's number, after its steps and the mix."""
        if kind == "DATE" or is_small(kind):
            return f"mw{name}"
        text = canonical_sql(f"x{name}", kind) if is_number(kind) else f"t{name}"
        read = f"WHEN w{name} IS NULL THEN {_half(self.key, 'cell', text)} ELSE mw{name} END"
        return f"CASE WHEN NOT b{name} THEN g{name} {read}" if self.as_it_stands(kind) else f"CASE {read}"

    def as_it_stands(self, kind: str) -> bool:
        """Whether texts are hashed as they stand: a file of columns may hold each of them once."""
        return kind == "VARCHAR" and not self.many and not self.raw.files


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


def _is_whole(kind: str) -> bool:
    """Whether a type's cells are whole numbers or days: any other canonical text that one has is neither of them."""
    return kind == "DATE" or is_integer(kind) or is_small(kind)


def _in_parts(name: str, known: str) -> list[list[str]]:
    """The steps from a number d to its whole part w and its fraction f in units: both NULL where it is too large, or its fraction too fine.

    What is known of the cell without it stands before.
    """
    d, v, p = f"d{name}", f"v{name}", f"p{name}"
    exact = f"CASE WHEN {p} = trunc({p}) THEN CAST({v} AS BIGINT) END"
    return [
        [f"CASE WHEN {d} > -{LARGEST_WHOLE} AND {d} < {LARGEST_WHOLE} THEN trunc({d}) END AS {v}"],
        [f"({d} - {v}) * {FRACTION} AS {p}"],
        [
            f"{f'coalesce({known}{exact})' if known else exact} AS w{name}",
            f"CASE WHEN {p} <> 0 AND {p} = trunc({p}) THEN CAST({p} AS BIGINT) END AS f{name}",
        ],
    ]


def _changed(name: str, kind: str) -> str:
    """What is mixed for a cell: its whole number, changed by the mix of its fraction where it has one."""
    whole = _unsigned(f"w{name}")
    return whole if _is_whole(kind) else f"xor({whole}, coalesce(mf{name}, 0::UBIGINT))"


def _plainly(sql: str, kind: str) -> tuple[str, str]:
    return (f"CAST({sql} AS VARCHAR)", "VARCHAR") if is_text(kind) and kind != "VARCHAR" else (sql, kind)


def _plain(sql: str, kind: str) -> str:
    """The number that is mixed for a cell whose type or first letters say that it is one, or NULL."""
    if is_integer(kind) and not is_small(kind):
        return (
            f"CASE WHEN {sql} > -{LARGEST_WHOLE} AND {sql} < {LARGEST_WHOLE} THEN CAST({sql} AS BIGINT) END"
        )
    if kind != "DATE":
        return whole_sql(sql, kind)
    return f"CASE WHEN year({sql}) BETWEEN 1 AND 9999 THEN {_day(sql)} END"


def _read(text: str) -> str:
    """The number that is mixed for a canonical text, or NULL."""
    day = f"regexp_full_match({text}, {literal(DAY)}) AND {text} >= '0001'"
    return (
        f"CASE WHEN {text} >= '-' AND {text} < ':' THEN CASE WHEN regexp_full_match({text}, {literal(WHOLE)}) "
        f"THEN CAST({text} AS BIGINT) WHEN {day} THEN {_day(f'TRY_CAST({text} AS DATE)')} END END"
    )


def _double(text: str) -> str:
    """The number that a canonical text is, or NULL."""
    number = f"regexp_full_match({text}, {literal(NUMBER)})"
    return f"CASE WHEN {text} >= '-' AND {text} < ':' THEN CASE WHEN {number} THEN TRY_CAST({text} AS DOUBLE) END END"


def _day(date: str) -> str:
    return f"{DAYS} + ({date} - DATE '1970-01-01')"


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
    plain: int | None

    def may_run(self) -> bool:
        """Whether every known cell is an integer or a day, and number and mean are those of an evenly repeated run."""
        if self.lowest is None or self.highest is None or self.plain is None or self.whole != self.known:
            return False
        even = self.known % (self.highest - self.lowest + 1) == 0
        return even and 2 * self.plain == self.known * (self.lowest + self.highest)


_FACTS = (
    "count({h})",
    "coalesce(sum({h}), 0)",
    "approx_count_distinct({h})",
    "count({i})",
    "min({i})",
    "max({i})",
    "sum({i})",
)


def _columns(connection: duckdb.DuckDBPyConnection, width: int) -> list[_Column]:
    facts = ", ".join(_FACTS).format(h="h", i="i")
    found = connection.execute(
        f'SELECT count(*), {facts} FROM "##cells" WHERE place > 0 GROUP BY place ORDER BY place'
    ).fetchall()
    return [_Column(*row) for row in found] or [_Column(0, 0, 0, 0, 0, None, None, None)] * width


def _kinds(
    connection: duckdb.DuckDBPyConnection, cells: _Cells, columns: Sequence[_Column], *, kept: bool
) -> list[Kind]:
    """Count exactly only where it matters: few cells."""
    few = [place for place, column in enumerate(columns) if column.near < _SURELY_MANY]
    exact = (
        _counted_together(connection, few)
        if cells.many
        else {place: _counted(connection, cells, place, kept=kept) for place in few}
    )
    runs: dict[tuple[int, int], int] = {}
    return [
        Kind(
            exact.get(place, 0 if place in few else column.near),
            run=column.may_run() and _is_run(connection, column, cells.key, runs),
            missing=column.known < column.rows,
        )
        for place, column in enumerate(columns)
    ]


def _is_run(
    connection: duckdb.DuckDBPyConnection, column: _Column, key: bytes, runs: dict[tuple[int, int], int]
) -> bool:
    """Whether a column's sum is that of its range, so many times; sums of ranges are kept in ``runs``."""
    lowest, highest = column.lowest or 0, column.highest or 0
    if (lowest, highest) not in runs:
        mixed = _mixed(
            f"SELECT range AS i FROM range({lowest}, {highest + 1})", {"i": (_unsigned("i"), "cell")}, key
        )
        runs[lowest, highest] = int(connection.execute(f"SELECT sum(mi) FROM ({mixed})").fetchall()[0][0])
    return int(column.total) == column.known // (highest - lowest + 1) * runs[lowest, highest]


def _counted(connection: duckdb.DuckDBPyConnection, cells: _Cells, place: int, *, kept: bool) -> int:
    """How many distinct cells a column has."""
    source = f'SELECT h{place} AS h FROM "##cells"' if kept else cells.distinct(place)
    return int(connection.execute(f"SELECT count(DISTINCT h) FROM ({source})").fetchall()[0][0])


def _counted_together(connection: duckdb.DuckDBPyConnection, few: list[int]) -> dict[int, int]:
    found = connection.execute(
        'SELECT place - 1, count(DISTINCT h) FROM "##cells" WHERE place - 1 IN ? GROUP BY place', [few]
    ).fetchall()
    return dict(found)


def _totals(cells: _Cells, relation: str) -> str:
    """The SELECT of both sums over rows and, where each column is alone, of what is told of its cells."""
    width = len(cells.columns)
    numbers = column_numbers(cells.key, width)

    def known(h: str) -> str:
        return f"CAST(coalesce({h}, {ABSENT}::UBIGINT) AS HUGEINT)"

    if cells.many:
        place = f"{_constants('HUGEINT', numbers)}[place]"
        added = (
            f"sum({known('h')}) FILTER (place > 0) AS cells, sum({known('h')} * {place}) FILTER (place > 0) AS told, "
            "max(h) FILTER (place = 0) AS owner"
        )
        facts, source = [], f'SELECT {added} FROM {relation} GROUP BY "row"'
    else:
        row = " + ".join(known(f"h{place}") for place in range(width))
        told = " + ".join(f"{known(f'h{place}')} * {number}::HUGEINT" for place, number in enumerate(numbers))
        facts = [fact.format(h=f"h{place}", i=f"i{place}") for place in range(width) for fact in _FACTS]
        source = f"SELECT *, {row} AS cells, {told} AS told FROM {relation}"
    finished = f"{_FINISHED}(cells) AS mrow, {_FINISHED}(xor({_FINISHED}(told), owner)) AS mstate"
    folded = f"SELECT *, {finished} FROM ({source})"
    return f"SELECT {', '.join(('count(*)', 'sum(mrow)', 'sum(mstate)', *facts))} FROM ({folded})"


def _constants(kind: str, numbers: Sequence[int]) -> str:
    """Integers as one SQL list, which is read as one text."""
    return f"CAST('{list(numbers)}' AS {kind}[])"


def _half(key: bytes, kind: str, text: str) -> str:
    """The last eight bytes of an md5; DuckDB's own word for it writes out every bit, and takes twice as long as hashing."""
    return f"CAST(md5_number({literal(hash_text(key, kind))} || {text}) >> 64 AS UBIGINT)"


def _mixed(source: str, wanted: Mapping[str, tuple[str, str]], key: bytes) -> str:
    """A SELECT with numbers of its rows mixed (:func:`dpnb.trusted.curator.content.mix`): name by name m before it, of what kind."""
    if not wanted:
        return source
    for_kind = {name: (sql, *numbers_of(key, kind)) for name, (sql, kind) in wanted.items()}
    products = (
        f"CAST(xor({sql}, {added}::UBIGINT) AS UHUGEINT) * {factor}::UHUGEINT AS p{name}"
        for name, (sql, added, factor) in for_kind.items()
    )
    mixed = (f"CASE WHEN p{name} IS NOT NULL THEN {_FINISHED}(p{name}) END AS m{name}" for name in wanted)
    return f"SELECT *, {', '.join(mixed)} FROM (SELECT *, {', '.join(products)} FROM ({source}))"


def define_finished(connection: duckdb.DuckDBPyConnection, *, own: bool = True) -> None:
    """Name what finishes a number (:func:`dpnb.trusted.curator.content.finished`): the engine's own hash, while that is this one.

    Another version of DuckDB may hash otherwise, and what is recognised stays: the arithmetic written out is the same, and slower.
    """
    probes = (1, 2**63 + 12345, 3**80)
    asked = ", ".join(f"hash({probe}::UHUGEINT)" for probe in probes)
    found = connection.execute(f"SELECT {asked}, hash(7::UBIGINT)").fetchall()
    own = own and found == [tuple(map(finished, (*probes, 7)))]
    for name, written in ({_FINISHED: "hash(x)"} if own else _ARITHMETIC).items():
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {name}(x) AS {written}")


def _unsigned(sql: str) -> str:
    """A whole number, none of which is negative any more."""
    return f"CAST({sql} + {MIDDLE} AS UBIGINT)"
