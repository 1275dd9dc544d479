"""A resample of 000 as a partition of the rows, answered part by part as published."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import OptionError
from dpnb.risk.bootstrap import multiplicities


def partitions(multiplicity: ArrayLike) -> list[NDArray[np.intp]]:
    """Return the rows that a resample holds 0, 1, 2, … times: one resample as a partition of the rows."""
    held = np.asarray(multiplicity, dtype=np.int64)
    if held.ndim != 1 or held.size == 0 or held.min() < 0:
        raise OptionError("multiplicity is one list of whole numbers, not below 0.")
    return [np.flatnonzero(held == times) for times in range(int(held.max()) + 1)]


def noised_partitions(
    x: ArrayLike, multiplicity: ArrayLike, variance: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the published per-partition answers of one resample's mean: ``i Σ x / n`` plus noise of variance ``i p_i v``.

    Their sum is the noised resample mean: the variances add to ``v`` because ``Σ i p_i = 1``. **Only the sum has a privacy proof.**
    Published one by one, as the multiplicity i grows the noise vanishes (``i p_i → 0``) while a row moves the answer more.
    """
    values = np.asarray(x, dtype=float)
    odds = multiplicities(values.size)
    groups = partitions(multiplicity)
    found = np.zeros(max(len(odds), len(groups)))
    for times in range(1, found.size):
        odd = odds[times] if times < len(odds) else 0.0
        rows = groups[times] if times < len(groups) else np.empty(0, np.intp)
        found[times] = times * values[rows].sum() / values.size + rng.normal(
            0.0, sqrt(times * odd * variance)
        )
    return found
