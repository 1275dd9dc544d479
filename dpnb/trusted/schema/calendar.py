"""Dates on a grid of integers: a moment becomes the number of the hour, day, week or month that it falls in.

A cell's text is a moment if it is ISO (``2021-03-01``, ``2021-03-01 10:30``, with seconds, ``Z`` or ``+02:00``) and such a day
exists; else it is none. A moment with a zone is read in universal time, one without as it stands. Days and hours count from
1970-01-01, weeks (from Monday) from 1969-12-29, months from the year 0. The same in SQL is
:func:`dpnb.trusted.curator.engines.cell_sql.moment_sql`.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal, get_args

import numpy as np

from dpnb.trusted.errors import SchemaError
from dpnb.trusted.schema.cell import BLANK

Step = Literal["hour", "day", "week", "month"]
STEPS: dict[str, tuple[Step, ...]] = {"date": ("day", "week", "month"), "datetime": get_args(Step)}
"""The steps of each type of column; the first is the default."""

DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
MOMENT = (
    f"({DAY})"
    "([ T]([01][0-9]|2[0-3]):([0-5][0-9])(:[0-5][0-9]([.][0-9]+)?)?([zZ]|[-+]([01][0-9]|2[0-3]):?[0-5][0-9])?)?"
)
ZONE = "([-+])([0-9]{2}):?([0-9]{2})$"
MINUTES = {"hour": (60, 0), "day": (1_440, 0), "week": (10_080, 4_320)}
"""Of each step that is a number of minutes its length, and how far the first one begins before 1970."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days from 1970-01-01."""

_MOMENT, _ZONE = re.compile(MOMENT), re.compile(ZONE)
_EPOCH = dt.date(1970, 1, 1).toordinal()


def place_of(text: str | None, step: str) -> int | None:
    """The number of the step that a cell's text falls in, or ``None`` where it is no moment.

    Examples
    --------
    >>> (
    ...     place_of("1970-01-02", "day"),
    ...     place_of("1970-01-02T01:30+02:00", "hour"),
    ...     place_of("2021-02-30", "day"),
    ... )
    (1, 23, None)
    """
    minutes = minutes_of(None if text is None else text.strip(BLANK))
    day = None if minutes is None else minutes // 1440
    if minutes is None or day is None or not FIRST_DAY <= day <= LAST_DAY:
        return None
    if step == "month":
        date = dt.date.fromordinal(_EPOCH + day)
        return date.year * 12 + date.month - 1
    length, before = MINUTES[step]
    return (minutes + before) // length


def minutes_of(text: str | None) -> int | None:
    """Whole minutes from 1970-01-01 in universal time."""
    found = _MOMENT.fullmatch(text or "")
    if not found:
        return None
    try:
        day = dt.date.fromisoformat(found[1]).toordinal() - _EPOCH
    except ValueError:
        return None
    zone = _ZONE.search(found[7] or "")
    shift = int(zone[1] + "1") * (int(zone[2]) * 60 + int(zone[3])) if zone else 0
    return day * 1440 + int(found[3] or 0) * 60 + int(found[4] or 0) - shift


def start_of(place: int, step: str) -> str:
    """The first moment of a step, as ISO writes it; beyond the years 1 to 9999 their end."""
    if step == "month":
        year = min(max(place // 12, 1), 9999)
        return f"{year:04}-{place % 12 + 1:02}-01"
    length, before = MINUTES[step]
    hours = (place * length - before) // 60
    day = min(max(hours // 24, FIRST_DAY), LAST_DAY)
    date = dt.date.fromordinal(_EPOCH + day).isoformat()
    return f"{date} {hours % 24:02}:00" if step == "hour" else date


def constant(value: object, step: str, name: str, word: str) -> int:
    """The number of the step of a public constant: ISO text, or a date of Python, numpy or pandas."""
    if isinstance(value, np.datetime64):
        value = str(value.astype("datetime64[s]"))
    text = value.isoformat() if isinstance(value, dt.date) else value
    place = place_of(text if isinstance(text, str) else None, step)
    if place is None:
        shown = repr(str(value))[:42]
        raise SchemaError(f'{name}: {word} = {shown} is not a date: write it as "2021-03-01"')
    return place
