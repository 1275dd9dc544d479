"""OpenDP's interface to Polars: a context for each release, as its scale is found anew for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
RELEASES = 20
"""Each takes two seconds of processor, whatever the rows: the scale is found by bisection."""
dp.enable_features("contrib")


class Peer:
    """A lazy frame; the regions' names and the most rows are told, as they are to every library."""

    supports = ("count", "mean", "skewed mean", "median", "histogram", "group means", "difference")

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.rows = len(table["x"])
        self.frame = pl.DataFrame(
            {name: values.astype(float) if name in "xsy" else values for name, values in table.items()}
        ).lazy()

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return answer(getattr(self, "_" + statistic.replace(" ", "_"))(epsilon))

    def _query(self, epsilon: float, key: str | None = None) -> Any:
        groups = 2 if key == "g" else REGIONS
        margins = [dp.polars.Margin(max_length=self.rows)]
        if key is not None:
            margins.append(
                dp.polars.Margin(by=[key], max_length=self.rows, max_groups=groups, invariant="keys")
            )
        return dp.Context.compositor(
            data=self.frame,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
            margins=margins,
        ).query()

    def _bounded(self, column: str) -> Any:
        return pl.col(column).fill_null(0.0).fill_nan(0.0).dp.mean((0.0, float(HIGH)))

    def _one(self, query: Any) -> float:
        return float(query.release().collect().item())

    def _by(self, epsilon: float, key: str, what: Any) -> np.ndarray:
        found = self._query(epsilon, key).group_by(key).agg(what.alias("value")).release().collect()
        return found.sort(key)["value"].to_numpy()

    def _count(self, epsilon: float) -> float:
        return self._one(self._query(epsilon).filter(pl.col("g") == 1).select(dp.len(signed=True)))

    def _mean(self, epsilon: float) -> float:
        return self._one(self._query(epsilon).select(self._bounded("x")))

    def _skewed_mean(self, epsilon: float) -> float:
        return self._one(self._query(epsilon).select(self._bounded("s")))

    def _median(self, epsilon: float) -> float:
        wanted = (
            pl.col("x").fill_null(0.0).fill_nan(0.0).dp.median([float(place) for place in range(HIGH + 1)])
        )
        return self._one(self._query(epsilon).select(wanted))

    def _histogram(self, epsilon: float) -> np.ndarray:
        return self._by(epsilon, "r", dp.len(signed=True))

    def _group_means(self, epsilon: float) -> np.ndarray:
        return self._by(epsilon, "r", self._bounded("x"))

    def _difference(self, epsilon: float) -> float:
        zero, one = self._by(epsilon, "g", self._bounded("x"))
        return one - zero
