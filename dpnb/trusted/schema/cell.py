"""A cell of raw data, read by itself: missing, a number, or a text.

This is the one reading of the project. Whatever a column comes in (a frame of any kind, CSV, Parquet, a DuckDB table), a
cell first has *its own text*, and a text that reads as a number in one fixed grammar *is* that number: the nearest
binary64. So the whole number 1, the float 1.0, the decimal 1.00, true, and the texts ``1``, ``01``, ``1.0``, `` +1e0 ``
and ``True`` are one cell. Nothing here knows a column's type or another row, which is what makes reading row-local.

**What names a unit** is one cell as well: within a table and across tables, whatever each is held in. It is the cell's text, by
the unit's declared type. Of *integers* 07, +7 and 7.0 are 7, with every digit of however large a number, and what is no whole
number is missing. *Texts* are as they are written: 07 and 7 are two units. Where no type is declared a number is that number and
any other text is itself, so that one person is never two by how somebody wrote a number. Where 07 and 7 are two people the owner
declares texts: as one unit they share its rows, so that one of the two coming or going can cost what two units do. A binary64 of
2^53 or more may have merged units already, as a number of a frame may be one tomorrow: it names nobody. A row that names nobody
is dropped, and no row decides whether something opens.

Here stand the grammar and what a declared value is. A cell of every kind is read so in SQL
(:mod:`dpnb.trusted.curator.engines.cell_sql`) and, the same bit for bit, in Python (:mod:`dpnb.datasets.cell_text`), which a kernel uses
before it hands a frame over. What each kind of cell becomes stands in ``docs/reading.md``. A change here raises :data:`QUANTISER_VERSION`.
"""

from __future__ import annotations

import math
import re

QUANTISER_VERSION = 3
"""The version of the map from raw cells to codes: a prepared copy of another version is prepared again."""

BLANK = " \t\n\r\f\v"
"""What may surround a number in text."""

NUMBER = r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
"""A number in text, after trimming: plain decimals and infinities; no underscores, no thousands separators.

No two parts can match the same digits, so that a long text of digits is read in linear time.
"""

PARTS = r"[+-]?([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?"
"""The digits before and after the point, and the power of ten, of a number in text that is no infinity."""

MOST_ZEROS = 40
"""So many zeros at the end of a number that names a unit are written out; more are written as a power of ten."""

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
