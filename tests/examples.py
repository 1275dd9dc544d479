"""How many examples a property is tried with: in an ordinary run, and in a longer one."""

from __future__ import annotations

from hypothesis import settings

ORDINARY = 30
"""What an ordinary run draws for each property test, the same each time."""
LONG = 2_000
"""What `make soak` draws, anew each time."""


def examples(ordinary: int) -> int:
    """Return `ordinary` in an ordinary run, and as many times more in a longer one as that asks for."""
    return ordinary * settings().max_examples // ORDINARY
