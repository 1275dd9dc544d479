"""Cells that are probably no measurement but a code for *unknown*: the 999 of an age, the 9999-12-31 of a day.

What makes a code is its look, and that it lies beyond bounds that were declared without the data; whether it means unknown only
the owner knows. Such cells are for the owner's eyes alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dpnb.cards.markup import clean

_NUMBER: Final = re.compile(r"-[1-9]|[7-9]|-?9+[5-9]|-?([7-9])\1+|-?9+[.]9+")
"""-1, 9, 98 or 97, 888 or -99, 99.9."""
_DAYS: Final = (
    "0001-01-01",
    "1899-12-30",
    "1899-12-31",
    "1900-01-01",
    "1970-01-01",
    "2099-12-31",
    "9999-12-31",
)
"""What programs write where a day is not known."""
_MOST: Final = 4


def looks_coded(text: str | None) -> bool:
    """Whether a number or a date, as it is read, looks like a code for *unknown*.

    Examples
    --------
    >>> [text for text in ("999", "-9.0", "98", "140", "0", "9999-12-31 00:00") if looks_coded(text)]
    ['999', '-9.0', '98', '9999-12-31 00:00']
    """
    plain = re.sub(r"[.]0+$", "", (text or "").strip())
    return _NUMBER.fullmatch(plain) is not None or plain[:10] in _DAYS


def as_codes(cells: Iterable[str], declared: Sequence[Any] = ()) -> str:
    """Return the line that declares cells as codes, beside those that are declared already.

    Examples
    --------
    >>> as_codes(["999.0", "refused"], [-99])
    'missing_codes = [-99, 999, "refused"]'
    """
    return f"missing_codes = {json.dumps([*declared, *map(_value, cells)], ensure_ascii=False, default=str)}"


def told(codes: Sequence[tuple[str, int]], declared: Sequence[Any] = (), *, shown: bool) -> str:
    """Say which cells beyond the bounds may be codes and what to write; without the cells where others might read.

    Examples
    --------
    >>> print(told([("999", 12)], ["refused"], shown=True))
    beyond the bounds are 999 (12), which count as the nearest bound now. If they mean unknown, write missing_codes = ["refused", 999].
    """
    if not shown:
        return (
            "some cells beyond the bounds look like codes for unknown, as 999 and -99 often are, and count as the nearest bound now. "
            "If they are, list them as missing_codes: dpnb check names them on your own terminal."
        )
    some = codes[:_MOST]
    listed = ", ".join(f"{clean(text)} ({count:,})" for text, count in some)
    line = as_codes((text for text, _ in some), declared)
    return f"beyond the bounds are {listed}, which count as the nearest bound now. If they mean unknown, write {line}."


def _value(text: str) -> Any:
    """A code as a declaration writes it: a number without quotes."""
    plain = re.sub(r"[.]0+$", "", text.strip())
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", plain):
        return int(plain)
    return float(plain) if re.fullmatch(r"-?(0|[1-9]\d{0,9})[.]\d{1,5}", plain) else clean(text)
