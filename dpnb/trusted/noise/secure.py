"""Entropy of the operating system, for protected releases. Only the curator may import this module.

Refuses to remember: every request for words reads the operating system anew, so nothing is left in memory to be predicted,
and a forked process has nothing to share with its parent. There is no seed.
"""

from __future__ import annotations

import os

import numpy as np

from dpnb.trusted.noise.bits import Words


class SecureBits:
    """Words straight from the operating system's generator (``getrandom``); holds no state at all."""

    __slots__ = ()

    def words(self, count: int) -> Words:
        """Return `count` words of fresh operating-system entropy."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
