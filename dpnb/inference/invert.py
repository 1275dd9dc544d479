"""Intervals by inverting a test: every value that the noise (and sampling) cannot reject at the level is inside.

Delta-method intervals for ratios cover 86 to 90 % where a nominal 95 % is claimed at small ``n ε``; the set of values that
pass the exact test covers at every size (Fieller). Where that set is unbounded the public domain is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_STEPS = 60
_TINY = 1e-300


def accepted_interval(
    p_value: Callable[[float], float], start: float, low: float, high: float, alpha: float
) -> tuple[float, float]:
    """Return the hull, around a starting point, of the values whose p-value is at least ``alpha``.

    Parameters
    ----------
    p_value : callable
        The p-value of a candidate; close to one at the best supported value, falling away from it.
    start : float
        The best supported value; moved into the domain first.
    low, high : float
        The public domain.
    alpha : float
        One minus the level.

    Returns
    -------
    (float, float)
        Inside the domain; a single point where no value of the domain passes.
    """
    centre = min(max(start, low), high)
    if p_value(centre) < alpha:
        return centre, centre
    return _edge(p_value, centre, low, alpha), _edge(p_value, centre, high, alpha)


def _edge(p_value: Callable[[float], float], inside: float, limit: float, alpha: float) -> float:
    if p_value(limit) >= alpha:
        return limit
    target, outside = math.log(alpha), limit
    below, above = math.log(max(p_value(outside), _TINY)) - target, math.log(p_value(inside)) - target
    weight_in = weight_out = 1.0
    for _ in range(_STEPS):
        if abs(outside - inside) <= 1e-7 * (abs(outside) + abs(inside)) + 1e-12:
            break
        share = above * weight_in / (above * weight_in - below * weight_out)
        middle = inside + (outside - inside) * min(max(share, 0.02), 0.98)
        gap = math.log(max(p_value(middle), _TINY)) - target
        if gap >= 0:
            inside, above = middle, gap
            weight_in, weight_out = 1.0, weight_out * 0.5
        else:
            outside, below = middle, gap
            weight_out, weight_in = 1.0, weight_in * 0.5
        if abs(gap) < 1e-7:
            return middle
    return outside
