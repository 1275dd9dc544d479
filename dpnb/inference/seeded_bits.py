"""Random words from a seed: for tests, audits and teaching data, and never for protected data."""

from __future__ import annotations

import numpy as np

from dpnb.trusted.noise.bits import Words


class SeededBits:
    """Reproducible words from a seed. For tests and teaching data; never for protected data.

    Parameters
    ----------
    seed : int
        The same seed gives the same words.

    Examples
    --------
    >>> SeededBits(1).words(2).dtype
    dtype('uint64')
    """

    __slots__ = ("_generator",)

    def __init__(self, seed: int) -> None:
        self._generator = np.random.PCG64(seed)

    def words(self, count: int) -> Words:
        """Return the next `count` words of the seeded stream."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)
