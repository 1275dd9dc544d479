"""The quantile's exponential mechanism for many studies at once, on grids small enough to be written out.

The law is that of :class:`dpnb.trusted.mechanisms.QuantileSelection`, its weights with their floor included, in floating point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.mechanisms import QuantileSelection
from dpnb.trusted.mechanisms.exponential import FLOOR

MOST_STEPS = 2**12
_AT_ONCE = 2_000_000


def select(
    mechanism: QuantileSelection, counts: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Select one grid point for each histogram.

    Parameters
    ----------
    mechanism : QuantileSelection
        With a grid of at most 4,096 steps.
    counts : ndarray of int, shape (..., steps + 1)
        How often each grid point occurs.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (...)
    """
    flat = counts.reshape(-1, mechanism.steps + 1)
    uniform = rng.random(len(flat))
    piece = max(1, _AT_ONCE // (mechanism.steps + 1))
    found = [
        _inverted(weights(mechanism, flat[at : at + piece]), uniform[at : at + piece])
        for at in range(0, len(flat), piece)
    ]
    return np.concatenate(found).reshape(counts.shape[:-1])


def weights(mechanism: QuantileSelection, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of every grid point of every histogram, relative to the best point's."""
    upto = np.cumsum(counts, axis=-1).astype(float)
    below = upto - counts
    target = float(mechanism.q) * upto[:, -1:] + mechanism.offset
    too_high, too_low = below - target, target - upto
    too_high[:, 0] = too_low[:, -1] = -(2.0**62)
    miss = np.maximum(too_high, too_low)
    miss -= miss.min(axis=-1, keepdims=True)
    floor = FLOOR / 2.0 ** (60 + mechanism.steps.bit_length())
    return np.asarray(np.maximum(np.exp(-float(mechanism.inner) / 2 * miss), floor))


def _inverted(weight: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    cumulative = np.cumsum(weight, axis=-1)
    return np.asarray((cumulative <= (uniform * cumulative[:, -1])[:, None]).sum(axis=-1), dtype=np.int64)
