"""Opening what an owner has: CSV, Parquet, a DuckDB file, or a table in memory.

A file is read through the one opening that was hashed, never by its name again: a path is no pattern here but the one that
means every Parquet file of a folder, whose name adds no column, a view or another file is never followed. CSV is read as text, every column, with the delimiter taken from
its first line alone: no type and no dialect is guessed from rows, and a file whose rows cannot be told apart one by one is
refused (:mod:`~dpnb.trusted.curator.engines.csv_rows`). What is wrong with a file (missing, empty, unreadable, no such table or
column) is told to the owner, as an :class:`~dpnb.trusted.errors.OwnerError` that never quotes a row.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import numpy as np

from dpnb.trusted.aggregate.arrays import Use, plain_array
from dpnb.trusted.curator.engines.cell_sql import literal, text_sql
from dpnb.trusted.curator.engines.csv_rows import check_rows, write_plainly
from dpnb.trusted.curator.engines.table_file import library, sheets, table_of
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.csv_header import csv_header
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import ColumnFiles, FetchedRows, NamedFile, NamedFolder, format_of
from dpnb.trusted.files.text_file import TextFile
from dpnb.trusted.schema import Schema

_COMPUTED = "a generated value"


@dataclass(frozen=True, slots=True)
class RawTable:
    """A relation inside an open connection: how to name it in SQL, and its columns as (SQL name, type); other files that it needs."""

    sql: str
    columns: dict[str, tuple[str, str]]
    files: tuple[str, ...] = ()

    def column(self, name: str) -> tuple[str, str]:
        """The quoted SQL name and the type of a column."""
        if name not in self.columns:
            raise no_column(name)
        return self.columns[name]


def no_column(name: str) -> OwnerError:
    """Say that a declared column is not there."""
    return OwnerError(f'The data have no column "{name}": correct its name or its header, or remove it.')


def refuse_changed(name: str, found: str, version: str) -> None:
    """Refuse a table elsewhere whose rows are others than those that were looked over."""
    if found != version:
        raise OwnerError(
            f"{name} changed while it was opened. Open it again when nobody writes to it, or declare "
            'version = "2026-11" in [source].'
        )


def read_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns that are read of a dataset's own table: the declared ones and the unit's."""
    names = dict.fromkeys(schema.rows_of().names)
    return tuple(names if schema.unit_column is None else names | {schema.unit_column: None})


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def open_source(
    connection: duckdb.DuckDBPyConnection,
    source: Any,
    table: str | None = None,
    *,
    workshop: Path | None = None,
    uses: Mapping[str, Use] | None = None,
    view: str = "raw_table",
) -> RawTable:
    """Make an owner's source readable.

    Parameters
    ----------
    connection : duckdb connection
    source : NamedFile, or mapping of arrays
    table : str, optional
        The table's name in a DuckDB file that holds several.
    workshop : Path, optional
        A private folder where a CSV file of ragged rows or several line ends is written once more.
    uses : mapping, optional
        The columns that are read of a table in memory, and for what; all of them, when it is left out.
    view : str
        Under which name the connection knows a table in memory.

    Raises
    ------
    OwnerError
        When the source is empty, of an unknown kind, or cannot be read.
    """
    if isinstance(source, FetchedRows):
        return _fetched(source)
    if isinstance(source, ColumnFiles):
        return _open_columns(connection, source)
    if isinstance(source, NamedFile):
        return _open_file(connection, source, table, workshop, uses, view)
    try:
        arrays = _in_memory(source, uses)
        connection.register(view, arrays)
        return _described(connection, quoted(view))
    except (duckdb.Error, TypeError, ValueError) as error:
        raise OwnerError(
            f"A {type(source).__name__} cannot be read as a table: pass a dictionary of arrays of one length."
        ) from error


def _open_file(
    connection: duckdb.DuckDBPyConnection,
    file: NamedFile,
    table: str | None = None,
    workshop: Path | None = None,
    uses: Mapping[str, Use] | None = None,
    view: str = "raw_table",
) -> RawTable:
    if isinstance(file, NamedFolder):
        return _called(_of_parts(file, [_open_file(connection, one) for one in file.parts]), file.dialect)
    name = file.path.name
    kind = format_of(file.path)
    refuse_empty(file)
    try:
        if kind == "csv":
            return _called(_open_csv(file, workshop), file.dialect)
        if kind == "arrow":
            return _called(_open_arrow(connection, file, view), file.dialect)
        if kind not in ("parquet", "duckdb"):
            return _open_table(connection, file, table, uses, view)
        if kind == "parquet":
            sql = f"read_parquet({literal(place_of(file))}, hive_partitioning=false)"
            return _called(_described(connection, sql), file.dialect)
        return _called(_open_database(connection, file, table), file.dialect)
    except (duckdb.Error, OSError, ValueError, csv.Error) as error:
        raise OwnerError(f'"{name}" cannot be read as {kind}: {_reason(error)}.') from error


def _called(found: RawTable, dialect: Dialect) -> RawTable:
    """A table whose columns have their declared names too."""
    named = {name: found.column(header) for name, header in dialect.headers}
    return RawTable(found.sql, {**found.columns, **named}, found.files)


def _open_table(
    connection: duckdb.DuckDBPyConnection,
    file: NamedFile,
    table: str | None,
    uses: Mapping[str, Use] | None,
    view: str,
) -> RawTable:
    """Cells that a library reads, in a table of the connection's own, of the types that the file declares.

    Of two columns that read one column of the file each has its cells as it uses them.
    """
    found, headers = table_of(file, table, uses or {}), dict(file.dialect.headers)
    wanted = {
        name: headers.get(name, name) for name in ({**found.kinds, **headers} if uses is None else uses)
    }
    columns: dict[str, tuple[str, str]] = {}
    for name, header in wanted.items():
        if header not in found.kinds and not found.further:
            raise no_column(header)
        columns[name] = f"c{len(columns)}", found.kinds.get(header, "VARCHAR")
    declared = ", ".join(f"{column} {kind}" for column, kind in columns.values())
    held = quoted(f"{view} ##held")
    connection.execute("SET pandas_analyze_sample = 0")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {held} ({declared})")
    for cells in found.blocks(wanted):
        block = {columns[name][0]: column for name, column in cells.items()}
        numbers = {
            column
            for column, held_as in columns.values()
            if held_as == "VARCHAR" and block[column].dtype.kind == "f"
        }
        read = ", ".join(text_sql(column, "DOUBLE") if column in numbers else column for column in block)
        connection.register("##cells", block)
        connection.execute(f'INSERT INTO {held} SELECT {read} FROM "##cells"')
        connection.unregister("##cells")
    return RawTable(held, columns)


def _open_arrow(connection: duckdb.DuckDBPyConnection, file: NamedFile, view: str) -> RawTable:
    """An Arrow file, whose columns have the types that it declares, but that moments of a zone are those of universal time.

    DuckDB believes that texts are UTF-8, and refuses a whole column for one moment of a zone that it has no microseconds for.
    """
    feather, arrow = library("pyarrow.feather", file), library("pyarrow", file)
    with file.reader() as held:
        columns = feather.read_table(held)
    columns.validate(full=True)
    for place, (name, kind) in enumerate(zip(columns.schema.names, columns.schema.types, strict=True)):
        cell = kind.value_type if arrow.types.is_dictionary(kind) else kind
        if arrow.types.is_timestamp(cell) and cell.tz is not None:
            moments = columns.column(place).cast(arrow.timestamp(cell.unit))
            columns = columns.set_column(place, name, moments)
    if len({*columns.column_names}) < len(columns.column_names):
        raise OwnerError(f'"{file.path.name}" names a column twice: rename one of them.')
    connection.register(view, columns)
    return _described(connection, quoted(view))


def _of_parts(folder: NamedFolder, parts: Sequence[RawTable]) -> RawTable:
    """Files of the same columns, one after the other: a cell of another type would be read as those of the first file are."""
    for file, part in zip(folder.parts, parts, strict=True):
        if list(part.columns.items()) != list(parts[0].columns.items()):
            raise OwnerError(
                f'"{file.path.name}" and "{folder.parts[0].path.name}" do not have the same columns with the same types in the same '
                "order: write the files of a folder alike."
            )
    if len(parts) == 1:
        return parts[0]
    listed = ", ".join(literal(place_of(file)) for file in folder.parts)
    return RawTable(f"read_parquet([{listed}], hive_partitioning=false)", parts[0].columns)


def _open_columns(connection: duckdb.DuckDBPyConnection, rows: ColumnFiles) -> RawTable:
    """What Spark wrote as Parquet, one file after the other: the columns' own names are no part of it."""
    listed = ", ".join(map(literal, rows.files))
    found = _described(connection, f"read_parquet([{listed}], hive_partitioning=false)")
    named = zip(rows.names, found.columns.values(), strict=True)
    return RawTable(found.sql, dict(named), rows.files)


def refuse_empty(file: NamedFile) -> None:
    """Refuse a file of no bytes; those that a system makes up when they are read call themselves so, and may never end."""
    for part in file.parts:
        if part.size == 0:
            raise OwnerError(f'"{part.path.name}" is empty: it needs at least a line of column names.')


def told_apart(file: NamedFile, table: str | None) -> str:
    """The table that is read, where a file holds several; a file of one table is known by its bytes whatever is named."""
    kind = format_of(file.path)
    if kind == "excel":
        with contextlib.suppress(OwnerError):
            return table or "" if len(sheets(file)[1]) > 1 else ""
    if kind != "duckdb":
        return ""
    with duckdb.connect() as connection, contextlib.suppress(OwnerError):
        _open_file(connection, file, table)  # what it refuses is told by who reads it
        if len(_tables(connection)) == 1:
            return ""
    return table or ""


def place_of(file: NamedFile) -> str:
    """The text by which DuckDB reads exactly this file: its opening, or its path with nothing left of a pattern."""
    if file.place is not None:
        return file.place
    path = str(file.path.resolve())
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _reason(error: Exception) -> str:
    """Why a file cannot be read, without quoting what it holds."""
    if isinstance(error, PermissionError):
        return "this user may not read it"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text"
    return "its content is not of that kind, or it is damaged"


def _open_csv(file: NamedFile, workshop: Path | None) -> RawTable:
    """Check that each row can be read by itself, and read every column as text, by one reader from the first byte.

    Readers that begin in the middle of a file guess whether they stand inside quotes. What is packed or encoded is first written as
    plain text.
    """
    names, delimiter = csv_header(file)
    text, dialect, place = TextFile.of(file), file.dialect, place_of(file)
    reader: Callable[[], BinaryIO] = file.reader
    if not text.as_it_stands:
        plain = _aside(workshop, "text.csv")
        text.write(plain)
        place, reader = str(plain), lambda: plain.open("rb")
    with reader() as lines:
        check_rows(lines, file.path.name, delimiter, len(names), dialect, 1 + bool(text.before))
    if not dialect.plain:
        place = str(_aside(workshop, "rows.csv"))
        with reader() as lines:
            write_plainly(lines, delimiter, len(names), dialect, Path(place))
        dialect = Dialect(quoting="across lines")
    columns = [f"c{number}" for number in range(len(names))]
    sql = _read_csv(place, columns, delimiter, dialect.quote, header=True)
    named = {name: (quoted(inner), "VARCHAR") for name, inner in zip(names, columns, strict=True) if name}
    return RawTable(sql, named, (place,))


def _aside(workshop: Path | None, name: str) -> Path:
    if workshop is None:
        raise ValueError("a workshop is needed to write the rows once more")
    return workshop / name


def _read_csv(place: str, columns: Sequence[str], delimiter: str, quote: str, *, header: bool) -> str:
    """Every column as text, by one reader from the first byte."""
    declared = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
    return (
        f"read_csv({literal(place)}, auto_detect=false, compression='none', hive_partitioning=false, "
        f"header={'true' if header else 'false'}, delim={literal(delimiter)}, quote={literal(quote)}, escape={literal(quote)}, "
        f"nullstr='', parallel=false, columns={{{declared}}})"
    )


def _fetched(rows: FetchedRows) -> RawTable:
    """What a server wrote as CSV: its own names are no part of the file."""
    columns = [f"c{number}" for number in range(len(rows.names) + 1)]
    place = place_of(rows)
    sql = _read_csv(place, columns, ",", '"', header=False)
    named = zip(rows.names, columns[1:], strict=True)
    return RawTable(sql, {name: (quoted(inner), "VARCHAR") for name, inner in named}, (place,))


def _open_database(connection: duckdb.DuckDBPyConnection, file: NamedFile, table: str | None) -> RawTable:
    name, path = file.path.name, file.path.resolve()
    if path.with_name(f"{path.name}.wal").exists():
        raise OwnerError(f'"{name}" was not closed by the program that wrote it: open and close it there.')
    connection.execute(f"ATTACH {literal(file.place or str(path))} AS owners_file (TYPE duckdb, READ_ONLY)")
    if not file.is_at(path):
        raise OwnerError(f'"{name}" was replaced while it was read. Open it again.')
    chosen = _one_table(_tables(connection), _views(connection), name, table)
    return _stored(connection, *chosen)


def _stored(connection: duckdb.DuckDBPyConnection, schema: str, table: str) -> RawTable:
    """A table whose columns are read as they are stored.

    A column may carry a collation, under which texts that differ are equal: two units would be one, and bounded as one.
    A generated column is computed when it is read, perhaps from chance or the clock: it can be read for nothing.
    """
    found = _described(connection, f"owners_file.{quoted(schema)}.{quoted(table)}")
    computed = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = 'owners_file' AND schema_name = ? "
        "AND table_name = ? AND is_generated",
        [schema, table],
    ).fetchall()
    names = {row[0] for row in computed}
    columns = {
        name: (
            f'({sql} COLLATE "binary")' if kind == "VARCHAR" else sql,
            _COMPUTED if name in names else kind,
        )
        for name, (sql, kind) in found.columns.items()
    }
    return RawTable(found.sql, columns)


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """The tables that a DuckDB file itself holds, as (schema, name)."""
    return connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'owners_file' ORDER BY ALL"
    ).fetchall()


def _views(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'owners_file' AND NOT internal"
    ).fetchall()
    return {row[0] for row in rows}


def _one_table(
    tables: list[tuple[str, str]], views: set[str], file: str, table: str | None
) -> tuple[str, str]:
    chosen = [pair for pair in tables if table is None or pair[1] == table]
    if len(chosen) == 1:
        return chosen[0]
    if not chosen and (table in views or (table is None and views)):
        raise OwnerError(
            f'"{file}": {table or "what it holds"} is a view, whose rows may come from anywhere. Write them into a '
            "table of this file: CREATE TABLE people AS SELECT * FROM … (then name it with table = …)."
        )
    names = ", ".join(sorted(pair[1] for pair in tables)) or "no table"
    raise OwnerError(f'"{file}" holds {names}: name one with table = "…" in [dataset] (dpnb init: --table).')


def _described(connection: duckdb.DuckDBPyConnection, sql: str) -> RawTable:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
    return RawTable(sql, {row[0]: (quoted(row[0]), str(row[1])) for row in rows})


def _in_memory(source: Mapping[str, np.ndarray], uses: Mapping[str, Use] | None) -> dict[str, np.ndarray]:
    """The columns of a table in memory as plain arrays; of the declared ones alone, where it is said which."""
    wanted: Mapping[str, Use] = dict.fromkeys(source, "category") if uses is None else uses
    arrays = {name: plain_array(source[name], name, use) for name, use in wanted.items() if name in source}
    if len({len(array) for array in arrays.values()}) > 1:
        raise ValueError("columns of one length are needed")
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
