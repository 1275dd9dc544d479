"""The statistics: what each one releases, and what is computed from the release.

Each statistic is listed in one explicit tuple. It states its measurements (exact bounded integer aggregates) with relative noise,
and ``conclude``: estimate, intervals, sizes and flags from noised integers and public constants alone. It states no
sensitivity: :mod:`dpnb.trusted.measurements` derives the cost. Nothing in this package reads a row or draws a random number,
and a plug-in cannot add to the tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpnb.statistics._base import Numeric, PriceRow, Pricing, Setting
from dpnb.statistics.correlation import Correlation
from dpnb.statistics.count import Count, Sum
from dpnb.statistics.covariance import Covariance
from dpnb.statistics.crosstab import Crosstab, ValueCount
from dpnb.statistics.declaration import Spelling, Statistic
from dpnb.statistics.difference import Difference
from dpnb.statistics.frequent import FrequentValues
from dpnb.statistics.held_share import HeldShare
from dpnb.statistics.histogram import Density, Histogram
from dpnb.statistics.ks_density import KSDensity
from dpnb.statistics.mean import Mean
from dpnb.statistics.moments import CrossMoment
from dpnb.statistics.quantile import Quantile
from dpnb.statistics.result import Result, public_result
from dpnb.statistics.robust_mean import RobustMean
from dpnb.statistics.selection import Choice, Mode, TopK
from dpnb.statistics.tree import Tree
from dpnb.statistics.variance import StandardDeviation, Variance
from dpnb.statistics.weighted_mean import WeightedMean
from dpnb.statistics.weighted_sum import WeightedSum
from dpnb.trusted.releases import Release

STATISTICS: tuple[Statistic, ...] = (
    Count(),
    Sum(),
    Mean(),
    WeightedMean(),
    WeightedSum(),
    Variance(),
    StandardDeviation(),
    Quantile(),
    Histogram(),
    Density(),
    ValueCount(),
    Crosstab(),
    FrequentValues(),
    Difference(),
    Covariance(),
    Correlation(),
    CrossMoment(),
    Mode(),
    TopK(),
    KSDensity(),
    Choice(),
    RobustMean(),
    Tree(),
    HeldShare(),
)
BY_NAME: dict[str, Statistic] = {statistic.name: statistic for statistic in STATISTICS}


def conclude(checked: Any, releases: Sequence[Release]) -> Result:
    """Return what the releases of a checked question say: estimate, intervals, sizes and flags.

    Parameters
    ----------
    checked : CheckedQuestion
        The question, with its ``statistic`` name and ``setting``.
    releases : sequence of Release
        One release, or several of the same question to be combined; none for a public answer.
    """
    if not releases:
        return public_result(float(checked.public_value), checked.domain)
    result: Result = BY_NAME[checked.statistic].conclude(checked.setting, releases)
    return result


__all__ = [
    "BY_NAME",
    "STATISTICS",
    "Numeric",
    "PriceRow",
    "Pricing",
    "Result",
    "Setting",
    "Spelling",
    "Statistic",
    "conclude",
]
