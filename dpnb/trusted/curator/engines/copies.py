"""The systems in which prepared copies lie, by how their names on this disk end: a copy's own, or that of the note of one elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE, SERVER, LAKE = ".duckdb", ".server", ".spark"


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
