"""Where random words come from: a one-method protocol, and the seeded source of tests and teaching.

Refuses to offer entropy of its own: secure bits live in :mod:`dpnb.trusted.noise.secure`, which only the curator imports.
A seed may exist only where no protected data can be.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class BitSource(Protocol):
    """A source of independent uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words, uniform on 0..2⁶⁴-1."""
        ...


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
