"""The text that a cell of any kind is: what Python holds in a frame, a list or an array, read by itself.

A text that reads as a number in the grammar of :mod:`dpnb.trusted.schema.cell` is that number. The curator's SQL reads cells of files
and tables the same, bit for bit (:mod:`dpnb.trusted.curator.engines.cell_sql`); what each kind becomes stands in ``docs/reading.md``.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import cast
from uuid import UUID

import numpy as np

from dpnb.trusted.schema.cell import (
    BLANK,
    LARGEST_WHOLE,
    MOST_ZEROS,
    PARTS,
    number_of,
    number_text,
    plain_text,
)

_LARGEST_EXPONENT, _LONGEST_POWER = 400, 38


def canonical(cell: object) -> str | None:
    """The cell's canonical text, or ``None`` where it is missing.

    Two cells are the same data exactly if their canonical texts are equal, whatever they were held in.

    Examples
    --------
    >>> [canonical(cell) for cell in (1, 1.0, True, "01", " 1.0 ", "true", float("nan"), "", " x")]
    ['1', '1', '1', '1', '1', '1', None, None, ' x']
    """
    text = text_of(cell)
    if text is None:
        return None
    number = number_of(text)
    return text if number is None else number_text(number)


def text_of(cell: object) -> str | None:
    """The cell's own text, ``None`` where it is missing.

    A whole number has all of its digits, however many; a text is unchanged. What is neither number, text nor date (a
    list, bytes, any other object) is missing, and so is a text that no UTF-8 can hold.
    """
    if isinstance(cell, str):
        return plain_text(str.__str__(cell))
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    if isinstance(cell, np.timedelta64):  # numpy counts spans of time among the integers
        return None
    if isinstance(cell, Integral):
        return _whole_text(int(cell))
    if isinstance(cell, float | np.floating):
        return number_text(float(cell))
    return _rarer_text(cell)


def unit_of(cell: object, declared: str | None = None) -> str | None:
    """The unit that a cell names, by the unit's declared type, ``None`` where it is missing (:mod:`dpnb.trusted.schema.cell`).

    Examples
    --------
    >>> [[unit_of(cell, kind) for cell in ("07", 7.0, "A7")] for kind in ("integer", "text", None)]
    [['7', '7', None], ['07', '7', 'A7'], ['7', '7', 'A7']]
    """
    text = text_of(cell)
    if isinstance(cell, float | np.floating) and not abs(float(cell)) < LARGEST_WHOLE:
        return None
    number = None if declared == "text" else number_of(text)
    if number is None:
        return None if declared == "integer" else text
    if abs(number) < LARGEST_WHOLE:
        return None if declared == "integer" and not number.is_integer() else number_text(number)
    large = _large_text(cast("str", text).strip(BLANK))
    if declared == "integer":
        return large if large and re.fullmatch("-?[0-9]+(e[0-9]+)?", large) else None
    return large or text


def _large_text(text: str) -> str | None:
    """A number's text with every digit, without zeros around but those of a whole number; of an infinity its sign."""
    sign, parts = "-" if text.startswith("-") else "", re.fullmatch(PARTS, text)
    if parts is None:
        return f"{sign}inf"
    whole, part, power = parts.groups(default="")
    if len(power.lstrip("+-0")) > _LONGEST_POWER:
        return None
    led = (whole + part).lstrip("0")
    digits = led.rstrip("0")
    zeros = int(power or 0) - len(part) + len(led) - len(digits)
    return f"{sign}{digits}{'0' * zeros if 0 <= zeros <= MOST_ZEROS else f'e{zeros}'}"


def _rarer_text(cell: object) -> str | None:
    if isinstance(cell, Decimal):
        return _decimal_text(cell)
    if isinstance(cell, Fraction):
        return _fraction_text(cell)
    if isinstance(cell, np.datetime64):
        return moment_texts(np.array([cell]))[0]
    if isinstance(cell, dt.date) and type(cell).__name__ != "NaTType":
        return _date_text(cell)
    return str(cell) if isinstance(cell, UUID) else None


def _whole_text(number: int) -> str:
    """All digits, up to what a binary64 can hold: beyond it a number is an infinity anyway."""
    if number.bit_length() > 1024:
        return "inf" if number > 0 else "-inf"
    return str(number)


def _decimal_text(number: Decimal) -> str | None:
    if number.is_nan():
        return None
    if not number.is_finite() or number.adjusted() > _LARGEST_EXPONENT:
        return "-inf" if number.is_signed() else "inf"
    if number.is_zero() or number.adjusted() < -_LARGEST_EXPONENT:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _fraction_text(number: Fraction) -> str | None:
    if number.denominator == 1:
        return _whole_text(number.numerator)
    try:
        return number_text(float(number))
    except OverflowError:
        return "inf" if number > 0 else "-inf"


def _date_text(cell: dt.date) -> str | None:
    """A date, or a moment in universal time; midnight is the date."""
    if not isinstance(cell, dt.datetime):
        return cell.isoformat()
    try:
        moment = cell if cell.tzinfo is None else cell.astimezone(dt.UTC)
    except OverflowError:
        return None
    nanoseconds = moment.microsecond * 1000 + getattr(moment, "nanosecond", 0)
    return moment_text(f"{moment:%H:%M:%S}.{nanoseconds:09}", f"{moment.year:04}-{moment:%m-%d}")


def moment_texts(moments: np.ndarray) -> list[str | None]:
    """The texts of an array of ``datetime64``, of any resolution."""
    unit = np.datetime_data(moments.dtype)[0]
    coarse = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit)
    exact = moments if coarse is None else moments.astype(f"datetime64[{coarse}]")
    return [moment_text(text) for text in np.datetime_as_string(exact).tolist()]


def moment_text(text: str, date: str = "") -> str | None:
    """A date and time as ISO writes it, in its shortest form; outside the years 1 to 9999 it is missing.

    Examples
    --------
    >>> moment_text("2020-01-02T00:00:00.000"), moment_text("2020-01-02T10:30:00.500")
    ('2020-01-02', '2020-01-02 10:30:00.5')
    """
    whole = f"{date} {text}" if date else text.replace("T", " ")
    if not re.match(r"[0-9]{4}-", whole) or whole.startswith("0000"):
        return None
    if "." in whole:
        whole = whole.rstrip("0").rstrip(".")
    return whole.removesuffix(" 00:00:00")
