"""A table that Spark reads as an owner's source: what it is known by, and its declared cells in files of our own.

Spark hands cells out as they are, as Parquet, in the table's order: what a cell means is decided where it is for every other
source. No expression but one looks at a cell: a text that is no UTF-8 is missing.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpnb.trusted.aggregate.arrays import unreadable
from dpnb.trusted.curator.content import digest
from dpnb.trusted.curator.engines import spark_session
from dpnb.trusted.curator.engines.raw_table import no_column, read_names, refuse_changed
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.named_file import ColumnFiles
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.lake_table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXTS = {"string", "char", "varchar"}
_READ = _TEXTS | {
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"),
    *("date", "timestamp", "timestamp_ntz"),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A table as it was looked over.

    Parameters
    ----------
    rows : DataFrame
    identity : str
        Which table it is, whatever it holds.
    version : str
        What its rows are now known by.
    columns : tuple of (str, str)
        Name and type of each declared column.
    known : bool
        Whether the version is known by a word of the owner's or by files; a table that names no files is read at each opening.
    """

    rows: DataFrame
    identity: str
    version: str
    columns: tuple[tuple[str, str], ...]
    known: bool


def identified(table: LakeTable, schema: Schema) -> tuple[str, str]:
    """Look a table over: which table it is, and what its rows are now known by.

    They are known by the names, lengths and times of the files that hold them; where the owner declares a version, by that.

    Raises
    ------
    OwnerError
        When Spark is not there, or the table cannot be read as its schema declares.
    """
    seen = look(table, schema)
    return seen.identity, seen.version if seen.known else secrets.token_hex(32)


def fetch(table: LakeTable, schema: Schema, version: str, into: Path) -> ColumnFiles:
    """Write the declared cells into a private folder.

    Raises
    ------
    OwnerError
        When the table was changed meanwhile, or cannot be read.
    """
    seen = look(table, schema)
    if seen.known:
        refuse_changed(table.table, seen.version, version)
    into.mkdir(mode=0o700, parents=True)
    try:
        with told(table):
            _write(seen, into)
        if seen.known:
            refuse_changed(table.table, look(table, schema).version, version)
        files = tuple(sorted(str(file) for file in (into / "rows").glob("part-*.parquet")))
        names = tuple(name for name, _ in seen.columns)
        return ColumnFiles(into, os.open(into, os.O_RDONLY), names=names, files=files)
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise


def _write(seen: Seen, into: Path) -> None:
    """Have each executor write its rows: where it reaches no folder of the curator, beside the copies, and from there."""
    chosen = [f"{_cell(name, kind)} AS c{place}" for place, (name, kind) in enumerate(seen.columns)]
    rows, here = seen.rows.selectExpr(*chosen), into / "rows"
    shared = spark_session.shared_folder()
    if shared is None:
        rows.write.parquet(here.as_uri())
        return
    there = f"{shared}/fetched-{secrets.token_hex(12)}"
    try:
        rows.write.parquet(there)
        spark_session.bring(there, here)
    finally:
        spark_session.delete(there)


def _cell(name: str, kind: str) -> str:
    sql = _quoted(name)
    return f"try_validate_utf8({sql})" if _word(kind) in _TEXTS else sql


def look(table: LakeTable, schema: Schema) -> Seen:
    """Find a table and its declared columns.

    Raises
    ------
    OwnerError
        When there is none, it is a view, or a column is missing or of a type that cannot be read.
    """
    spark = spark_session.session()
    with told(table):
        if table.is_folder:
            rows, place = spark.read.parquet(table.table), spark_session.qualified(table.table)
        else:
            _refuse_view(table)
            spark.catalog.refreshTable(table.table)  # others write to it too
            rows, place = spark.table(table.table), _location(table)
        kinds = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
        columns = tuple((name, _kind_of(kinds, name)) for name in read_names(schema))
        identity = digest("spark", place)
        known = ("declared", table.version) if table.version is not None else _files(rows)
    return Seen(rows, identity, digest(identity, *known, *columns), columns, bool(known))


def _refuse_view(table: LakeTable) -> None:
    found = spark_session.session().catalog.getTable(table.table)
    if found.isTemporary or found.tableType in ("VIEW", "TEMPORARY"):
        raise OwnerError(
            f"{table.table} is a view, whose rows may come from anywhere. Write them into a table: "
            f"CREATE TABLE {table.table}_rows AS SELECT * FROM {table.table} (then name it in source)."
        )


def _location(table: LakeTable) -> str:
    """Where a table's files are: a folder and the table on it are one source."""
    name = ".".join(map(_quoted, table.table.replace("`", "").split(".")))
    facts = spark_session.session().sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    places = [row["data_type"] for row in facts if row["col_name"] == "Location"]
    return spark_session.qualified(places[-1]) if places else table.table


def _kind_of(kinds: Mapping[str, str], name: str) -> str:
    """The type of a declared column, if it can be read; that it is what it is declared, is seen where every source is read."""
    if name not in kinds:
        raise no_column(name)
    if _word(kinds[name]) not in _READ:
        raise unreadable(name, _word(kinds[name]))
    return kinds[name]


def _word(kind: str) -> str:
    """A type without what it is of: string of ``string collate UTF8_LCASE``, decimal of ``decimal(9,2)``."""
    return re.split("[^a-z_]", kind)[0]


def _files(rows: DataFrame) -> tuple[str, ...]:
    """Each file's name, length and time."""
    return tuple(map(spark_session.stamp, sorted(rows.inputFiles())))


@contextlib.contextmanager
def told(table: LakeTable) -> Iterator[None]:
    """Tell the owner what Spark refuses, without a word of its own: that may quote a cell, or who logs in.

    Raises
    ------
    OwnerError
        When a statement fails.
    """
    try:
        yield
    except OwnerError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, its text stays here
        said = str(error)
        if "NOT_FOUND" in said or "PATH_DOES_NOT_EXIST" in said:
            raise OwnerError(
                f"{table.table}: Spark has no such {'folder' if table.is_folder else 'table'}. Check source = …, and the "
                "curator's spark-defaults.conf."
            ) from None
        if "UNABLE_TO_INFER_SCHEMA" in said:
            raise OwnerError(f"{table.table} holds no Parquet file.") from None
        raise OwnerError(
            f"{table.table} cannot be read by Spark: a file of it is damaged, may not be read, or was replaced meanwhile. "
            "Nothing was spent: open it again."
        ) from None


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
