"""Names and storage types of a data file's columns: what drafting a schema may know.

Only a file's footer or catalogue is read. ENUM levels are values that somebody observed: cut off here.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.curator.engines.table_file import table_of
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import STATISTICS, NamedFile, format_of


def fields(path: Path, table: str | None = None, skip: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """List the columns of a Parquet or DuckDB file as (name, storage type).

    Parameters
    ----------
    path : Path
        The file.
    table : str, optional
        The table of a DuckDB file; it may be left out when there is one.
    skip : tuple of str
        How rows of a sheet begin that stand above its header.

    Raises
    ------
    OwnerError
        When the file is missing, is not what its suffix says, or has no such table.
    """
    with NamedFile.open(path, Dialect(skip=skip)) as file, duckdb.connect() as engine:
        kind = format_of(path)
        if kind in ("json", "excel"):
            return [(name, "unknown") for name in table_of(file, table).kinds]
        if kind in STATISTICS:
            return list(table_of(file, table).kinds.items())
        columns = open_source(engine, file, table).columns
    return [(name, stored.split("(")[0]) for name, (_, stored) in columns.items()]
