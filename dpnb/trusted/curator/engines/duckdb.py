"""The embedded engine: DuckDB over a prepared copy.

The engine reads its copy alone: it cannot write, reach a file or load an extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from dpnb.trusted.curator.engines.preparing import spill_directory
from dpnb.trusted.curator.engines.sql_dialect import DUCKDB
from dpnb.trusted.curator.engines.sql_engine import SqlEngine
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import QUANTISER_VERSION

_TABLE = "prepared"
_PERFECT_BITS = 16
_WRITES_OUT = "filter_pushdown"
"""It writes a column of an inner SELECT out wherever a filter mentions it: forty conditions within conditions never end."""


def write_copy(draft: Path, _: None, __: Schema, copy: Path) -> None:
    """Give a prepared copy its name."""
    draft.replace(copy)


def drop_copy(copy: Path) -> None:
    """Delete a copy."""
    copy.unlink(missing_ok=True)


class DuckDBEngine(SqlEngine):
    """Answers batches over one prepared copy. Safe to share between threads; batches that wait for one another run as one.

    Parameters
    ----------
    path : path
        What :func:`~dpnb.trusted.curator.engines.preparing.prepare` wrote.
    threads : int, optional
        How many threads a scan may use; all cores by default.
    """

    def __init__(self, path: str | Path, *, threads: int | None = None) -> None:
        path = Path(path)
        config: dict[str, Any] = {"temp_directory": str(spill_directory(path))}
        if threads is not None:
            config["threads"] = threads
        self._connection = duckdb.connect(str(path), read_only=True, config=config)
        self._connection.execute(f"SET perfect_ht_threshold = {_PERFECT_BITS}")
        self._connection.execute(f"SET disabled_optimizers = '{_WRITES_OUT}'")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._refuse_another_quantiser()
        sizes = dict(self._connection.execute("SELECT name, size FROM sizes").fetchall())
        rows = int(self._rows_of(f"SELECT count(*) FROM {_TABLE}")[0][0])
        super().__init__(_TABLE, sizes, rows, DUCKDB)

    def _refuse_another_quantiser(self) -> None:
        ((quantiser,),) = self._connection.execute("SELECT quantiser FROM about").fetchall()
        if quantiser != QUANTISER_VERSION:
            self._connection.close()
            raise OwnerError("This copy was prepared by another version of dpnb. Open the dataset again.")

    def _columns(self, sql: str) -> Mapping[str, Any]:
        return self._connection.execute(sql).fetchnumpy()

    def _rows_of(self, sql: str) -> list[Any]:
        return self._connection.execute(sql).fetchall()

    def close(self) -> None:
        """Close the copy. A closed engine answers nothing."""
        self._connection.close()


open_copy = DuckDBEngine
