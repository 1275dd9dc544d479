"""diffprivlib: its tools, at an ε that makes one changed row cost no more than what is asked."""

from __future__ import annotations

import warnings

import numpy as np
from diffprivlib import models, tools

from .study import HIGH, REGIONS, STATISTICS, Answer, Table, answer

ADJACENCIES = ("change-one",)
NOTES = {
    "histogram": "half of ε: a changed row moves two bars, each noised for one",
    "group means": "its sums and its histogram; a changed row moves two groups, so half of each share",
    "difference": "its sums and its histogram; a changed row moves two groups, so half of each share",
    "least squares": "not private as claimed: two means at ε/2 each and ε/2 for the rest spend 1.5 ε (two thirds given here), "
    "and x² is priced at its lower bound alone",
}
UNSOUND = ("least squares",)
"""What is shown, and is not a goal: its privacy is not what it says."""

warnings.simplefilter("ignore")


class Peer:
    """Arrays with bounds."""

    supports = STATISTICS

    def __init__(self, table: Table, adjacency: str) -> None:
        assert adjacency in ADJACENCIES
        self.table = {name: values.astype(float) for name, values in table.items()}

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return answer(getattr(self, "_" + statistic.replace(" ", "_"))(epsilon))

    def _count(self, epsilon: float) -> float:
        return tools.count_nonzero(self.table["g"] == 1, epsilon=epsilon)

    def _mean(self, epsilon: float) -> float:
        return tools.mean(self.table["x"], epsilon=epsilon, bounds=(0, HIGH))

    def _skewed_mean(self, epsilon: float) -> float:
        return tools.mean(self.table["s"], epsilon=epsilon, bounds=(0, HIGH))

    def _variance(self, epsilon: float) -> float:
        return tools.var(self.table["x"], epsilon=epsilon, bounds=(0, HIGH))

    def _median(self, epsilon: float) -> float:
        return tools.median(self.table["x"], epsilon=epsilon, bounds=(0, HIGH))

    def _bars(self, column: str, groups: int, epsilon: float) -> np.ndarray:
        return tools.histogram(
            self.table[column], epsilon=epsilon / 2, bins=groups, range=(-0.5, groups - 0.5)
        )[0]

    def _histogram(self, epsilon: float) -> np.ndarray:
        return self._bars("r", REGIONS, epsilon)

    def _means_by(self, column: str, groups: int, epsilon: float) -> np.ndarray:
        x, by = self.table["x"], self.table[column]
        sums = [tools.sum(x * (by == k), epsilon=epsilon / 4, bounds=(0, HIGH)) for k in range(groups)]
        return np.clip(np.array(sums) / np.maximum(self._bars(column, groups, epsilon / 2), 1), 0, HIGH)

    def _group_means(self, epsilon: float) -> np.ndarray:
        return self._means_by("r", REGIONS, epsilon)

    def _difference(self, epsilon: float) -> float:
        means = self._means_by("g", 2, epsilon)
        return means[1] - means[0]

    def _least_squares(self, epsilon: float) -> float:
        x, y = ((self.table[name] - HIGH / 2) / (HIGH / 2) for name in ("x", "y"))
        model = models.LinearRegression(epsilon=epsilon / 1.5, bounds_X=(-1, 1), bounds_y=(-1, 1))
        return float(model.fit(x[:, None], y).coef_[0])
