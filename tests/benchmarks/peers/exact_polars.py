"""The floor: Polars' exact answers on raw floats in memory, without privacy."""

from __future__ import annotations

import polars as pl

from .study import HIGH, STATISTICS, Answer, Table, answer


class Peer:
    """A frame in memory; x, s and y are floats."""

    supports = STATISTICS

    def __init__(self, table: Table, adjacency: str) -> None:
        self.frame = pl.DataFrame({**table, **{name: table[name].astype(float) for name in "xsy"}})

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Answer one statistic; ε is not used."""
        x, s, y = (pl.col(name).clip(0, HIGH) for name in ("x", "s", "y"))
        one, zero = (x.filter(pl.col("g") == k).mean() for k in (1, 0))
        plain = {
            "count": (pl.col("g") == 1).sum(),
            "mean": x.mean(),
            "skewed mean": s.mean(),
            "variance": x.var(),
            "median": x.quantile(0.5, interpolation="lower"),
            "difference": one - zero,
            "least squares": pl.cov(x, y) / x.var(),
        }
        by = {"histogram": pl.len(), "group means": x.mean().alias("mean")}
        if statistic in by:
            return answer(self.frame.group_by("r").agg(by[statistic]).sort("r").to_series(1).to_numpy())
        return answer(self.frame.lazy().select(plain[statistic]).collect().item())
