"""What the coverage lab says in words: how many intervals missed, and how many were promised to.

Twin of ``labextension/src/maths/coverage.ts``: the same sentences for the same counts.
"""

from __future__ import annotations

import math

from dpnb.simulate import wilson

#: How many studies stand behind the shares in print: a thousand or so.
PRINT_STUDIES = 1000
_Z = 1.959963984540054


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


def print_band(printed: float) -> tuple[float, float]:
    """Return the Wilson band that a share in print has by itself."""
    low, high = wilson(printed * PRINT_STUDIES, PRINT_STUDIES)
    return float(low), float(high)


def beside_print(name: str, held: int, studies: int, printed: float) -> str:
    """Say how far a share lies from the one in print, in standard errors of both.

    Examples
    --------
    >>> beside_print("unbiased", 804, 1000, 0.801)
    'unbiased: 80.4 % here, 80.1 % in print; 0.2 standard errors apart, no more than chance.'
    >>> beside_print("unbiased", 774, 1000, 0.801)
    'unbiased: 77.4 % here, 80.1 % in print; 1.5 standard errors apart, no more than chance.'
    >>> beside_print("unbiased", 7700, 10000, 0.801)
    'unbiased: 77.0 % here, 80.1 % in print; 2.2 standard errors apart, more than chance explains.'
    """
    here = held / studies
    both = (held + printed * PRINT_STUDIES) / (studies + PRINT_STUDIES)
    error = math.sqrt(both * (1 - both) * (1 / studies + 1 / PRINT_STUDIES)) if both < 1 else 0.0
    apart = abs(here - printed) / error if error else 0.0
    chance = "no more than chance" if apart <= _Z else "more than chance explains"
    return (
        f"{name}: {100 * here:.1f} % here, {100 * printed:.1f} % in print; "
        f"{apart:.1f} standard errors apart, {chance}."
    )
