"""How dates and numbers may be written: the declared form as one rule from a cell's own text to the text that every reader knows.

A date becomes its ISO text, a number plain digits with a point. The rules are data (:mod:`dpnb.trusted.schema.text_rules`): a pattern that
the whole text must match, in the grammar that Python's and the engine's regular expressions share.
"""

from __future__ import annotations

import re
from typing import Final

from dpnb.trusted.errors import SchemaError
from dpnb.trusted.records import one_of
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
    if date != date.strip():
        raise SchemaError(f"format = {format!r}: a date neither begins nor ends in a blank: leave it out")
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
        return _exactly(piece)
    known = _WITH_ZEROS if any(one.startswith("%") for one in beside) else _DIRECTIVES
    return f"(?P<{piece[1]}>{known[piece[1]]})"


WIDE: Final = " \u00a0\u2009\u202f"
"""Blanks within a number: the usual one, one that does not break a line, a thin one, and a thin one that does not."""
_MARKS: Final = {"": "", ",": ",", ".": ".", " ": WIDE, "'": "'\u2019", "\u2019": "'\u2019", "_": "_"}
"""The marks between groups of digits, and all that each of them stands for."""
_BODY: Final = frozenset("0123456789.,'\u2019_+-()eEiInNfFtTyY" + WIDE)
_MARKED: Final = "[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]{{1,2}}(?:{mark}[0-9]{{2}})+{mark}[0-9]{{3}}"
"""Groups of three digits, or of two before the last three: 1,234,567 and 12,34,567."""
_INFINITY: Final = "[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"


def number_rule(
    decimal: object, thousands: object, strip: object, percent: object, parentheses: object
) -> TextRule:
    """Return the rule by which a text of a declared form becomes a plain number; every other text becomes none.

    Parameters
    ----------
    decimal : {".", ","}
    thousands : str
        The mark between groups of three digits, or of two before the last three; a number without marks is one too.
    strip : str
        Words and signs that may stand before or after a number, with blanks between them.
    percent : bool
        Whether a sign % after or before a number divides it by 100.
    parentheses : bool
        Whether a number in parentheses is negative.

    Raises
    ------
    SchemaError
        For marks that no number can be read by, with the key to change.

    Examples
    --------
    >>> rule = number_rule(",", ".", "€", True, True)
    >>> [rule.of(text) for text in ("1.234,5", "-3 €", "(1.000)", "12,5 %", "1,234.5", "1.23")]
    ['1234.5', '-3', '-1000', '12.5e-2', '', '']
    """
    one_of("decimal", decimal, (".", ","))
    one_of("thousands", thousands, tuple(_MARKS))
    one_of("percent", percent, (True, False))
    one_of("parentheses", parentheses, (True, False))
    if decimal == thousands:
        other = "," if decimal == "." else "."
        raise SchemaError(
            f'decimal = "{decimal}" and thousands = "{thousands}" are one mark: write decimal = "{other}" or another one for thousands'
        )
    words = _words(strip, percent)
    marks, gap = _MARKS[str(thousands)], f"[{WIDE}]*" if words or parentheses else ""
    around = f"(?:{gap}(?:{'|'.join(map(_exactly, words))}))?" if words else ""
    digits = "[0-9]+"
    if marks:
        mark = f"[{marks}]"
        digits = f"(?:{_MARKED.format(mark=mark)}|[0-9]+)"
    body = f"(?:{digits}(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][-+]?[0-9]+)?|{_INFINITY}"
    sign = "(?P<sign>[-+]?)"
    if words:
        sign = f"(?:{sign}{around}{gap}|(?:{'|'.join(map(_exactly, words))}){gap}(?P<inner>[-+]))"
    pattern = f"{sign}(?P<body>{body}){around}"
    if parentheses:
        pattern += f"|{around}{gap}[(]{around}{gap}(?P<negative>{body}){around}{gap}[)]{around}"
    beside = (WIDE if gap else "") + ("()" if parentheses else "")
    return TextRule(
        "number",
        characters="".join(sorted({*marks, *beside})),
        becoming=str(decimal),
        length=2 if percent else 0,
        pattern=pattern,
        words=words,
    )


def _words(strip: object, percent: object) -> tuple[str, ...]:
    """The words of a key, the longest first; none of them can stand within a number."""
    if not isinstance(strip, str) or len(strip) > 128:
        raise SchemaError('strip is a text: write strip = "€ $ %"')
    words = sorted({*strip.split(), *(["%"] if percent else [])}, key=lambda word: (-len(word), word))
    for word in words:
        if (
            set(word) <= _BODY
            or word[0] in _BODY - set("eEiInNfFtTyY")
            or re.search(r"[0-9+()\\^\[\]-]", word)
        ):
            raise SchemaError(f"strip = {strip!r}: {word!r} can be part of a number: leave it out")
    return tuple(words)


def _exactly(word: str) -> str:
    return "".join(letter if letter.isalnum() else f"[{letter}]" for letter in word)
