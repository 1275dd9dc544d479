"""PyDP: Google's library, one algorithm object for each result."""

from __future__ import annotations

import numpy as np
from pydp.algorithms import laplacian

from .study import HIGH, REGIONS, STATISTICS, Answer, Table, answer

ADJACENCIES = ("add-remove",)
NOTES = {
    "histogram": "a count for each region, all at ε: the regions are disjoint",
    "group means": "a mean for each region, all at ε: the regions are disjoint",
    "difference": "a mean for each group, both at ε: the groups are disjoint",
}


class Peer:
    """Lists of floats, split by hand."""

    supports = tuple(name for name in STATISTICS if name != "least squares")

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.lists = {name: [float(value) for value in table[name]] for name in ("x", "s")}
        self.by = {
            name: [[float(value) for value in table["x"][table[name] == k]] for k in range(groups)]
            for name, groups in (("g", 2), ("r", REGIONS))
        }

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return answer(getattr(self, "_" + statistic.replace(" ", "_"))(epsilon))

    def _bounded(self, algorithm: str, values: list[float], epsilon: float) -> float:
        made = getattr(laplacian, algorithm)(epsilon=epsilon, lower_bound=0, upper_bound=HIGH, dtype="float")
        return float(made.quick_result(values))

    def _rows(self, values: list[float], epsilon: float) -> float:
        return float(laplacian.Count(epsilon=epsilon, dtype="float").quick_result(values))

    def _count(self, epsilon: float) -> float:
        return self._rows(self.by["g"][1], epsilon)

    def _mean(self, epsilon: float) -> float:
        return self._bounded("BoundedMean", self.lists["x"], epsilon)

    def _skewed_mean(self, epsilon: float) -> float:
        return self._bounded("BoundedMean", self.lists["s"], epsilon)

    def _variance(self, epsilon: float) -> float:
        return self._bounded("BoundedVariance", self.lists["x"], epsilon)

    def _median(self, epsilon: float) -> float:
        return self._bounded("Median", self.lists["x"], epsilon)

    def _histogram(self, epsilon: float) -> np.ndarray:
        return np.array([self._rows(values, epsilon) for values in self.by["r"]])

    def _group_means(self, epsilon: float) -> np.ndarray:
        return np.array([self._bounded("BoundedMean", values, epsilon) for values in self.by["r"]])

    def _difference(self, epsilon: float) -> float:
        zero, one = (self._bounded("BoundedMean", values, epsilon) for values in self.by["g"])
        return one - zero
