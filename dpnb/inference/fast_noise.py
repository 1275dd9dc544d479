"""Fast simulators of the noise laws, for a numpy generator. For simulation and previews, never for a protected release.

They use floating point, which :mod:`dpnb.trusted.noise.exact` never does; tests bind both to the one declared law.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_TABLE_SIGMA = 200.0


def discrete_laplace(
    scale: float, size: int | tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw from P(k) ∝ e^(-|k|/scale) as the difference of two geometric variables.

    Parameters
    ----------
    scale : float
        Noise scale in grid steps.
    size : int or tuple of int
        Shape of the result.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape `size`
    """
    up = np.floor(rng.standard_exponential(size) * scale)
    up -= np.floor(rng.standard_exponential(size) * scale)
    return np.asarray(up).astype(np.int64)


def discrete_gaussian(
    variance: float, size: int | tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw from P(k) ∝ e^(-k²/(2·variance)).

    Below a standard deviation of 200 the distribution function is inverted; above it a rounded normal variable is used, whose
    probabilities differ by less than one part in 500,000.

    Parameters
    ----------
    variance : float
        Variance parameter in squared grid steps.
    size : int or tuple of int
        Shape of the result.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape `size`
    """
    sigma = math.sqrt(variance)
    if sigma > _TABLE_SIGMA:
        return np.asarray(np.rint(rng.normal(0.0, sigma, size))).astype(np.int64)
    reach = math.ceil(9.0 * sigma) + 1
    support = np.arange(-reach, reach + 1)
    cumulative = np.cumsum(np.exp(-(support.astype(np.float64) ** 2) / (2.0 * variance)))
    draws = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.asarray(draws - reach, dtype=np.int64)
