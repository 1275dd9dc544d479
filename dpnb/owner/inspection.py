"""What an owner wants to know of their own file before anybody asks it: exact counts, which are *not private*.

Nothing here is on an analyst's path: no message reaches it, nothing is written, and no ledger is opened. A terminal prints it for
the owner's eyes, never a notebook.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from dpnb.owner.header_lines import TOTALS, total_below
from dpnb.owner.unread_cells import MOST_CELLS
from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    label_sql,
    literal,
    moment_sql,
    number_sql,
    text_sql,
    unit_sql,
)
from dpnb.trusted.curator.engines.preparing import answered, double
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.curator.engines.ruled_sql import dated_sql, read_sql, trimmed_sql
from dpnb.trusted.curator.sources import look_up
from dpnb.trusted.files.named_file import NamedFile, NamedFiles, format_of
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.owner import OwnedDataset, beside, load
from dpnb.trusted.wire.messages import FileSource
from dpnb.trusted.wire.places import Home

Ask: TypeAlias = Callable[[Callable[[Mapping[str, RawTable]], Iterable[str]]], list[list[tuple[Any, ...]]]]
_FIRST = 64
"""Columns in which a row's first text is looked for."""


@dataclass(frozen=True, slots=True)
class ColumnCount:
    """How the cells of a column meet their declaration.

    Parameters
    ----------
    name : str
    missing : int
        Cells that are empty.
    unread : int
        Cells that are no number, no date or no declared value: they count as missing.
    beyond : int
        Cells beyond the bounds, which are held to them.
    """

    name: str
    missing: int
    unread: int
    beyond: int


@dataclass(frozen=True, slots=True)
class UnitCount:
    """How rows belong to units.

    Parameters
    ----------
    units, repeated : int
        How many there are, and how many have more than one row.
    most : int
        The rows of the unit that has most.
    over, cut : int
        How many have more rows than are declared, and how many rows that leaves out.
    without : int
        Rows that name no unit: they are left out.
    nobody : int or None
        Of a table that is joined, rows of a unit that has none in the dataset's own: they count nowhere.
    """

    units: int
    repeated: int
    most: int
    over: int
    cut: int
    without: int
    nobody: int | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """The exact counts of a file under its declaration. They are not private.

    ``totals`` are rows that begin with a word such as *Total*.
    """

    rows: int
    totals: int
    repeated_rows: int
    columns: tuple[ColumnCount, ...]
    unit: UnitCount | None


Cells: TypeAlias = list[tuple[Any, ...]]
Place: TypeAlias = tuple[str, str]
"""A column, as its table (the dataset's own is empty) and its name."""
Inspected: TypeAlias = Sequence[tuple[Schema, Inspection]]


def inspected(home: Home, source: Path) -> Inspected:
    """Count in an owner's files what their declaration would change or leave out: for the owner's eyes, and not private.

    Each table comes with the schema of its own rows: the dataset's first, then those that are joined, called by their names.

    Raises
    ------
    OwnerError
        When the file or its declaration cannot be read.
    """
    with _opened(home, source) as (schemas, ask):

        def questions(tables: Mapping[str, RawTable]) -> Iterator[str]:
            for name, raw in tables.items():
                yield _totals(raw)
                yield from _questions(raw, schemas[name], tables[""] if name else None)

        told = iter([tuple(map(int, rows[0])) for rows in ask(questions)])
        own = schemas[""].name
        counted = {
            name: (replace(one, name=name or own), _inspection(one, told)) for name, one in schemas.items()
        }
    owned = load(source) if source.suffix == ".toml" else load(beside(source), source=source)
    return tuple((one, _with_last_line(found, owned, name)) for name, (one, found) in counted.items())


def _with_last_line(found: Inspection, owned: OwnedDataset, table: str) -> Inspection:
    """An inspection in which a total in the last line of an Excel sheet counts, whichever column it stands in: its declared columns alone were read."""
    file, dialect = owned.others[table] if table else (owned.source, owned.dialect)
    if found.totals or file is None or format_of(file) != "excel":
        return found
    begins = total_below(file, None if table else owned.table, dialect.skip)
    return found if begins is None else replace(found, totals=1)


def strange_cells(home: Home, source: Path, found: Inspected) -> dict[Place, tuple[Cells, Cells, Cells]]:
    """Return different texts that are not read, others that are, and some beyond the bounds, of each column that has cells of the first or the last kind.

    The most frequent come first, each with how often it stands there. For the owner's eyes alone. Numbers and dates that a file holds as
    such are read or not: of those only what is beyond the bounds is returned.

    Raises
    ------
    OwnerError
        When the file or its declaration cannot be read.
    """
    with _opened(home, source) as (schemas, ask):
        asked: list[tuple[Place, int]] = []

        def questions(tables: Mapping[str, RawTable]) -> Iterator[str]:
            for (name, raw), (_, inspection) in zip(tables.items(), found, strict=True):
                for one in inspection.columns:
                    column, (sql, kind) = schemas[name][one.name], raw.column(one.name)
                    missing, unread, beyond = _conditions(column, sql, kind)
                    text = sql if kind == "VARCHAR" else canonical_sql(sql, kind)
                    wanted = {2: beyond} if one.beyond and column.text is None else {}
                    if one.unread and (kind == "VARCHAR" or column.type == "category"):
                        wanted |= {0: unread, 1: f"NOT ({missing}) AND NOT ({unread})"}
                    for part, condition in wanted.items():
                        asked.append(((name, one.name), part))
                        cells = f'SELECT {text} AS "##cell" FROM {raw.sql} WHERE {condition}'
                        yield f"SELECT *, count(*) FROM ({cells}) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_CELLS}"

        parts: dict[Place, list[Cells]] = {}
        for told, (place, part) in zip(ask(questions), asked, strict=True):
            parts.setdefault(place, [[], [], []])[part] = told
        return {place: (one[0], one[1], one[2]) for place, one in parts.items()}


def unread_with(
    home: Home, source: Path, columns: Mapping[Place, Sequence[Column]]
) -> dict[Place, list[int]]:
    """Count how many cells of whole columns would not be read if they were declared as each of some columns is.

    Raises
    ------
    OwnerError
        When the file or its declaration cannot be read.
    """
    with _opened(home, source) as (_, ask):

        def questions(tables: Mapping[str, RawTable]) -> Iterator[str]:
            for (table, name), each in columns.items():
                raw = tables[table]
                counts = [_filtered(_conditions(one, *raw.column(name))[1]) for one in each]
                yield f"SELECT {', '.join(counts)} FROM {raw.sql}"

        return {place: [*map(int, rows[0])] for place, rows in zip(columns, ask(questions), strict=True)}


@contextlib.contextmanager
def _opened(home: Home, source: Path) -> Iterator[tuple[dict[str, Schema], Ask]]:
    """Hold an owner's files open: the schema of each table, the dataset's own under no name, and what answers questions about them."""
    with look_up(FileSource(path=str(source.resolve())), None, home) as found:
        rows, schema = found.rows(), found.schema
        assert isinstance(rows, NamedFile | NamedFiles)
        schemas = {name: schema.rows_of(name) for name in ("", *schema.sources)}
        yield schemas, partial(answered, rows, schema, found.table)


def _questions(raw: RawTable, schema: Schema, own: RawTable | None) -> Iterator[str]:
    """What is asked of a table; of one that is joined also which rows belong to no unit of the dataset's own."""
    conditions = (_conditions(column, *raw.column(column.name)) for column in schema.columns)
    counts = [_filtered(one) for three in conditions for one in three]
    cells = ", ".join(canonical_sql(*raw.column(name)) for name in schema.names)
    yield f"SELECT count(*), {', '.join(counts)} FROM {raw.sql}"
    yield f"SELECT count(*) FROM (SELECT DISTINCT {cells} FROM {raw.sql})"
    if schema.unit_column is not None:
        yield _unit_question(raw, schema, own)


def _inspection(schema: Schema, told: Iterator[tuple[int, ...]]) -> Inspection:
    (totals,), (rows, *cells), (distinct,) = next(told), next(told), next(told)
    columns = tuple(
        ColumnCount(name, *cells[3 * place : 3 * place + 3]) for place, name in enumerate(schema.names)
    )
    unit = None if schema.unit_column is None else UnitCount(*next(told))
    return Inspection(rows, totals, rows - distinct, columns, unit)


def _totals(raw: RawTable) -> str:
    """Count rows whose first text that is not blank is a word for what is no person; of a text file under a column without a name too."""
    texts = [f"nullif(trim({sql}), '')" for sql, kind in raw.columns.values() if kind == "VARCHAR"]
    first, rows = f"coalesce({', '.join([*texts[:_FIRST], 'NULL'])})", raw.sql
    if len(texts) == len(raw.columns):
        first, rows = "coalesce(*COLUMNS(*))", f"(SELECT nullif(trim(COLUMNS(*)), '') FROM {raw.sql})"
    words = ", ".join(map(literal, TOTALS))
    return f"SELECT count(*) FROM (SELECT {first} AS \"##first\" FROM {rows}) WHERE lower(trim(split_part(\"##first\", ':', 1), ' .')) IN ({words})"


def _coded_sql(sql: str, kind: str, column: Column) -> str:
    """Whether a cell, as it is read, is one of the column's codes for missing ones."""
    if not column.cells.missing_codes:
        return "false"
    codes = f"({', '.join(map(literal, column.cells.missing_codes))})"
    read, made = read_sql(sql, kind, column)
    if column.text is not None:
        text = f"coalesce(nullif({label_sql(read, made, column.text)}, ''), {text_sql(read, made)})"
    else:
        text = canonical_sql(read, made) if column.calendar is None else dated_sql(trimmed_sql(read, made))
    coded = f"coalesce({text} IN {codes}, false)"
    if made != "DOUBLE" or kind == made:
        return coded
    return f"({coded} OR coalesce(({read}) IS NULL AND {canonical_sql(sql, kind)} IN {codes}, false))"


def _conditions(column: Column, sql: str, kind: str) -> tuple[str, str, str]:
    """When a cell of a column is missing, unread or clamped."""
    cell, coded = canonical_sql(sql, kind), _coded_sql(sql, kind, column)
    sql, kind = read_sql(sql, kind, column)
    missing, other = f"{cell} IS NULL OR {coded}", f"{cell} IS NOT NULL AND NOT {coded}"
    if column.text is not None:
        label = f"nullif({label_sql(sql, kind, column.text)}, '')"
        strict = f"nullif({label_sql(sql, kind, replace(column.text, beyond='missing'))}, '')"
        cut = f"{label} IS NOT NULL AND {strict} IS NULL"
        return missing, f"{other} AND {label} IS NULL", f"{other} AND {cut}"
    if column.type == "category":
        values = ", ".join(map(literal, declared_texts(column)))
        unread = f"{other} AND coalesce({canonical_sql(sql, kind)} NOT IN ({values}), true)"
        return missing, unread, "false"
    read = number_sql(sql, kind) if column.calendar is None else moment_sql(sql, kind, column.calendar)
    lower, step, steps = grid_constants(column)
    known = f"({read}) IS NOT NULL AND NOT isnan({read})"
    beyond = f"{known} AND (({read}) < {double(lower)} OR ({read}) > {double(lower + step * steps)})"
    return missing, f"{other} AND NOT ({known})", f"{other} AND {beyond}"


def _filtered(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _unit_question(raw: RawTable, schema: Schema, own: RawTable | None) -> str:
    def units(table: RawTable) -> str:
        return unit_sql(*table.column(schema.unit.unit), schema.unit.type)

    most = schema.unit.max_rows
    each = f"SELECT {units(raw)} AS unit, count(*) AS size FROM {raw.sql} GROUP BY 1"
    counts = [
        "count(unit)",
        _filtered("unit IS NOT NULL AND size > 1"),
        "coalesce(max(size) FILTER (WHERE unit IS NOT NULL), 0)",
        _filtered(f"unit IS NOT NULL AND size > {most}"),
        f"coalesce(sum(size - {most}) FILTER (WHERE unit IS NOT NULL AND size > {most}), 0)",
        "coalesce(sum(size) FILTER (WHERE unit IS NULL), 0)",
    ]
    if own is not None:
        each = f"SELECT * FROM ({each}) LEFT JOIN (SELECT DISTINCT {units(own)} AS known FROM {own.sql}) ON unit = known"
        counts.append("coalesce(sum(size) FILTER (WHERE unit IS NOT NULL AND known IS NULL), 0)")
    return f"SELECT {', '.join(counts)} FROM ({each})"
