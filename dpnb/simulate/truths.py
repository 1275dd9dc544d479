"""What is true: each statistic of a dataset, or of a population, without noise. The yardstick of every coverage.

Defined here once more, in plain floating-point numpy, so that an error in a release's formulas cannot hide itself. A statistic
that is not in the table needs ``truth=`` and ``parameter=``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.planner.check import CheckedQuestion
from dpnb.simulate.exact import Rows
from dpnb.statistics import Setting

Floats = NDArray[np.float64]
Truth = Callable[[Rows, Setting], Floats]


def _mean(values: Floats | None, rows: Rows) -> Floats:
    assert values is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rows.sums(values) / rows.sums())


def _centred(values: Floats | None, rows: Rows) -> Floats:
    assert values is not None
    return np.asarray(values - _mean(values, rows).ravel()[rows.cell])


def _moment(rows: Rows, first: Floats | None, second: Floats | None) -> Floats:
    return _mean(_centred(first, rows) * _centred(second, rows), rows)


def count(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001 - one signature for all truths
    """How many rows."""
    return rows.sums()


def total(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The sum."""
    return rows.sums(rows.x)


def mean(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The mean; not a number where there is no row."""
    return _mean(rows.x, rows)


def weighted_mean(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The mean in which each row counts by its second number; not a number where nothing counts."""
    assert rows.x is not None and rows.y is not None  # noqa: PT018
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rows.sums(rows.x * rows.y) / rows.sums(rows.y))


def weighted_sum(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The sum in which each row counts by its second number."""
    assert rows.x is not None and rows.y is not None  # noqa: PT018
    return np.asarray(rows.sums(rows.x * rows.y))


def variance(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The variance, divisor n."""
    return _moment(rows, rows.x, rows.x)


def deviation(rows: Rows, setting: Setting) -> Floats:
    """The root of the variance."""
    return np.asarray(np.sqrt(variance(rows, setting)))


def difference(rows: Rows, setting: Setting) -> Floats:
    """The second arm's mean minus the first's."""
    found = mean(rows, setting)
    return np.asarray(found[:, 1::2] - found[:, ::2])


def covariance(rows: Rows, setting: Setting) -> Floats:  # noqa: ARG001
    """The covariance, divisor n."""
    return _moment(rows, rows.x, rows.y)


def correlation(rows: Rows, setting: Setting) -> Floats:
    """Pearson's correlation; not a number where a column is constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(_moment(rows, rows.x, rows.x) * _moment(rows, rows.y, rows.y))
        return np.asarray(covariance(rows, setting) / spread)


def quantile(rows: Rows, setting: Setting) -> Floats:
    """The smallest value at or below which the asked share of the rows lies; levels side by side in each cell."""
    assert rows.x is not None
    asked = setting.options["q"]
    levels = np.array([float(q) for q in (asked if isinstance(asked, tuple) else (asked,))])
    order = np.lexsort((rows.x, rows.cell))
    values, cells = rows.x[order], rows.cell[order]
    weights = np.ones(values.size) if rows.weight is None else rows.weight[order]
    before = np.concatenate([[0.0], np.cumsum(weights)])
    edges = np.searchsorted(cells, np.arange(rows.groups * rows.cells + 1))
    low, high = before[edges[:-1], None], before[edges[1:], None]
    target = low + levels * (high - low)
    place = np.searchsorted(before, target - 1e-9 * np.maximum(high - low, 1e-300), side="left") - 1
    place = np.clip(place, edges[:-1, None], np.maximum(edges[1:, None] - 1, edges[:-1, None]))
    found = np.where(edges[1:, None] > edges[:-1, None], values[np.minimum(place, values.size - 1)], np.nan)
    return np.asarray(found.reshape(rows.groups, rows.cells * levels.size))


TRUTHS: dict[str, Truth] = {
    "count": count,
    "sum": total,
    "mean": mean,
    "robust_mean": mean,
    "weighted_mean": weighted_mean,
    "weighted_sum": weighted_sum,
    "variance": variance,
    "std": deviation,
    "quantile": quantile,
    "histogram": count,
    "value_counts": count,
    "difference": difference,
    "covariance": covariance,
    "correlation": correlation,
}

TOTALS = frozenset({"weighted_sum"})
"""What grows with the number of rows, and has a population's value all the same: that of so many rows."""


def known(checked: CheckedQuestion) -> Truth | None:
    """Return the truth of a question's statistic, where it is defined here."""
    return TRUTHS.get(checked.statistic)


def given(truth: Callable[[Mapping[str, Any]], Any], columns: Mapping[str, Floats], studies: int) -> Floats:
    """Return a truth given as a function of one study's columns, for every study, shape (studies, entries)."""
    found = [
        np.ravel(np.asarray(truth({name: c[place] for name, c in columns.items()}), dtype=float))
        for place in range(studies)
    ]
    return np.stack(found)
