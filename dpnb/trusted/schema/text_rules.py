"""Rules from one text to another, by which a cell's own text is made alike before it is matched or coded.

A rule is data; ``MEANINGS`` says what each kind of rule does to a text, and an empty text is missing. The curator writes the same
rule in SQL from the same data (``RULES`` of :mod:`dpnb.trusted.curator.engines.cell_sql`), and one test takes every kind through many
texts and compares the two. Each looks at one text alone, so that any sequence of rules is a row-local reading.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpnb.trusted.schema.cell import BLANK

ACCENTED = "".join(map(chr, (*range(0xC0, 0xD7), *range(0xD8, 0xDF))))
UPPER = string.ascii_uppercase + ACCENTED
LOWER = UPPER.lower()
"""Letters of A to Z and the accented ones of Latin-1, each one letter in either case."""


@dataclass(frozen=True)
class TextRule:
    """One rule: its kind, and the characters, what they become, and the length that a rule of this kind has."""

    kind: str
    characters: str = ""
    becoming: str = ""
    length: int = 0

    def of(self, text: str) -> str:
        """Return what a text becomes; the empty text is missing."""
        return MEANINGS[self.kind](self, text)


def _within(rule: TextRule, text: str) -> str:
    """Keep a text that is not too long and has these characters alone: stripped of them, nothing is left of it."""
    return text if len(text) <= rule.length and not text.strip(rule.characters) else ""


MEANINGS: Mapping[str, Callable[[TextRule, str], str]] = {
    "trim": lambda _, text: text.strip(BLANK),
    "letters": lambda rule, text: text.translate(str.maketrans(rule.characters, rule.becoming)),
    "only": lambda rule, text: "".join(letter for letter in text if letter in rule.characters),
    "cut": lambda rule, text: text[: rule.length],
    "within": _within,
}
