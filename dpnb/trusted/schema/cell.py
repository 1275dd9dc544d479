"""A cell of raw data, read by itself: missing, a number, or a text.

This is the one reading of the project. Whatever a column comes in (a frame of any kind, CSV, Parquet, a DuckDB table), a
cell first has *its own text*, and a text that reads as a number in one fixed grammar *is* that number: the nearest
binary64. So the whole number 1, the float 1.0, the decimal 1.00, true, and the texts ``1``, ``01``, ``1.0``, `` +1e0 ``
and ``True`` are one cell. Nothing here knows a column's type or another row, which is what makes reading row-local.

Here stand the grammar and what a declared value is. A cell of every kind is read so in SQL
(:mod:`dpnb.trusted.curator.engines.cell_sql`) and, the same bit for bit, in Python (:mod:`dpnb.datasets.cell_text`), which a kernel uses
before it hands a frame over. What each kind of cell becomes stands in ``docs/reading.md``. A change here raises :data:`QUANTISER_VERSION`.
"""

from __future__ import annotations

import math
import re

QUANTISER_VERSION = 1
"""The version of the map from raw cells to codes: a prepared copy of another version is prepared again."""

BLANK = " \t\n\r\f\v"
"""What may surround a number in text."""

NUMBER = r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
"""A number in text, after trimming: plain decimals and infinities; no underscores, no thousands separators.

No two parts can match the same digits, so that a long text of digits is read in linear time.
"""

TRUE, FALSE = "[tT][rR][uU][eE]", "[fF][aA][lL][sS][eE]"
"""Two words that are numbers as well, in any case: 1 and 0."""

LARGEST_WHOLE = 2**53
"""Below this every whole number is a binary64 of its own, and is written with its digits."""

PLAIN_WHOLE = "0|-?[1-9][0-9]{0,14}"
"""A text that is a canonical whole number as it stands, well below the largest."""

_NUMBER, _TRUE, _FALSE = re.compile(NUMBER), re.compile(TRUE), re.compile(FALSE)


def declared_text(value: str | int) -> str | None:
    """The canonical text of the cell that a declared value is, or ``None`` where that is missing.

    Examples
    --------
    >>> declared_text(True), declared_text(" 01"), declared_text("no")
    ('1', '1', 'no')
    """
    text = value if isinstance(value, str) else str(int(value))
    number = number_of(text)
    return plain_text(text) if number is None else number_text(number)


def plain_text(text: str) -> str | None:
    """A text as it is, or ``None`` where it is empty or no UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text or None


def number_of(text: str | None) -> float | None:
    """The number that a text is, or ``None``."""
    trimmed = "" if text is None else text.strip(BLANK)
    if _NUMBER.fullmatch(trimmed):
        return float(trimmed)
    if _TRUE.fullmatch(trimmed):
        return 1.0
    return 0.0 if _FALSE.fullmatch(trimmed) else None


def number_text(number: float) -> str | None:
    """The canonical text of a binary64: digits alone where it is whole and below 2^53, else its shortest decimal."""
    if math.isnan(number):
        return None
    if abs(number) < LARGEST_WHOLE and number.is_integer():
        return str(int(number))
    return repr(float(number))
