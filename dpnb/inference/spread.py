"""Spread and effective size from released numbers: sampling variance, small samples, "as accurate as N of M people"."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpnb.inference.elementwise import Number, Truth, choose, greater

_NU_FLOOR = 1.0
_CLEAR, UPPER = 2.0, 1.645
"""How many standard deviations of its noise a variance is above zero where it is clear of it; and how many its likely largest is above it."""
MARGIN = 0.5
"""How many standard deviations of its noise are added to a variance that is to err on the wide side."""


def is_clear(variance: Number, noise: Number) -> Truth:
    """Return whether a released variance is clear of its noise, of which the standard deviation is given."""
    return variance > _CLEAR * noise


def upper_limit(variance: Number, noise: Number) -> Number:
    """Return the largest variance that noise of a standard deviation leaves likely: its one-sided 95 % limit."""
    return greater(variance, 0.0) + UPPER * noise


def likely_variance(variance: Number, noise: Number) -> tuple[Number, Truth]:
    """Return a released variance where it is clear of its noise, else the largest that is likely; and whether it is clear."""
    clear = is_clear(variance, noise)
    return choose(clear, variance, upper_limit(variance, noise)), clear


def student_inflation(n: Number, level: float = 0.95) -> Number:
    """Return the factor by which a normal variance grows so that its interval is Student's for ``n`` rows.

    Parameters
    ----------
    n : float, or array
        Number of rows, possibly noised; treated as at least two.
    level : float
        Level of the interval.

    Notes
    -----
    The ratio of the squared critical values, by the Cornish-Fisher expansion of the t quantile in ``1/ν``.

    References
    ----------
    Abramowitz & Stegun 26.7.5.
    """
    nu = greater(n - 1.0, _NU_FLOOR)
    z = normal_quantile(0.5 + level / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return ((z + first / nu + second / nu**2 + third / nu**3) / z) ** 2


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """Return the standard normal quantile."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def effective_size(n: Number, sampling_variance: Number, noise_variance: Number) -> Number:
    """Return how many rows without noise would be as accurate: ``n · V_sampling / (V_sampling + V_noise)``.

    Parameters
    ----------
    n : float, or array
        Number of rows behind the estimate.
    sampling_variance, noise_variance : float, or array
        Variances of the estimate from sampling and from the mechanism.
    """
    total = sampling_variance + noise_variance
    if isinstance(total, np.ndarray):
        good = np.isfinite(total) & (total > 0) & (n > 0)
        return np.where(good, n * sampling_variance / np.where(good, total, 1.0), 0.0)
    if not math.isfinite(total) or total <= 0 or n <= 0:
        return 0.0
    return n * sampling_variance / total
