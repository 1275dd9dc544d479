"""How many examples a property test draws when one of them is dear, or cheap: its share of what the run asks for."""

from __future__ import annotations

from hypothesis import settings

ORDINARY = 60
"""What an ordinary run draws for each property test."""
LONG = 2_000
"""What `make soak` draws, anew each time."""


def examples(ordinary: int) -> int:
    """Return `ordinary` in an ordinary run, and as many times more in a longer one as that asks for."""
    return ordinary * settings().max_examples // ORDINARY
