"""The one way to write a number for a reader: as many digits as are known, and no more.

The rule, which the front end keeps too (``labextension/src/maths/digits.ts``; one table of cases, ``tests/golden/maths/digits.json``):

- *a value with an interval*, and the ends of its intervals, have as many decimals as show two significant digits of the narrowest
  half-width beside them (:func:`decimals_for`, :func:`number`, :func:`span`);
- *a value without one* has four significant digits, and from 1,000 on all of its whole digits and no others (:func:`number`);
- *a forecast, a scale or a price* is the same, with three significant digits below 1 (:func:`rounded`);
- *a number that somebody gave* (a bound, a level, a loss) is written as it was given, to six significant digits (:func:`given`);
- *a date* is ISO text (:func:`dated`);
- thousands are separated by commas from 1,000 on; below 0.0001 stands an exponent; -0 is 0; what is infinite or undefined is said in
  words; a share in percent has a space before its sign (:func:`percent`).

Texts that are code (``.clip(0, 200000)``) have no commas and are none of its business.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpnb.trusted.schema.calendar import start_of

_MOST = 12
_THOUSAND = 1_000
_LARGE = 1e15


def decimals_for(half_widths: Iterable[float | None]) -> int | None:
    """Return the decimals that show two significant digits of the smallest positive half-width, or None."""
    known = [width for width in half_widths if width is not None and math.isfinite(width) and width > 0]
    if not known:
        return None
    return min(max(0, 1 - math.floor(math.log10(min(known)))), _MOST)


def decimals_to_tell(value: float, decimals: int | None) -> int | None:
    """Return the decimals of a number without noise beside noised ones: as many as theirs, and three significant digits at least.

    Examples
    --------
    >>> (
    ...     decimals_to_tell(0.544, 0),
    ...     decimals_to_tell(0.544, 4),
    ...     decimals_to_tell(3853.2, 0),
    ...     decimals_to_tell(12.0, 0),
    ... )
    (3, 4, 0, 0)
    """
    if decimals is None or not math.isfinite(value) or float(value).is_integer():
        return decimals
    return min(max(decimals, 2 - math.floor(math.log10(abs(value)))), _MOST)


def number(value: float, decimals: int | None = None) -> str:
    """Write a number with so many decimals, or with four significant digits and every whole one from 1,000 on.

    Examples
    --------
    >>> number(0.46312, 3), number(2817.2, 0), number(0.46312), number(2817.26), number(float("inf"))
    ('0.463', '2,817', '0.4631', '2,817', 'unbounded')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-unbounded"
    if decimals is None:
        text = f"{value:,.0f}" if _whole(value) else f"{value:.4g}"
    else:
        text = f"{value:,.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def dated(value: float, calendar: str | None) -> str:
    """Write a number, or the date that it stands for: the first moment of the nearest step of a calendar.

    Examples
    --------
    >>> dated(18687.0, "day"), dated(24254.0, "month"), dated(0.5, None)
    ('2021-03-01', '2021-03-01', '0.5')
    """
    if calendar is None or not math.isfinite(value):
        return number(value)
    return start_of(math.floor(value + 0.5), calendar)


def _whole(value: float) -> bool:
    return abs(value) < _LARGE and (round(abs(value)) >= _THOUSAND or float(value).is_integer())


def rounded(value: float) -> str:
    """Write a forecast, a scale or a price: as :func:`number`, with three significant digits below 1.

    Examples
    --------
    >>> rounded(0.012345), rounded(12.3456), rounded(1234.5)
    ('0.0123', '12.35', '1,234')
    """
    small = math.isfinite(value) and 0 < abs(value) < 1
    return f"{value:.3g}" if small else number(value)


def given(value: float) -> str:
    """Write a number as somebody gave it: whole ones in full, others to six significant digits.

    Examples
    --------
    >>> given(0.95), given(1_000_000), given(-17.5), given(2.5e-7)
    ('0.95', '1,000,000', '-17.5', '2.5e-07')
    """
    return number(value) if not math.isfinite(value) or float(value).is_integer() else f"{value:,.6g}"


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
    """Say the accuracy in people: ``as accurate as 1,919 people without noise (of 2,817)``."""
    return f"as accurate as {math.floor(effective):,} {noun} without noise (of {round(size):,})"


def noise_part(effective: float, size: float) -> str:
    """Say what the noise costs of a sample: ``32 %`` where it leaves what 1,919 of 2,817 people would.

    Examples
    --------
    >>> noise_part(1_919, 2_817), noise_part(2_810, 2_817), noise_part(20, 2_817)
    ('32 %', 'under 1 %', 'mostly noise')
    """
    lost = 1 - effective / size
    return "mostly noise" if lost > MOSTLY else "under 1 %" if lost < 0.005 else percent(lost)


def noise_costs(effective: float, size: float) -> str:
    """Say the same by itself: ``noise costs 32 % of the sample``."""
    part = noise_part(effective, size)
    return f"noise costs {part} of the sample" if part.endswith("%") else part


MOSTLY = 0.9
"""From this part of a sample on that the noise costs, an answer is mostly noise."""


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
