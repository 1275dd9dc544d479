"""Spark: batches over a prepared copy that lies as Parquet where Spark reads it.

The rows are read once through the one reading that every source has (:mod:`~dpnb.trusted.curator.engines.preparing`), and the codes
are written as Parquet: into ``spark.dpnb.copies``, a folder that every executor reaches, where Spark's own configuration names
one, and else beside the note. The note says in a few hundred bytes where the copy is and what its content is known by. A copy
never changes, so the integers of a batch are the same wherever and however often a task of it runs: a lost executor is Spark's
own business, and a session that ended in mid-batch is started anew and the batch run again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.reference import Answer
from dpnb.trusted.curator.engines import spark_session
from dpnb.trusted.curator.engines.cell_sql import literal
from dpnb.trusted.curator.engines.copy_note import NotedEngine, noted
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.curator.engines.sql_dialect import SqlDialect
from dpnb.trusted.errors import CuratorGone, OwnerError
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.lake_table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ATTEMPTS = 3
"""How often a batch is run on a Spark that ends under it."""


@dataclass(frozen=True)
class _SparkDialect(SqlDialect):
    """Spark's words that no template says."""

    def typed(self, number: object, kind: str) -> str:
        """Return an integer constant of a type."""
        return f"CAST({number} AS {kind})"


DIALECT = _SparkDialect(
    quote="`",
    quotient="div",
    wide="DECIMAL(38,0)",
    widens=True,
    text="STRING",
    by_all="GROUP BY `##cell`, `##value` ORDER BY `##cell`, `##value`",
)
"""Spark's words: its sums of integers are 64 bits wide and end in an error beyond, so that a wide one is told to be wide."""


def write_copy(draft: Path, _: LakeTable, __: Schema, note: Path) -> None:
    """Write a prepared copy as Parquet, and a note of it beside where the copy would be.

    Parameters
    ----------
    draft : path
        What :func:`~dpnb.trusted.curator.engines.preparing.prepare` wrote.
    note : path

    Raises
    ------
    OwnerError
        When Spark is not there, or may not write its copies where its configuration says.
    """
    copy = note.with_name(f".{note.name}.{secrets.token_hex(12)}")
    with noted(draft, note) as (rows, facts):
        names = {name: f"c{place}" for place, name in enumerate(facts["sizes"])}
        chosen = ", ".join(f"{quoted(name)} AS {inner}" for name, inner in names.items())
        rows.execute(
            f"COPY (SELECT {chosen} FROM prepared) TO {literal(str(copy))} (FORMAT parquet, PER_THREAD_OUTPUT)"
        )
        copy.chmod(0o700)
        shared = spark_session.shared_folder()
        place = (
            copy.as_uri() if shared is None else _handed_on(copy, f"{shared}/copy-{secrets.token_hex(12)}")
        )
        facts |= {"relation": place, "names": names}


def _handed_on(copy: Path, place: str) -> str:
    """Move a copy to where every executor reads it."""
    try:
        spark_session.hand_on(copy, place)
    except Exception as error:
        raise OwnerError(
            f"Spark may not write into {spark_session.COPIES}: look into the curator's spark-defaults.conf."
        ) from error
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    return place


def drop_copy(note: Path) -> None:
    """Delete a copy, and its note."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        place = json.loads(note.read_bytes())["relation"]
        if place.rpartition("/")[0] != note.parent.as_uri():
            spark_session.delete(place)
    for folder in note.parent.glob(f".{note.name}.*"):
        shutil.rmtree(folder, ignore_errors=True)
    note.unlink(missing_ok=True)


class SparkEngine(NotedEngine):
    """Answers batches over one prepared copy. Safe to share between threads; one batch runs at a time."""

    words = DIALECT

    def __init__(self, note: Path) -> None:
        super().__init__(note)
        self._place, self._relation = self._relation, f"dpnb_{secrets.token_hex(8)}"
        self._spark: SparkSession | None = None
        self._open()

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch exactly, in the order of the requests; where Spark ends meanwhile, by a Spark started anew.

        Raises
        ------
        CuratorGone
            When the copy is not there any more.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return super().answer(requests)
            except CuratorGone:
                raise
            except Exception:
                if self._spark is not None and spark_session.alive(self._spark):
                    raise
        return super().answer(requests)

    def _open(self) -> SparkSession:
        """Return the session, in which the copy has a name."""
        spark = spark_session.session()
        if spark is not self._spark:
            try:
                spark.read.parquet(self._place).createOrReplaceTempView(self._relation)
            except Exception as error:
                if spark_session.alive(spark):
                    self._gone(error)
                raise
            self._spark = spark
        return spark

    @contextlib.contextmanager
    def _one_batch(self) -> Iterator[None]:
        """A copy never changes: it is there, or is told to have gone."""
        try:
            yield
        except Exception as error:
            if "FAILED_READ_FILE" in str(error):
                self._gone(error)
            raise

    def _found(self, sql: str) -> Any:
        return self._open().sql(sql).toArrow()

    def _columns(self, sql: str) -> Mapping[str, Any]:
        found = self._found(sql)
        return {name: _array(found.column(name)) for name in found.column_names}

    def _rows_of(self, sql: str) -> list[Any]:
        return list(zip(*(column.to_pylist() for column in self._found(sql).columns), strict=True))

    def close(self) -> None:
        """Let go of the copy."""
        if self._spark is not None and spark_session.alive(self._spark):
            self._spark.catalog.dropTempView(self._relation)
        self._spark = None


def _array(column: Any) -> Any:
    """A column as a masked array: integers, or objects where it holds texts."""
    unknown = column.is_null().to_numpy()
    values = column.to_pylist() if str(column.type) == "string" else column.fill_null(0).to_numpy()
    return np.ma.masked_array(
        np.asarray(values, dtype=object if str(column.type) == "string" else np.int64), unknown
    )


open_copy = SparkEngine
