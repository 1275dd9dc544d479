"""How dates and numbers may be written: the declared form as one rule from a cell's own text to the text that every reader knows.

A date becomes its ISO text, a number plain digits with a point. The rules are data (:mod:`dpnb.trusted.schema.text_rules`): a pattern that
the whole text must match, in the grammar that Python's and the engine's regular expressions share.
"""

from __future__ import annotations

import re
from typing import Final

from dpnb.trusted.errors import SchemaError
from dpnb.trusted.schema.text_rules import MONTHS, TextRule

EXAMPLE: Final = 'write for example format = "%m/%d/%Y"'
_NAMES: Final = "|".join(MONTHS)
_WITH_ZEROS: Final = {
    "Y": "[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9]",
    "y": "[0-9]{2}",
    "m": "0[1-9]|1[0-2]",
    "d": "0[1-9]|[12][0-9]|3[01]",
    "b": "|".join(month[:3] for month in MONTHS),
    "B": _NAMES,
}
_DIRECTIVES: Final = _WITH_ZEROS | {"m": "0?[1-9]|1[0-2]", "d": "0?[1-9]|[12][0-9]|3[01]"}
"""What each directive of a date matches, in any case; beside another one a month and a day have two digits."""
_CLOCKS: Final = {"": 24, "%H:%M": 24, "%H:%M:%S": 24, "%I:%M %p": 12, "%I:%M:%S %p": 12}
"""The times of day that a format may end in, after a blank or T, and the hours of the clock."""
_PARTS: Final = {"year": "Yy", "month": "mbB", "day": "d"}
_FORBIDDEN: Final = re.compile(r"[0-9A-Za-z%\\^\[\]{}]")


def date_rule(format: object) -> TextRule:  # noqa: A002 - the key's own name
    """Return the rule by which a text of a declared form becomes an ISO text; every other text stays what it is.

    A date of the form may be followed by a time of day and a zone, as an ISO date may; without a day it is the first one. No form is taken for which a date that a
    container holds as such, and whose own text is ISO, would be another date.

    Raises
    ------
    SchemaError
        For a form that names no date, with what to write.

    Examples
    --------
    >>> rule = date_rule("%m/%d/%Y")
    >>> rule.of("8/27/2014"), rule.of("08/27/2014 9:05"), rule.of("27/8/2014"), rule.of("2014-08-27")
    ('2014-08-27', '2014-08-27 09:05', '27/8/2014', '2014-08-27')
    """
    if not isinstance(format, str) or not 0 < len(format) <= 64 or not format.isprintable():
        raise SchemaError(f"format is a text: {EXAMPLE}")
    date, time = re.fullmatch("(.*?)(?:[ T](%[HI].*))?", format).groups(default="")  # type: ignore[union-attr]
    if time not in _CLOCKS:
        listed = ", ".join(f'" {clock}"' for clock in _CLOCKS if clock)
        raise SchemaError(f"format = {format!r}: a time of day is written at the end, as one of {listed}")
    pieces = re.findall("%.?|[^%]+", date)
    used = [piece[1:] for piece in pieces if piece.startswith("%")]
    for word in used:
        if word not in _DIRECTIVES:
            raise SchemaError(
                f"format = {format!r}: %{word} is none of {', '.join(f'%{known}' for known in _DIRECTIVES)}: {EXAMPLE}"
            )
    for part, words in _PARTS.items():
        times = sum(word in words for word in used)
        if times > 1 or (times == 0 and part != "day"):
            says = "names the" if times else "has no"
            raise SchemaError(f"format = {format!r} {says} {part}{' twice' if times else ''}: {EXAMPLE}")
    if any(_FORBIDDEN.search(piece) for piece in pieces if not piece.startswith("%")):
        raise SchemaError(
            f"format = {format!r}: between directives stand marks such as / - . and blanks: {EXAMPLE}"
        )
    if date == "%Y-%d-%m":
        raise SchemaError(
            f"format = {format!r}: a date of another container is written %Y-%m-%d, and would be another day: convert the column"
        )
    pattern = "".join(_matching(pieces, place) for place in range(len(pieces)))
    return TextRule("date", becoming=date, pattern=pattern, length=_CLOCKS[time])


def _matching(pieces: list[str], place: int) -> str:
    piece, beside = pieces[place], (*pieces[max(place - 1, 0) : place], *pieces[place + 1 : place + 2])
    if not piece.startswith("%"):
        return "".join(f"[{letter}]" for letter in piece)
    known = _WITH_ZEROS if any(one.startswith("%") for one in beside) else _DIRECTIVES
    return f"(?P<{piece[1]}>{known[piece[1]]})"
