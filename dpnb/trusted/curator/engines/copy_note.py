"""A prepared copy that lies in another system, and the note of it that stays here.

The note is a few hundred bytes: where the copy is and how its columns are called there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, NoReturn

import duckdb

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.curator.engines.sql_dialect import SqlDialect
from dpnb.trusted.curator.engines.sql_engine import SqlEngine
from dpnb.trusted.errors import CuratorGone, OwnerError
from dpnb.trusted.schema.cell import QUANTISER_VERSION
from dpnb.trusted.wire.places import write_private


@contextlib.contextmanager
def noted(draft: Path, note: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, Record]]:
    """Open what :func:`~dpnb.trusted.curator.engines.preparing.prepare` wrote, and write the note when the copy is made.

    Yields
    ------
    (connection, dict)
        The prepared rows; and what the note says of them, to which ``relation`` and ``names`` are added.
    """
    with duckdb.connect(str(draft), read_only=True) as rows:
        ((count,),) = rows.execute("SELECT count(*) FROM prepared").fetchall()
        facts = {
            "rows": count,
            "sizes": dict(rows.execute("SELECT name, size FROM sizes").fetchall()),
            "quantiser": QUANTISER_VERSION,
        }
        yield rows, facts
    write_private(note, canonical(facts).encode())


class NotedEngine(SqlEngine):
    """Answers batches over a copy of which there is a note.

    Parameters
    ----------
    note : path
        What :func:`noted` left here.

    Raises
    ------
    OwnerError
        When the copy is of another version of dpnb.
    CuratorGone
        When it is not there any more.
    """

    words: ClassVar[SqlDialect]
    removed: ClassVar[str] = "The prepared copy of this dataset was removed. Open the dataset again."

    def __init__(self, note: Path) -> None:
        self._note = note
        facts = self._read()
        dialect = replace(self.words, names=facts["names"])
        super().__init__(facts["relation"], facts["sizes"], facts["rows"], dialect)

    def _read(self) -> JsonObject:
        try:
            facts: JsonObject = json.loads(self._note.read_bytes())
        except OSError:
            raise CuratorGone(self.removed) from None
        if facts["quantiser"] != QUANTISER_VERSION:
            raise OwnerError("This copy was prepared by another version of dpnb. Open the dataset again.")
        return facts

    def _gone(self, error: BaseException | None = None) -> NoReturn:
        """Forget a copy that is not there: the next opening prepares the rows again."""
        self.close()
        self._note.unlink(missing_ok=True)
        raise CuratorGone(self.removed) from error
