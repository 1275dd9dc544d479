"""The rows of a TEACHING dataset as the kernel reads them: public, so that everybody may.

They are quantised and bounded by the declared schema, as the curator's are, because a question is about those values. Where a
person may have several rows and only some count, the kernel cannot tell which ones the curator kept: it keeps others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.errors import Unavailable
from dpnb.teach.law import OutcomeLaw, law
from dpnb.teach.noiseless import redraw, truth
from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.reference import Table
from dpnb.trusted.files.csv_header import csv_header, rows_of
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import EVERY, NamedFile, format_of
from dpnb.trusted.files.text_file import TextFile
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.owner import OwnedDataset

if TYPE_CHECKING:
    from dpnb.estimate import Estimate

Columns = Mapping[str, Any]
_TABLE = "[source] "
"""What stands before the name of a table beside those of columns."""


@dataclass(eq=False)
class PublicRows:
    """Public rows, read when they are first asked.

    Parameters
    ----------
    schema : Schema
        As the curator states it.
    read : callable
        Returns the raw columns.
    shown : bool
        Whether cards and plots show the truth.
    """

    schema: Schema
    read: Callable[[], Columns]
    shown: bool = False

    @cached_property
    def table(self) -> Table:
        """The rows as integers on the declared grids."""
        own, others = tables_of(self.read())
        return prepare(own, self.schema, others=others)

    def answer(self, requests: Iterable[Request]) -> list[Any]:
        """Answer each request exactly."""
        return list(answer(self.table, requests))

    def truth(self, estimate: Estimate) -> Any:
        """Return what an estimate would be without noise."""
        return truth(estimate)

    def redraw(
        self, estimate: Estimate, count: int, rng: int | np.random.Generator | None = None
    ) -> NDArray[np.float64]:
        """Return outcomes of an estimate under fresh noise."""
        return redraw(estimate, count, rng)

    def law(self, estimate: Estimate) -> OutcomeLaw:
        """Return the law of one released number."""
        return law(estimate)


def tables_of(columns: Columns) -> tuple[Columns, Mapping[str, Columns]]:
    """Tell a table's own columns from the tables that are read beside it."""
    others = {name: table for name, table in columns.items() if isinstance(table, Mapping)}
    own = {name: column for name, column in columns.items() if name not in others}
    return own, {name.removeprefix(_TABLE): table for name, table in others.items()}


def with_tables(own: Columns, others: Mapping[str, Columns]) -> Columns:
    """Return a table's own columns and the tables beside it, as one mapping."""
    return {**own, **{_TABLE + name: table for name, table in others.items()}}


def read_file(owned: OwnedDataset) -> Columns:
    """Read the columns of a public file, as texts or as what it stores, and each other table as a mapping.

    Raises
    ------
    Unavailable
        For a server's table, a DuckDB file, or a Parquet or Feather file where no package reads it.
    OwnerError
        For another program's file where its library is missing.
    """
    if owned.server is not None:
        raise Unavailable(
            f"The truth in a server's table is not read: save {owned.server.table} as a CSV file."
        )
    own = _read(Path(str(owned.source)), owned.dialect, owned.schema.rows_of(), owned.table)
    others = {
        name: _read(path, dialect, owned.schema.rows_of(name))
        for name, (path, dialect) in owned.others.items()
    }
    return with_tables(own, others)


def _read(path: Path, dialect: Dialect, schema: Schema, table: str | None = None) -> Columns:
    match kind := format_of(path):
        case "csv":
            columns = _csv(path, dialect)
        case "parquet" | "arrow":
            columns = _arrow(path, kind)
        case "duckdb":
            raise Unavailable(
                f"The truth in {path.name} is not read: save its table as a CSV or Parquet file."
            )
        case _:
            return _table(path, dialect, schema, table)
    return {**columns, **{name: columns[header] for name, header in dialect.headers}}


def _csv(path: Path, dialect: Dialect) -> Columns:
    """Every column as texts, None where a field is empty, by the curator's rules for lines and delimiters."""
    with NamedFile.open(path, dialect) as named:
        names, delimiter = csv_header(named)
        with TextFile.of(named).lines() as lines:
            fields = rows_of(lines, delimiter, dialect)
            next(fields)
            rows = [(line + [""] * len(names))[: len(names)] for line in fields if line]
    found = np.array(rows, dtype=object).reshape(len(rows), len(names))
    found[found == ""] = None
    return dict(zip(names, found.T, strict=True))


_READERS = {
    "parquet": (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet")),
    "arrow": (("pyarrow.feather", "read_table"), ("polars", "read_ipc"), ("pandas", "read_feather")),
}
"""What may be installed that reads a file of columns."""


def _arrow(path: Path, kind: str) -> Columns:
    """Every column as the first installed package that reads such files gives it."""
    for package, read in _READERS[kind]:
        with contextlib.suppress(ImportError):
            table = getattr(import_module(package), read)(str(path.parent if path.name == EVERY else path))
            names = getattr(table, "column_names", None) or list(table.columns)
            return {str(name): table[str(name)] for name in names}
    raise Unavailable(f"Nothing installed reads {path.suffix} files here. Run: pip install pyarrow")


def _table(path: Path, dialect: Dialect, schema: Schema, table: str | None) -> Columns:
    """The declared columns of a sheet, of lines of JSON or of a statistics package's file, each cell as the curator takes it."""
    from dpnb.trusted.curator.engines.preparing import uses_of
    from dpnb.trusted.curator.engines.table_file import table_of

    headers = dict(dialect.headers)
    uses = uses_of(schema)
    wanted = {name: headers.get(name, name) for name in uses}
    with NamedFile.open(path, dialect) as named:
        blocks = list(table_of(named, table, uses).blocks(wanted))
    none = [np.empty(0, dtype=object)]
    return {name: np.concatenate([block[name] for block in blocks] or none) for name in wanted}
