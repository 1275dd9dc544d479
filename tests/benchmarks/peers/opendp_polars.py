"""OpenDP's interface to Polars: a query is resolved once, as its scale is searched for, and released as often as it is asked."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
RELEASES = 100
NOTES = dict.fromkeys(
    ("mean", "skewed mean", "group means", "difference"), "means are clamped to the bounds by hand"
)
dp.enable_features("contrib")


class Peer:
    """A scan of a file, as a frame in memory is copied in each release; the regions' names and the most rows are told, as to every library."""

    supports = ("count", "mean", "skewed mean", "median", "histogram", "group means", "difference")

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.rows = len(table["x"])
        path = f"{tempfile.mkdtemp()}/rows.parquet"
        pl.DataFrame(
            {name: values.astype(float) if name in "xsy" else values for name, values in table.items()}
        ).write_parquet(path)
        self.frame = pl.scan_parquet(path)
        self.made: dict[tuple[str, float], tuple[Any, float | None]] = {}

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        key = {"histogram": "r", "group means": "r", "difference": "g"}.get(statistic)
        context = self._context(epsilon, key)
        if (statistic, epsilon) not in self.made:
            made = self._asked(statistic, context.query(), key).resolve()
            counts = statistic in {"count", "histogram"}
            half = dp.summarize_polars_measurement(made, alpha=0.05)["accuracy"][0] if counts else None
            self.made[statistic, epsilon] = made, half
        measurement, half = self.made[statistic, epsilon]
        found = context(measurement).collect()
        values = (found if key is None else found.sort(key)).to_series(-1).to_numpy()
        if half is None:  # a noisy sum over a noisy count may lie anywhere, and over none
            values = np.clip(np.nan_to_num(values, nan=HIGH / 2), 0, HIGH)
        return answer(values[1] - values[0] if statistic == "difference" else values, half)

    def _context(self, epsilon: float, key: str | None) -> Any:
        margins = [dp.polars.Margin(max_length=self.rows)]
        if key is not None:
            groups = 2 if key == "g" else REGIONS
            margins.append(
                dp.polars.Margin(by=[key], max_length=self.rows, max_groups=groups, invariant="keys")
            )
        return dp.Context.compositor(
            data=self.frame,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
            margins=margins,
        )

    def _asked(self, statistic: str, query: Any, key: str | None) -> Any:
        column = pl.col("s" if statistic == "skewed mean" else "x").fill_null(0.0).fill_nan(0.0)
        if statistic == "count":
            return query.filter(pl.col("g") == 1).select(dp.len(signed=True))
        if statistic == "median":
            return query.select(column.dp.median([float(place) for place in range(HIGH + 1)]))
        what = dp.len(signed=True) if statistic == "histogram" else column.dp.mean((0.0, float(HIGH)))
        return query.select(what) if key is None else query.group_by(key).agg(what.alias("value"))
