"""Tumult Analytics on a local Spark: one session, and a query for each release."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np
import pandas as pd

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
RELEASES = 10


class Peer:
    """A session without an end to its budget over a cached frame."""

    supports = (
        "count",
        "mean",
        "skewed mean",
        "variance",
        "median",
        "histogram",
        "group means",
        "difference",
    )

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        folder = tempfile.mkdtemp()
        builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g")
        spark = builder.config("spark.sql.warehouse.dir", folder).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        rows = {name: values.astype(float) if name in "xsy" else values for name, values in table.items()}
        pd.DataFrame(rows).to_parquet(f"{folder}/rows.parquet")
        frame = spark.read.parquet(f"{folder}/rows.parquet").cache()
        frame.count()
        self.session = Session.from_dataframe(PureDPBudget(float("inf")), "t", frame, AddOneRow())
        self.keys = {"r": KeySet.from_dict({"r": list(range(REGIONS))}), "g": KeySet.from_dict({"g": [0, 1]})}

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return answer(getattr(self, "_" + statistic.replace(" ", "_"))(epsilon))

    def _value(self, query: Any, epsilon: float, key: str | None = None) -> np.ndarray:
        found = self.session.evaluate(query, PureDPBudget(epsilon)).toPandas()
        if key is not None:
            found = found.sort_values(key)
        return found.iloc[:, -1].to_numpy(dtype=float)

    def _rows(self) -> Any:
        return QueryBuilder("t")

    def _count(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().filter("g = 1").count(), epsilon)

    def _mean(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().average("x", 0, HIGH), epsilon)

    def _skewed_mean(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().average("s", 0, HIGH), epsilon)

    def _variance(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().variance("x", 0, HIGH), epsilon)

    def _median(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().median("x", 0, HIGH), epsilon)

    def _histogram(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().groupby(self.keys["r"]).count(), epsilon, "r")

    def _group_means(self, epsilon: float) -> np.ndarray:
        return self._value(self._rows().groupby(self.keys["r"]).average("x", 0, HIGH), epsilon, "r")

    def _difference(self, epsilon: float) -> float:
        zero, one = self._value(self._rows().groupby(self.keys["g"]).average("x", 0, HIGH), epsilon, "g")
        return one - zero
