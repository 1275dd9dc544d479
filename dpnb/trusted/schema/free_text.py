"""Texts that nobody listed, as whole numbers: a bounded, normalised label, and one injective code of it.

A cell's own text is trimmed, its case is made one, and what is left is a *label* where it has at most ``length`` characters, all
of them declared; else it is missing, or cut, as declared. A label's code is its UTF-8 bytes, seven to a whole number, filled up
with zeros: two labels have one code only if they are equal, since no declared character is a NUL, and labels are in the order of
their codes. All of it depends on the cell and the declaration alone. What makes a label is a sequence of rules
(:mod:`dpnb.trusted.schema.text_rules`), from which the curator writes its SQL.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.records import one_of
from dpnb.trusted.schema.text_rules import ACCENTED, LOWER, UPPER, TextRule

BYTES = 7
"""Bytes of a label in one whole number."""
WORD: Final = 1 << (8 * BYTES)
MOST_BYTES = 112
_MOST_CHARACTERS = 1_000
_LATIN = ACCENTED + "".join(map(chr, (*range(0xE0, 0xF7), *range(0xF8, 0x100))))
SETS: Final[Mapping[str, str]] = {
    "digits": string.digits,
    "letters": string.ascii_letters,
    "ascii": "".join(map(chr, range(0x20, 0x7F))),
    "latin": "".join(map(chr, range(0x20, 0x7F))) + _LATIN + "ß",
}
"""Sets of characters that have a name."""
CASES: Final = ("keep", "lower", "upper")
BEYOND: Final = ("missing", "cut")


@dataclass(frozen=True)
class FreeText:
    """How the labels of a column are bounded and made alike.

    Parameters
    ----------
    length : int
        Most characters of a label.
    characters : str or sequence of str
        Names of :data:`SETS`, or characters themselves.
    case : {"keep", "lower", "upper"}
        Whether letters of both cases are one: of A to Z, and of the accented letters of Latin-1.
    trim : bool
        Whether blanks around a label are left out.
    beyond : {"missing", "cut"}
        What a text becomes that is too long or has other characters: missing, or without them and cut to the length.

    Examples
    --------
    >>> text = FreeText(8, ("letters", " "), case="lower")
    >>> text.label_of(" Nurse "), text.label_of("nurse 2"), text.codes_of("nurse")
    ('nurse', None, (31091381860892672, 0))
    """

    length: int
    characters: Sequence[str] = ("ascii",)
    case: str = "keep"
    trim: bool = True
    beyond: str = "missing"

    def __post_init__(self) -> None:
        length: object = self.length
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise SchemaError("length is a whole number of at least 1: the most characters of a label")
        given: Sequence[object] = self.characters
        listed = (given,) if isinstance(given, str) else tuple(given)
        object.__setattr__(self, "characters", listed)
        if not listed or not all(isinstance(one, str) and one for one in listed):
            raise SchemaError('characters is a list such as ["letters", "digits", " -"]')
        if len(self.allowed) > _MOST_CHARACTERS or not all(map(str.isprintable, self.allowed)):
            raise SchemaError(f"characters are printable, and at most {_MOST_CHARACTERS:,}")
        one_of("case", self.case, CASES)
        one_of("beyond", self.beyond, BEYOND)
        one_of("trim", self.trim, (True, False))
        if self.length * self.widest > MOST_BYTES:
            most = MOST_BYTES // self.widest
            raise SchemaError(
                f"length = {self.length} is too long for these characters: write {most} at most"
            )

    @cached_property
    def allowed(self) -> str:
        """The declared characters, in their own order."""
        return "".join(sorted({letter for one in self.characters for letter in SETS.get(one, one)}))

    @property
    def widest(self) -> int:
        """Most bytes of a character."""
        return max(len(letter.encode()) for letter in self.allowed)

    @property
    def words(self) -> int:
        """How many whole numbers a label is."""
        return -(-self.length * self.widest // BYTES)

    @cached_property
    def rules(self) -> tuple[TextRule, ...]:
        """What makes a label of a cell's own text, in this order."""
        trim = (TextRule("trim"),) if self.trim else ()
        letters = {"lower": (UPPER, LOWER), "upper": (LOWER, UPPER)}
        alike = trim if self.case == "keep" else (*trim, TextRule("letters", *letters[self.case]))
        if self.beyond == "missing":
            return (*alike, TextRule("within", self.allowed, length=self.length))
        return (*alike, TextRule("only", self.allowed), *trim, TextRule("cut", length=self.length), *trim)

    def label_of(self, text: str | None) -> str | None:
        """Return the label of a cell's own text, nothing where it has none."""
        kept = text or ""
        for rule in self.rules:
            kept = rule.of(kept)
        return kept or None

    def codes_of(self, label: str) -> tuple[int, ...]:
        """Return the whole numbers of a label."""
        filled = label.encode().ljust(self.words * BYTES, b"\0")
        return tuple(int.from_bytes(filled[at : at + BYTES]) for at in range(0, len(filled), BYTES))

    def told(self, codes: Sequence[int]) -> str:
        """Return the label of some whole numbers: the inverse of :meth:`codes_of`."""
        return b"".join(code.to_bytes(BYTES) for code in codes).rstrip(b"\0").decode()

    def to_json(self) -> Record:
        """Write what is declared."""
        return {**asdict(self), "characters": list(self.characters)}
