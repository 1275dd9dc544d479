"""Both intervals cover what they claim, by simulation, down to ten rows. False alarms: below 1e-4 for each case (binomial)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.statistics.coverage import Coverage, Raw, coverage, narrow, skewed

MEAN, SPREAD = 100 * 2 / 7, 100**2 * 10 / (49 * 8)


def enough(held: int, reps: int, level: float = 0.95, chance: float = 1e-4) -> bool:
    """Whether this many hits are likely at the level: not below such a quantile of the binomial law."""
    return bool(held >= binom.ppf(chance, reps, level))


CASES: dict[str, tuple[Any, ...]] = {
    "mean": ("mean", skewed, MEAN, {}),
    "proportion": ("mean", skewed, 0.3, {"column": "b"}),
    "narrow mean, public size": ("mean", narrow, 80.0, {"missing": 0}),
    "mean, spread bound": ("mean", skewed, MEAN, {"spread": "bound"}),
    "difference": ("difference", skewed, 0.0, {"by": ["arm"]}),
    "difference of proportions": ("difference", skewed, 0.0, {"by": ["arm"], "column": "b"}),
    "variance": ("variance", skewed, SPREAD, {}),
    "variance of 0/1": ("variance", skewed, 0.21, {"column": "b"}),
    "standard deviation": ("std", skewed, math.sqrt(SPREAD), {}),
}


def found(case: str, n: int, loss: tuple[str, Any], adjacency: str, reps: int) -> Coverage:
    """Simulate one case."""
    statistic, population, mean, options = CASES[case]
    return coverage(statistic, population, n, loss, mean, adjacency=adjacency, reps=reps, **options)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("n", "loss"), [(20, ("epsilon", 1)), (300, ("epsilon", "0.3")), (300, ("rho", "0.05"))]
)
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case: str, n: int, loss: tuple[str, Any], adjacency: str) -> None:
    """At 95 % neither interval misses more often than a binomial law allows."""
    one = found(case, n, loss, adjacency, 500)
    assert enough(one.privacy, one.reps), one
    assert enough(one.confidence, one.reps), one


@pytest.mark.soak
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    "loss", [("epsilon", "0.1"), ("epsilon", 1), ("epsilon", 10), ("rho", "0.005"), ("rho", "0.5")]
)
@pytest.mark.parametrize("n", [10, 50, 500, 3000])
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_in_many_studies(case: str, n: int, loss: tuple[str, Any], adjacency: str) -> None:
    """The same with 3,000 studies for each case; the nominal level may be missed by one point (second-order terms)."""
    one = found(case, n, loss, adjacency, 3000)
    assert enough(one.privacy, one.reps, 0.94), one
    assert enough(one.confidence, one.reps, 0.94), one


def rare(rng: np.random.Generator, shape: Any) -> Raw:
    """An event of two per cent in both arms."""
    return {**skewed(rng, shape), "b": (rng.random(shape) < 0.02).astype(float)}


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_a_difference_of_rare_shares_covers(adjacency: str) -> None:
    """At n 500 and ε .1, where 93.7 and 94.0 % of 10,000 intervals held: the nominal level, less two standard errors."""
    one = coverage(
        "difference", rare, 500, ("epsilon", "0.1"), 0.0,
        by=["arm"], column="b", adjacency=adjacency, reps=10_000, seed=3,
    )  # fmt: skip
    assert one.privacy >= 10_000 * (0.95 - 2 * 0.0022)
    assert one.confidence >= 10_000 * (0.95 - 2 * 0.0022)


def test_wider_noise_than_declared_is_noticed() -> None:
    """With noise 1.4 times as wide as the release declares, the privacy interval misses too often: the check has power."""
    case = ("mean", skewed, 300, ("epsilon", "0.3"), MEAN)
    assert enough(coverage(*case, reps=400).privacy, 400)
    assert not enough(coverage(*case, reps=400, stretch=1.4).privacy, 400)


@pytest.mark.parametrize(("n", "epsilon"), [(20, "0.1"), (500, "0.1"), (500, 1), (500, 10)])
def test_a_quantile_with_limits_covers_both(n: int, epsilon: Any) -> None:
    """The bought limits hold the dataset's and the population's median, conservatively, also where the noise reaches beyond all rows."""
    median = float(np.quantile(100 * np.random.default_rng(0).beta(2, 5, 400_000), 0.5))
    one = coverage("quantile", skewed, n, ("epsilon", epsilon), median, reps=500, missing=0, ci=True)
    assert enough(one.privacy, one.reps)
    assert enough(one.confidence, one.reps)
