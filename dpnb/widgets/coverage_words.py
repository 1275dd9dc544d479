"""What the coverage lab says in words: how many intervals missed, and how many were promised to.

Twin of ``labextension/src/maths/coverage.ts``: the same sentences for the same counts.
"""

from __future__ import annotations

import math

from dpnb.simulate import wilson

__all__ = ["missed", "verdict"]


def verdict(held: int, studies: int, level: float) -> str:
    """Return ``"too few"``, ``"as promised"`` or ``"more"``: where the promised share lies to the band of what was found."""
    low, high = wilson(held, studies)
    return "too few" if float(high) < level else "more" if float(low) > level else "as promised"


def missed(name: str, held: int, studies: int, level: float) -> str:
    """Say how many intervals missed.

    Examples
    --------
    >>> missed("naive", 804, 1000, 0.95)
    'naive: 196 of 1,000 intervals missed, more than the 50 promised.'
    >>> missed("confidence", 9, 10, 0.95)
    'confidence: 1 of 10 intervals missed, as promised.'
    >>> missed("normal", 1000, 1000, 0.95)
    'normal: 0 of 1,000 intervals missed, fewer than the 50 promised: wider than needed.'
    """
    found = f"{name}: {studies - held:,} of {studies:,} intervals missed"
    said, promised = verdict(held, studies, level), f"{math.floor((1 - level) * studies + 0.5):,}"
    if said == "as promised":
        return f"{found}, as promised."
    if said == "too few":
        return f"{found}, more than the {promised} promised."
    return f"{found}, fewer than the {promised} promised: wider than needed."
