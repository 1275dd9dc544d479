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

from dpnb.owner.header_lines import TOTALS
from dpnb.owner.unread_cells import MOST_CELLS
from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    label_sql,
    literal,
    moment_sql,
    number_sql,
    unit_sql,
)
from dpnb.trusted.curator.engines.preparing import answered, double
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.curator.engines.ruled_sql import coded_sql, read_sql
from dpnb.trusted.curator.sources import look_up
from dpnb.trusted.files.named_file import NamedFile, NamedFiles
from dpnb.trusted.schema import Column, Schema
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
                yield from _questions(raw, schemas[name], tables[""] if name else None)

        told = iter([tuple(map(int, rows[0])) for rows in ask(questions)])
        own = schemas[""].name
        return tuple(
            (replace(one, name=name or own), _inspection(one, told)) for name, one in schemas.items()
        )


def unread_cells(home: Home, source: Path, found: Inspected) -> dict[tuple[str, str], list[Cells]]:
    """Return different texts that are not read, and others that are, by table (the dataset's own is empty) and column: the most frequent first, each with how often it stands there.

    For the owner's eyes alone. Cells that a file holds as numbers or dates are left out.

    Raises
    ------
    OwnerError
        When the file or its declaration cannot be read.
    """
    with _opened(home, source) as (schemas, ask):
        asked: list[tuple[str, str]] = []

        def questions(tables: Mapping[str, RawTable]) -> Iterator[str]:
            for (name, raw), (_, inspection) in zip(tables.items(), found, strict=True):
                for one in inspection.columns:
                    sql, kind = raw.column(one.name)
                    if one.unread and kind == "VARCHAR":
                        asked.append((name, one.name))
                        missing, unread, _ = _conditions(schemas[name][one.name], sql, kind)
                        for condition in (unread, f"NOT ({missing}) AND NOT ({unread})"):
                            cells = f'SELECT {sql} AS "##cell" FROM {raw.sql} WHERE {condition}'
                            yield f"SELECT *, count(*) FROM ({cells}) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_CELLS}"

        told = ask(questions)
        return {place: told[2 * at : 2 * at + 2] for at, place in enumerate(asked)}


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
    yield f"SELECT count(*), {_totals(raw)}, {', '.join(counts)} FROM {raw.sql}"
    yield f"SELECT count(*) FROM (SELECT DISTINCT {cells} FROM {raw.sql})"
    if schema.unit_column is not None:
        yield _unit_question(raw, schema, own)


def _inspection(schema: Schema, told: Iterator[tuple[int, ...]]) -> Inspection:
    (rows, totals, *cells), (distinct,) = next(told), next(told)
    columns = tuple(
        ColumnCount(name, *cells[3 * place : 3 * place + 3]) for place, name in enumerate(schema.names)
    )
    unit = None if schema.unit_column is None else UnitCount(*next(told))
    return Inspection(rows, totals, rows - distinct, columns, unit)


def _totals(raw: RawTable) -> str:
    """Count rows whose first text that is not blank is a word for what is no person."""
    texts = [f"nullif(trim({sql}), '')" for sql, kind in raw.columns.values() if kind == "VARCHAR"]
    begins = f"lower(trim(coalesce({', '.join([*texts[:_FIRST], 'NULL'])}), ' :.'))"
    return _filtered(f"{begins} IN ({', '.join(map(literal, TOTALS))})")


def _conditions(column: Column, sql: str, kind: str) -> tuple[str, str, str]:
    """When a cell of a column is missing, unread or clamped."""
    cell, coded = canonical_sql(sql, kind), coded_sql(sql, kind, column)
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
