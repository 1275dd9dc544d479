"""The small arithmetic of pictures: shares of a bar, splits, log scales. The browser computes the same (``src/maths``).

Floats, for drawing alone: what is charged is computed exactly elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = [
    "combined",
    "divide",
    "place",
    "split",
    "step",
    "two_digits",
    "used_share",
    "value_at",
    "whole_weights",
]


def used_share(loss: float, cap: float) -> float:
    """Return which part of a cap a loss takes, from 0 to 1."""
    return min(max(loss / cap, 0.0), 1.0) if cap > 0 else 0.0


def split(total: float, weights: Sequence[float]) -> list[float]:
    """Return the shares of a total by weight."""
    whole = math.fsum(weights)
    return [total * weight / whole if whole > 0 else 0.0 for weight in weights]


def divide(shares: Sequence[float], i: int, to: float, least: float) -> list[float]:
    """Return the shares after the divider behind share `i` moved, each of its two neighbours at least `least`."""
    found = list(shares)
    pair = shares[i] + shares[i + 1]
    found[i] = min(max(to - sum(shares[:i]), least), pair - least)
    found[i + 1] = pair - found[i]
    return found


def whole_weights(shares: Sequence[float]) -> list[int]:
    """Return small whole weights that stand for some shares, to one part in a hundred.

    Examples
    --------
    >>> whole_weights([0.5, 0.25, 0.25])
    [2, 1, 1]
    """
    total = sum(shares)
    for parts in range(len(shares), 101):
        tried = [_rounded(share / total * parts) for share in shares]
        close = all(
            w > 0 and abs(w / parts - share / total) <= 0.0051 for w, share in zip(tried, shares, strict=True)
        )
        if close and sum(tried) == parts:
            return tried
    return [max(1, _rounded(share / total * 100)) for share in shares]


def combined(first: float, second: float) -> float:
    """Return the half-width of two independent answers combined by inverse variance."""
    return 1 / math.sqrt(1 / first**2 + 1 / second**2)


def place(low: float, high: float, value: float) -> float:
    """Return where a value lies on a log scale, from 0 to 1."""
    return min(max(math.log(value / low) / math.log(high / low), 0.0), 1.0)


def value_at(low: float, high: float, share: float) -> float:
    """Return the value at a place of a log scale, with two significant digits."""
    return two_digits(low * (high / low) ** min(max(share, 0.0), 1.0))


def two_digits(value: float) -> float:
    """Return a value with two significant digits."""
    return float(f"{value:.1e}")


def step(low: float, high: float, value: float, direction: int) -> float:
    """Return the next value with two significant digits, up (1) or down (-1)."""
    now = two_digits(value)
    size = 10.0 ** (math.floor(math.log10(now * 0.999999 if direction < 0 else now)) - 1)
    return min(max(two_digits(now + direction * size), low), high)


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)
