"""Where random words come from: a one-method protocol.

Refuses to offer entropy of its own: secure bits live in :mod:`dpnb.trusted.noise.secure`, which only the curator imports.
A seed may exist only where no protected data can be, outside this wing (:mod:`dpnb.inference.seeded_bits`).
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
