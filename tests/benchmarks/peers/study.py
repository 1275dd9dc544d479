"""The table that every library is asked about, the questions, and their true answers. Needs numpy alone, as it runs in each peer's environment."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

HIGH = 100
REGIONS = int(os.environ.get("DPNB_BENCH_REGIONS", "5"))
"""Five for errors; times are taken with fifty."""
SHARES = (0.4, 0.25, 0.15, 0.12, 0.08)
STATISTICS = (
    "count",
    "mean",
    "skewed mean",
    "variance",
    "median",
    "histogram",
    "group means",
    "difference",
    "least squares",
)
TOGETHER = ("count", "mean", "variance", "median", "histogram", "group means", "least squares")
"""The seven questions of one analysis."""

Table = dict[str, np.ndarray]


def study(rows: int, seed: int = 7, regions: int = REGIONS) -> Table:
    """Draw the table: x a bell about 50 (sd a sixth of the range), s skewed, y on x, g a group of two fifths, r a region of five.

    Of another number of regions each is equally likely.
    """
    shares = SHARES if regions == len(SHARES) else None
    rng = np.random.default_rng(seed)

    def whole(values: Any) -> np.ndarray:
        return np.clip(np.round(values), 0, HIGH).astype(np.int64)

    x = whole(rng.normal(50, HIGH / 6, rows))
    return {
        "x": x,
        "s": whole(np.exp(rng.normal(2.6, 0.8, rows))),
        "y": whole(20 + 0.5 * x + rng.normal(0, 10, rows)),
        "g": (rng.random(rows) < 0.4).astype(np.int64),
        "r": rng.choice(regions, rows, p=shares),
    }


def truths(table: Table) -> dict[str, np.ndarray]:
    """The answers without noise: one number, or one for each region."""
    x, y, g, r = (table[name].astype(float) for name in ("x", "y", "g", "r"))
    found: dict[str, Any] = {
        "count": (g == 1).sum(),
        "mean": x.mean(),
        "skewed mean": table["s"].mean(),
        "variance": x.var(ddof=1),
        "median": np.quantile(x, 0.5, method="inverted_cdf"),
        "histogram": np.bincount(table["r"], minlength=REGIONS),
        "group means": [x[r == k].mean() for k in range(REGIONS)],
        "difference": x[g == 1].mean() - x[g == 0].mean(),
        "least squares": np.cov(x, y)[0, 1] / x.var(ddof=1),
    }
    return {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in found.items()}


@dataclass(frozen=True)
class Answer:
    """What a release said: values, and the ends of 95 % intervals for the file's numbers where the library gives any."""

    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def answer(values: Any, half: float | None = None) -> Answer:
    """An answer, with the half width of its interval if the library states one."""
    made = np.atleast_1d(np.asarray(values, dtype=float))
    return Answer(made) if half is None else Answer(made, made - half, made + half)


@dataclass(frozen=True)
class Measured:
    """Errors of so many releases of one statistic, a row each."""

    errors: np.ndarray
    covered: np.ndarray
    widths: np.ndarray

    @property
    def rmse(self) -> float:
        """Root mean squared error over releases and coordinates; what is not finite makes it infinite."""
        return math.sqrt(float(np.mean(self.errors**2))) if np.isfinite(self.errors).all() else math.inf

    @property
    def uncertain(self) -> float:
        """The standard error of the root mean square, by the spread of the releases' own mean squares."""
        if not np.isfinite(self.errors).all() or len(self.errors) < 2:
            return math.nan
        squares = (self.errors**2).mean(axis=1)
        if not squares.any():
            return 0.0
        return float(self.rmse * squares.std(ddof=1) / squares.mean() / 2 / math.sqrt(len(squares)))

    @property
    def record(self) -> dict[str, Any]:
        """The figures, for JSON and CSV; no interval, no coverage."""
        shown = ~np.isnan(self.covered)
        return {
            "releases": len(self.errors),
            "rmse": self.rmse,
            "se": self.uncertain,
            "intervals": float(shown.mean()),
            "covered": float(self.covered[shown].mean()) if shown.any() else None,
            "width": float(np.median(self.widths[shown])) if shown.any() else None,
        }


def measured(answers: list[Answer], truth: np.ndarray) -> Measured:
    """Compare releases with the truth."""
    nothing = np.full(truth.size, np.nan)
    ends = [
        (nothing, nothing) if one.low is None or one.high is None else (one.low, one.high) for one in answers
    ]
    low, high = (np.array([pair[side] for pair in ends]) for side in (0, 1))
    inside = ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).astype(float)
    inside[~(np.isfinite(low) & np.isfinite(high))] = np.nan  # an unbounded interval is none
    return Measured(np.array([one.values - truth for one in answers]), inside, high - low)
