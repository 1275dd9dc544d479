"""What every engine promises, and the systems in which prepared copies lie, by how their names on this disk end: a copy's own, or that of the note of one elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.reference import Answer

HERE, SERVER, LAKE = ".duckdb", ".server", ".spark"


class Engine(Protocol):
    """Answers exact integer questions about one prepared copy."""

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch: the same integers as :func:`dpnb.datasets.exact_answers.answer`."""
        ...

    def close(self) -> None:
        """Let go of the prepared copy."""
        ...


def system_of(copy: Path) -> Any:
    """Return the module that writes (``write_copy``), asks (``open_copy``) and deletes (``drop_copy``) copies whose names end so."""
    if copy.suffix == SERVER:
        from dpnb.trusted.curator.engines import postgres

        return postgres
    if copy.suffix == LAKE:
        from dpnb.trusted.curator.engines import spark

        return spark
    from dpnb.trusted.curator.engines import duckdb

    return duckdb
