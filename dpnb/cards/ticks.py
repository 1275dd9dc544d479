"""Round numbers for an axis."""

from __future__ import annotations

import math
from decimal import Decimal

MOST = 5
_LEADS = ("1", "2", "2.5", "5", "10", "20", "25", "50")


def ticks(low: float, high: float, most: int = MOST) -> tuple[float, ...]:
    """Return at most so many round numbers, evenly apart, between two ends.

    Examples
    --------
    >>> ticks(0.62, 0.79, 4)
    (0.65, 0.7, 0.75)
    """
    wide = high - low
    if not (math.isfinite(wide) and wide > 0):
        return ()
    power = Decimal(10) ** math.floor(math.log10(wide / most))
    for lead in _LEADS:
        step = Decimal(lead) * power
        first, last = math.ceil(Decimal(low) / step), math.floor(Decimal(high) / step)
        if last - first + 1 <= most:
            return tuple(float(place * step) for place in range(first, last + 1))
    return ()
