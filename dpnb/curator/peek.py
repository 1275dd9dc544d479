"""Names and storage types of a data file's columns: what drafting a schema may know.

Only a file's footer or catalogue is read. ENUM levels are values that somebody observed: cut off here.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpnb.datasets.owner import format_of
from dpnb.errors import OwnerError

__all__ = ["fields"]


def fields(path: Path, table: str | None = None) -> list[tuple[str, str]]:
    """List the columns of a Parquet or DuckDB file as (name, storage type).

    Parameters
    ----------
    path : Path
        The file.
    table : str, optional
        The table of a DuckDB file; it may be left out when there is one.

    Raises
    ------
    OwnerError
        When the file is missing, is not what its suffix says, or has no such table.
    """
    if not path.is_file():
        raise OwnerError(f"there is no file {path}")
    try:
        found = _parquet(path) if format_of(path) == "parquet" else _tables(path, table)
    except duckdb.Error:
        raise OwnerError(f"{path.name} cannot be read as {format_of(path)}: check the file") from None
    return [(name, stored.split("(")[0]) for name, stored in found]


def _parquet(path: Path) -> list[tuple[str, str]]:
    with duckdb.connect() as engine:
        rows = engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    return [(str(row[0]), str(row[1])) for row in rows]


def _tables(path: Path, table: str | None) -> list[tuple[str, str]]:
    with duckdb.connect(str(path), read_only=True) as engine:
        rows = engine.execute("SELECT table_name, column_name, data_type FROM duckdb_columns()").fetchall()
    tables = sorted({str(row[0]) for row in rows})
    if table is None and len(tables) == 1:
        table = tables[0]
    if table not in tables:
        raise OwnerError(
            f"{path.name} holds the tables {', '.join(tables) or '(none)'}: name one with --table"
        )
    return [(str(row[1]), str(row[2])) for row in rows if row[0] == table]
