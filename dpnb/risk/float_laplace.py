r"""Laplace noise in floating point, as a specimen: which answers it can make of a count, and which it cannot.

Two samplers that are in use make their noise of a uniform number u on the grid of multiples of 2⁻⁵³. An answer y that no u
gives for a count c proves that the count was not c. For attacks and exhibits alone: nothing that is released is made here,
and :mod:`dpnb.trusted.noise.exact` has no such holes.

References
----------
Mironov (2012), "On Significance of the Least Significant Bits for Differential Privacy".
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

FINEST_UNIFORM = 2.0**-53
"""The grid of uniform floats."""

Sampler = Literal["numpy", "exponential"]

_GRID = 2.0**53
_NEAR = 6
_log = np.frompyfunc(math.log, 1, 1)
"""The C library's logarithm, which numpy's generator uses; numpy's own may differ in the last bit."""


def possible(
    answers: ArrayLike, count: float, scale: float = 1.0, sampler: Sampler = "numpy"
) -> NDArray[np.bool_]:
    """Return which answers float Laplace noise of this scale can make of `count`."""
    y = np.asarray(answers, dtype=np.float64).ravel()
    above = y > count
    share = np.exp(-np.abs(y - count) / scale)
    if sampler == "numpy":
        share = np.where(above, 1.0 - share / 2, share / 2)
    nearest = np.rint(share * _GRID)
    found = np.zeros(y.shape, dtype=bool)
    for offset in range(-_NEAR, _NEAR + 1):
        uniform = np.clip(nearest + offset, 1.0, _GRID - 1) / _GRID
        found |= float_laplace(uniform, count, scale, sampler, above=above) == y
    return found


def float_laplace(
    uniform: NDArray[np.float64],
    count: float,
    scale: float,
    sampler: Sampler = "numpy",
    *,
    above: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the answer that a float sampler makes of uniform numbers, operation by operation.

    Parameters
    ----------
    uniform : ndarray
        In (0, 1), on the grid of multiples of 2⁻⁵³.
    count, scale : float
    sampler : {"numpy", "exponential"}
        numpy's ``Generator.laplace``, or ``±b·ln u`` with a sign of its own.
    above : ndarray of bool
        The sign of ``±b·ln u``; numpy takes the sign from u.
    """
    if sampler == "numpy":
        above = uniform >= 0.5
        uniform = np.where(above, 2.0 - uniform - uniform, uniform + uniform)
    noise = scale * np.asarray(_log(uniform), dtype=np.float64)
    return np.where(above, count - noise, count + noise)
