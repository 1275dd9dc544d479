"""Rules from one text to another, by which a cell's own text is made alike before it is matched or coded.

A rule is data; ``MEANINGS`` says what each kind of rule does to a text, and an empty text is missing. The curator writes the same
rule in SQL from the same data (``RULES`` of :mod:`dpnb.trusted.curator.engines.cell_sql`), and one test takes every kind through many
texts and compares the two. Each looks at one text alone, so that any sequence of rules is a row-local reading.
"""

from __future__ import annotations

import datetime as dt
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpnb.trusted.schema.cell import BLANK, FALSE, TRUE

ACCENTED = "".join(map(chr, (*range(0xC0, 0xD7), *range(0xD8, 0xDF))))
UPPER = string.ascii_uppercase + ACCENTED
LOWER = UPPER.lower()
"""Letters of A to Z and the accented ones of Latin-1, each one letter in either case."""
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MINUTES = "(:[0-5][0-9](?::[0-5][0-9](?:[.][0-9]+)?)?"
TIMES = {
    24: f"[ T]([01]?[0-9]|2[0-3]){_MINUTES}(?:[zZ]|[-+](?:[01][0-9]|2[0-3]):?[0-5][0-9])?)()",
    12: f"[ T](0?[1-9]|1[0-2]){_MINUTES}) ?([aApP])[mM]",
}
"""The time of day after a date, on a clock of so many hours: the hour, what follows it, and which half of the day."""


@dataclass(frozen=True)
class TextRule:
    """One rule: its kind, and the characters, what they become, the length, the pattern of a text, and the words that a rule of this kind has."""

    kind: str
    characters: str = ""
    becoming: str = ""
    length: int = 0
    pattern: str = ""
    words: tuple[str, ...] = ()

    @property
    def unnamed(self) -> str:
        """The whole pattern in the grammar that the engine knows too: without the names of its groups."""
        pattern = re.sub("[?]P<[A-Za-z]+>", "?:", self.pattern)
        return f"(?i:{pattern})" if self.kind == "date" else pattern

    def of(self, text: str) -> str:
        """Return what a text becomes; the empty text is missing."""
        return MEANINGS[self.kind](self, text)


def _within(rule: TextRule, text: str) -> str:
    """Keep a text that is not too long and has these characters alone: stripped of them, nothing is left of it."""
    return text if len(text) <= rule.length and not text.strip(rule.characters) else ""


def _date(rule: TextRule, text: str) -> str:
    """Write a date of the declared form as ISO does, and its time of day; any other text, and a day that is none, stays as it is.

    Letters of ASCII alone are the same in either case: the long s is none of September.
    """
    found = re.fullmatch(f"(?ai:{rule.pattern})(?:{TIMES[rule.length]})?", text.strip(BLANK))
    if found is None:
        return text
    parts, (hour, minutes, half) = found.groupdict(), found.groups()[-3:]
    month = parts.get("m") or next(
        place
        for place, month in enumerate(MONTHS, start=1)
        if month.startswith((parts.get("b") or parts["B"]).lower())
    )
    year = int(parts.get("Y") or parts["y"])
    year += 0 if "Y" in parts else 1900 if year >= FIRST_SHORT_YEAR else 2000
    try:
        day = dt.date(year, int(month), int(parts.get("d") or 1)).isoformat()
    except ValueError:
        return text
    if hour is None:
        return day
    if half:
        hour = int(hour) % 12 + 12 * (half in "pP")
    return f"{day} {int(hour):02}{minutes}"


def _number(rule: TextRule, text: str) -> str:
    """Write a number of the declared form plainly, and the words true and false as theirs; any other text is no number."""
    found = re.fullmatch(rule.pattern, text.strip(BLANK))
    if found is None:
        truth = (
            word for word, pattern in (("1", TRUE), ("0", FALSE)) if re.fullmatch(pattern, text.strip(BLANK))
        )
        return next(truth, "")
    parts = {name: part or "" for name, part in found.groupdict().items()}
    negative = parts.get("negative", "")
    plain = (negative or parts["body"]).translate(str.maketrans(rule.becoming, ".", rule.characters))
    shift = f"e-{rule.length}" if rule.length and "%" in text else ""
    return ("-" if negative else parts["sign"] + parts.get("inner", "")) + plain + shift


FIRST_SHORT_YEAR = 69
"""A year of two digits lies in 1969 to 2068, as in the C library."""

MEANINGS: Mapping[str, Callable[[TextRule, str], str]] = {
    "trim": lambda _, text: text.strip(BLANK),
    "letters": lambda rule, text: text.translate(str.maketrans(rule.characters, rule.becoming)),
    "only": lambda rule, text: "".join(letter for letter in text if letter in rule.characters),
    "cut": lambda rule, text: text[: rule.length],
    "within": _within,
    "date": _date,
    "number": _number,
}
