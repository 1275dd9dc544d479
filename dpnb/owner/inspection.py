"""What an owner wants to know of their own file before anybody asks it: exact counts, which are *not private*.

Nothing here is on an analyst's path: no message reaches it, nothing is written, and no ledger is opened. A terminal prints it for
the owner's eyes, never a notebook.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    label_sql,
    literal,
    moment_sql,
    number_sql,
    text_sql,
)
from dpnb.trusted.curator.engines.preparing import counted, double, uses_of
from dpnb.trusted.curator.engines.raw_table import RawTable
from dpnb.trusted.curator.sources import look_up
from dpnb.trusted.files.named_file import NamedFile, NamedFiles
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.wire.messages import FileSource
from dpnb.trusted.wire.places import Home


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
    """

    units: int
    repeated: int
    most: int
    over: int
    cut: int
    without: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """The exact counts of a file under its declaration. They are not private."""

    rows: int
    repeated_rows: int
    columns: tuple[ColumnCount, ...]
    unit: UnitCount | None


def inspected(home: Home, source: Path) -> tuple[tuple[Schema, Inspection], ...]:
    """Count in an owner's files what their declaration would change or leave out: for the owner's eyes, and not private.

    Each table comes with the schema of its own rows: the dataset's first, then those that are joined, called by their names.

    Raises
    ------
    OwnerError
        When the file or its declaration cannot be read.
    """
    with look_up(FileSource(path=str(source.resolve())), None, home) as found:
        rows = found.rows()
        assert isinstance(rows, NamedFile | NamedFiles)
        tables = {"": rows} if isinstance(rows, NamedFile) else {"": rows.own, **rows.others}
        schemas = {name: found.schema.rows_of(name) for name in tables}
        return tuple(
            (
                replace(schemas[name], name=name or found.schema.name),
                _inspection(file, schemas[name], None if name else found.table),
            )
            for name, file in tables.items()
        )


def _inspection(file: NamedFile, schema: Schema, table: str | None) -> Inspection:
    def questions(raw: RawTable) -> list[str]:
        counts = [part for column in schema.columns for part in _counts(column, *raw.column(column.name))]
        cells = ", ".join(canonical_sql(*raw.column(name)) for name in schema.names)
        distinct = f"SELECT count(*) FROM (SELECT DISTINCT {cells} FROM {raw.sql})"
        return [
            f"SELECT count(*), {', '.join(counts)} FROM {raw.sql}",
            distinct,
            *_unit_question(raw, schema),
        ]

    (rows, *told), (distinct,), *unit = counted(file, uses_of(schema), table, questions)
    columns = tuple(
        ColumnCount(name, *told[3 * place : 3 * place + 3]) for place, name in enumerate(schema.names)
    )
    return Inspection(rows, rows - distinct, columns, UnitCount(*unit[0]) if unit else None)


def _counts(column: Column, sql: str, kind: str) -> tuple[str, str, str]:
    """Count missing, unread and clamped cells of a column."""
    text = canonical_sql(sql, kind)
    if column.text is not None:
        label = f"nullif({label_sql(sql, kind, column.text)}, '')"
        strict = f"nullif({label_sql(sql, kind, replace(column.text, beyond='missing'))}, '')"
        cut = f"{label} IS NOT NULL AND {strict} IS NULL"
        return (
            _filtered(f"{text} IS NULL"),
            _filtered(f"{text} IS NOT NULL AND {label} IS NULL"),
            _filtered(cut),
        )
    if column.type == "category":
        values = ", ".join(map(literal, declared_texts(column)))
        return _filtered(f"{text} IS NULL"), _filtered(f"{text} NOT IN ({values})"), _filtered("false")
    read = number_sql(sql, kind) if column.calendar is None else moment_sql(sql, kind, column.calendar)
    lower, step, steps = grid_constants(column)
    known = f"({read}) IS NOT NULL AND NOT isnan({read})"
    beyond = f"{known} AND (({read}) < {double(lower)} OR ({read}) > {double(lower + step * steps)})"
    return (
        _filtered(f"{text} IS NULL"),
        _filtered(f"{text} IS NOT NULL AND NOT ({known})"),
        _filtered(beyond),
    )


def _filtered(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _unit_question(raw: RawTable, schema: Schema) -> list[str]:
    if schema.unit.by_row:
        return []
    unit, most = text_sql(*raw.column(schema.unit.unit)), schema.unit.max_rows
    each = f"SELECT {unit} AS unit, count(*) AS size FROM {raw.sql} GROUP BY 1"
    query = (
        f"SELECT count(unit), {_filtered('unit IS NOT NULL AND size > 1')}, "
        "coalesce(max(size) FILTER (WHERE unit IS NOT NULL), 0), "
        f"{_filtered(f'unit IS NOT NULL AND size > {most}')}, "
        f"coalesce(sum(size - {most}) FILTER (WHERE unit IS NOT NULL AND size > {most}), 0), "
        f"coalesce(sum(size) FILTER (WHERE unit IS NULL), 0) FROM ({each})"
    )
    return [query]
