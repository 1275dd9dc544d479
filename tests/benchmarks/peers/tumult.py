"""Tumult Analytics on a local Spark: one session, and a query for each release."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import pandas as pd

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
RELEASES = 40
NOTES = dict.fromkeys(
    ("count", "mean", "skewed mean", "variance", "median", "histogram", "group means", "difference"),
    "errors are of one query by copy of 40 copies of the table, at ε: a row is in one, and each copy has noise of its own",
)
_QUERIES = {
    "count": (None, lambda rows: rows.count()),
    "mean": (None, lambda rows: rows.average("x", 0, HIGH)),
    "skewed mean": (None, lambda rows: rows.average("s", 0, HIGH)),
    "variance": (None, lambda rows: rows.variance("x", 0, HIGH)),
    "median": (None, lambda rows: rows.median("x", 0, HIGH)),
    "histogram": ("r", lambda rows: rows.count()),
    "group means": ("r", lambda rows: rows.average("x", 0, HIGH)),
    "difference": ("g", lambda rows: rows.average("x", 0, HIGH)),
}
"""Of each statistic the column that it is grouped by, and the aggregate."""
_LABELS = {"r": list(range(REGIONS)), "g": [0, 1]}


class Peer:
    """A session without an end to its budget over a cached frame; and another, where errors are measured, over copies of it."""

    supports = tuple(_QUERIES)

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.folder = tempfile.mkdtemp()
        builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        self.spark = builder.config("spark.sql.warehouse.dir", self.folder).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.rows = pd.DataFrame(
            {name: values.astype(float) if name in "xsy" else values for name, values in table.items()}
        )
        self.session = self._opened(self.rows, "rows")
        self.copied: tuple[int, Any] = 0, None

    def _opened(self, rows: pd.DataFrame, name: str) -> Any:
        rows.to_parquet(f"{self.folder}/{name}.parquet")
        frame = self.spark.read.parquet(f"{self.folder}/{name}.parquet").cache()
        frame.count()
        return Session.from_dataframe(PureDPBudget(float("inf")), "t", frame, AddOneRow())

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        key, _ = _QUERIES[statistic]
        found = self._evaluated(self.session, statistic, {key: _LABELS[key]} if key else {}, epsilon)
        return _answered(statistic, found.sort_values(key) if key else found)

    def many(self, statistic: str, epsilon: float, releases: int) -> list[Answer]:
        """Release one statistic of so many copies of the table, each a group of its own: the noise of so many releases, in one query."""
        if self.copied[0] != releases:
            rows = pd.concat([self.rows.assign(copy=place) for place in range(releases)])
            self.copied = releases, self._opened(rows, f"copies{releases}")
        key, _ = _QUERIES[statistic]
        keys = {"copy": list(range(releases))} | ({key: _LABELS[key]} if key else {})
        found = self._evaluated(self.copied[1], statistic, keys, epsilon).sort_values(list(keys))
        return [_answered(statistic, one) for _, one in found.groupby("copy")]

    def _evaluated(self, session: Any, statistic: str, keys: dict[str, list[int]], epsilon: float) -> Any:
        rows = QueryBuilder("t").filter("g = 1") if statistic == "count" else QueryBuilder("t")
        grouped = rows.groupby(KeySet.from_dict(keys)) if keys else rows
        return session.evaluate(_QUERIES[statistic][1](grouped), PureDPBudget(epsilon)).toPandas()


def _answered(statistic: str, found: Any) -> Answer:
    values = found.iloc[:, -1].to_numpy(dtype=float)
    return answer(values[1] - values[0] if statistic == "difference" else values)
