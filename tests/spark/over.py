"""An engine in Spark over codes that a test writes."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dpnb.trusted.curator.engines.spark import SparkEngine, drop_copy, write_copy
from tests.contracts.expressions import SIZES
from tests.contracts.handed import prepare
from tests.curator.engines.test_duckdb import schema_of


def prepared(columns, folder):
    """What is written into Spark: a copy of these codes."""
    arrays = {n: np.array([np.nan if v is None else v for v in c], dtype=float) for n, c in columns.items()}
    return prepare(arrays, schema_of(SIZES), Path(folder) / "copy.duckdb")


@contextmanager
def engine_over(columns):
    """A prepared copy of these codes that Spark reads, and an engine over it that asks statements, as of a long table."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "copy.spark"
        write_copy(prepared(columns, folder), None, None, note)
        with SparkEngine(note) as engine:
            engine._short = False
            yield engine
        drop_copy(note)
