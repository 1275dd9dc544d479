"""Honest digits: as many as the uncertainty supports, and no more.

A value and the ends of its intervals are written to two significant digits of the narrowest half-width shown beside
them. A number without an interval gets four significant digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

_MOST = 12


def decimals_for(half_widths: Iterable[float | None]) -> int | None:
    """Return the decimals that show two significant digits of the smallest positive half-width, or None."""
    known = [width for width in half_widths if width is not None and math.isfinite(width) and width > 0]
    if not known:
        return None
    return min(max(0, 1 - math.floor(math.log10(min(known)))), _MOST)


def number(value: float, decimals: int | None = None) -> str:
    """Write a number with so many decimals, or with four significant digits.

    Examples
    --------
    >>> number(0.46312, 3), number(2817.2, 0), number(0.46312), number(float("inf"))
    ('0.463', '2,817', '0.4631', 'unbounded')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-unbounded"
    if decimals is None:
        whole = abs(value) < 1e15 and (abs(value) >= 10_000 or float(value).is_integer())
        text = f"{value:,.0f}" if whole else f"{value:.4g}"
    else:
        text = f"{value:,.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def span(low: float, high: float, decimals: int | None = None) -> str:
    """Write an interval: ``0.433 to 0.494``.

    Examples
    --------
    >>> span(0.4333, 0.4939, 3), span(float("-inf"), 2, 1)
    ('0.433 to 0.494', 'at most 2.0')
    """
    if math.isnan(low) or math.isnan(high):
        return "undefined"
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    if math.isinf(low):
        return f"at most {number(high, decimals)}"
    if math.isinf(high):
        return f"at least {number(low, decimals)}"
    return f"{number(low, decimals)} to {number(high, decimals)}"


def people(effective: float, size: float, noun: str = "people") -> str:
    """Say the accuracy in people: ``as accurate as 1,919 of 2,817 people``."""
    return f"as accurate as {math.floor(effective):,} of {round(size):,} {noun}"


def loss_figure(value: float) -> str:
    """Write a computed loss with four digits, and infinity in words: what is compared with a claim, and has no interval.

    Examples
    --------
    >>> loss_figure(0.5), loss_figure(float("inf")), loss_figure(161.0093)
    ('0.5', 'infinite', '161')
    """
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent, as prose does: ``15.5 %``."""
    return f"{100 * share:.{digits}f} %"
