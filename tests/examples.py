"""How many examples a property test draws when one of them is dear, or cheap: its share of what the run asks for."""

from __future__ import annotations

import os
import time

from hypothesis import settings

ORDINARY = 60
"""What an ordinary run draws for each property test."""
LONG = 2_000
"""What `make soak` draws, anew each time."""


def examples(ordinary: int) -> int:
    """Return `ordinary` in an ordinary run, and as many times more in a longer one as that asks for."""
    return ordinary * settings().max_examples // ORDINARY


def rotation() -> int:
    """Return the seed of samples that rotate: DPNB_ROTATION, which `make test` prints, or the number of this day."""
    return int(os.environ.get("DPNB_ROTATION") or time.time() // 86_400)
