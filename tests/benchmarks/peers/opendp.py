"""OpenDP: its own measurements for what it has; sums and counts with its Laplace noise for what it has not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as dp

from .study import HIGH, REGIONS, STATISTICS, Answer, Table, answer

ADJACENCIES = ("change-one", "add-remove")
NOTES = {
    "group means": "sums and counts by hand, noised by its Laplace measurement",
    "difference": "sums and counts by hand, noised by its Laplace measurement",
    "least squares": "sums of squares and products by hand, noised by its Laplace measurement",
}
dp.enable_features("contrib", "honest-but-curious")


class Peer:
    """Sized domains and a row less and a row more under change-one; unsized and one row under add-remove."""

    supports = STATISTICS

    def __init__(self, table: Table, adjacency: str) -> None:
        self.table, self.sized = table, adjacency == "change-one"
        self.rows, self.distance = len(table["x"]), 2 if self.sized else 1
        self.numbers = {name: [float(value) for value in table[name]] for name in ("x", "s")}
        self.made: dict[Any, Any] = {}

    def ask(self, statistic: str, epsilon: float) -> Answer:
        """Release one statistic."""
        return getattr(self, "_" + statistic.replace(" ", "_"))(epsilon)

    def _measurement(self, name: Any, build: Any, epsilon: float) -> tuple[Any, float]:
        """The measurement and the scale that its own search finds; kept, as a user would."""
        key = (name, epsilon)
        if key not in self.made:
            scale = dp.binary_search_param(build, d_in=self.distance, d_out=epsilon, bounds=(1e-9, 1e12))
            self.made[key] = build(scale), float(scale)
        return self.made[key]

    def _count(self, epsilon: float) -> Answer:
        ones = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        made, scale = self._measurement(
            "count", lambda s: ones >> dp.t.then_count() >> dp.m.then_laplace(s), epsilon
        )
        return answer(made([1] * int((self.table["g"] == 1).sum())), _half(scale))

    def _space(self) -> Any:
        bounded = dp.atom_domain(bounds=(0.0, float(HIGH)), nan=False)
        domain = dp.vector_domain(bounded, size=self.rows) if self.sized else dp.vector_domain(bounded)
        return domain, dp.symmetric_distance()

    def _mean_of(self, column: str, epsilon: float) -> Answer:
        space = self._space()
        if self.sized:
            made, scale = self._measurement(
                "mean", lambda s: space >> dp.t.then_mean() >> dp.m.then_laplace(s), epsilon
            )
            return answer(made(self.numbers[column]), _half(scale))
        total, _ = self._measurement(
            "sum", lambda s: space >> dp.t.then_sum() >> dp.m.then_laplace(s), epsilon / 2
        )
        rows = self._rows(epsilon / 2)
        return answer(np.clip(total(self.numbers[column]) / max(rows, 1.0), 0, HIGH))

    def _mean(self, epsilon: float) -> Answer:
        return self._mean_of("x", epsilon)

    def _skewed_mean(self, epsilon: float) -> Answer:
        return self._mean_of("s", epsilon)

    def _rows(self, epsilon: float) -> float:
        ones = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        made, _ = self._measurement(
            "count", lambda s: ones >> dp.t.then_count() >> dp.m.then_laplace(s), epsilon
        )
        return float(made([1] * self.rows))

    def _variance(self, epsilon: float) -> Answer:
        if self.sized:
            space = self._space()
            made, scale = self._measurement(
                "variance", lambda s: space >> dp.t.then_variance() >> dp.m.then_laplace(s), epsilon
            )
            return answer(made(self.numbers["x"]), _half(scale))
        x = self.table["x"].astype(float)
        total = self._noised([x.sum()], HIGH, epsilon / 3)[0]
        squares = self._noised([(x**2).sum()], HIGH**2, epsilon / 3)[0]
        rows = max(self._rows(epsilon / 3), 2.0)
        return answer(np.clip((squares - total**2 / rows) / (rows - 1), 0, (HIGH / 2) ** 2))

    def _median(self, epsilon: float) -> Answer:
        candidates = [float(code) for code in range(HIGH + 1)]
        plain = dp.atom_domain(T=float, nan=False)
        domain = dp.vector_domain(plain, size=self.rows) if self.sized else dp.vector_domain(plain)
        made, _ = self._measurement(
            "median",
            lambda s: (
                (domain, dp.symmetric_distance())
                >> dp.t.then_quantile_score_candidates(candidates, 0.5)
                >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True)
            ),
            epsilon,
        )
        return answer(candidates[made(self.numbers["x"])])

    def _histogram(self, epsilon: float) -> Answer:
        codes = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        made, scale = self._measurement(
            "histogram",
            lambda s: (
                codes
                >> dp.t.then_count_by_categories(list(range(REGIONS)), null_category=False)
                >> dp.m.then_laplace(s)
            ),
            epsilon,
        )
        return answer(made([int(code) for code in self.table["r"]]), _half(scale))

    def _noised(self, values: Any, sensitivity: float, epsilon: float) -> np.ndarray:
        """Laplace noise for values of which one row moves so much in all."""
        key = ("laplace", sensitivity, epsilon)
        if key not in self.made:
            space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
            self.made[key] = space >> dp.m.then_laplace(self.distance * sensitivity / epsilon)
        return np.asarray(self.made[key]([float(value) for value in values]))

    def _means_by(self, column: str, groups: int, epsilon: float) -> np.ndarray:
        x, by = self.table["x"].astype(float), self.table[column]
        sums = self._noised([x[by == k].sum() for k in range(groups)], HIGH, epsilon / 2)
        counts = self._noised([(by == k).sum() for k in range(groups)], 1, epsilon / 2)
        return np.clip(sums / np.maximum(counts, 1.0), 0, HIGH)

    def _group_means(self, epsilon: float) -> Answer:
        return answer(self._means_by("r", REGIONS, epsilon))

    def _difference(self, epsilon: float) -> Answer:
        means = self._means_by("g", 2, epsilon)
        return answer(means[1] - means[0])

    def _least_squares(self, epsilon: float) -> Answer:
        """Sums of x, y, x² and xy about the middle of the bounds, and the number of rows where it is private."""
        x, y = (self.table[name] - HIGH / 2 for name in ("x", "y"))
        share = epsilon / (4 if self.sized else 5)
        linear, square = HIGH / 2, (HIGH / 2) ** 2
        sx, sy, sxx, sxy = (
            self._noised([part.sum()], most, share)[0]
            for part, most in ((x, linear), (y, linear), (x * x, square), (x * y, square))
        )
        rows = float(self.rows) if self.sized else max(self._rows(share), 1.0)
        spread = sxx - sx * sx / rows
        return answer((sxy - sx * sy / rows) / spread if spread > 0 else 0.0)


def _half(scale: float) -> float:
    """The half width at 95 % that its own helper states for a Laplace scale."""
    return float(dp.laplacian_scale_to_accuracy(scale, 0.05)) if scale > 0 else math.nan
