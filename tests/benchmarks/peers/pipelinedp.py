"""PipelineDP on its local backend: rows as tuples, one pipeline for each release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pipeline_dp

from .study import HIGH, REGIONS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
RELEASES = 40
MOST_ROWS = 1_000_000
"""It is timed up to so many: each row is a tuple that generators pass on, one by one, and ten times as many take ten times as long."""
NOTES = {"difference": "means of two public partitions, both at ε: the groups are disjoint"}
METRICS = pipeline_dp.Metrics


class Peer:
    """A row for each person, and the library is told so: nobody's rows are sampled, which it would do for each release."""

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
        columns = (table[name].tolist() for name in ("g", "r", "x", "s"))
        self.rows = list(zip(*columns, strict=True))

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return answer(getattr(self, "_" + statistic.replace(" ", "_"))(epsilon))

    def _release(self, epsilon: float, metric: Any, groups: int, group: int | None, value: int) -> np.ndarray:
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-9)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        asked = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            metrics=[metric],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            contribution_bounds_already_enforced=True,
            public_partitions_already_filtered=True,
            min_value=0,
            max_value=HIGH,
        )
        extractors = pipeline_dp.DataExtractors(
            partition_extractor=lambda row: 0 if group is None else row[group],
            value_extractor=lambda row: row[value],
        )
        made = engine.aggregate(self.rows, asked, extractors, public_partitions=list(range(groups)))
        accountant.compute_budgets()
        found = dict(made)
        return np.array([found[place][0] for place in range(groups)], dtype=float)

    def _count(self, epsilon: float) -> float:
        return self._release(epsilon, METRICS.COUNT, 2, 0, 2)[1]

    def _mean(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.MEAN, 1, None, 2)

    def _skewed_mean(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.MEAN, 1, None, 3)

    def _variance(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.VARIANCE, 1, None, 2)

    def _median(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.PERCENTILE(50), 1, None, 2)

    def _histogram(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.COUNT, REGIONS, 1, 2)

    def _group_means(self, epsilon: float) -> np.ndarray:
        return self._release(epsilon, METRICS.MEAN, REGIONS, 1, 2)

    def _difference(self, epsilon: float) -> float:
        zero, one = self._release(epsilon, METRICS.MEAN, 2, 0, 2)
        return one - zero
