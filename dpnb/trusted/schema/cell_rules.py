"""What an owner declares of the cells of one column: how a cell's own text becomes the text that is read.

Each key is a rule for one cell by itself. What a rule makes of a cell depends on that cell's text and the declaration alone, so that
reading stays row-local whatever is declared (PRIVACY, rule 2). A cell's own text is the same in every container
(:mod:`dpnb.trusted.schema.cell`), so that what is read of it is too.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.records import one_of
from dpnb.trusted.schema.cell import BLANK, declared_text, number_text
from dpnb.trusted.schema.free_text import FreeText
from dpnb.trusted.schema.grid import exact
from dpnb.trusted.schema.text_rules import LOWER, UPPER, TextRule
from dpnb.trusted.schema.written_forms import date_rule, number_rule

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("integer", "number"), ("missing_codes", "decimal", "thousands", "strip", "percent", "parentheses")
    ),
    **dict.fromkeys(("date", "datetime"), ("missing_codes", "format")),
    "category": ("missing_codes", "trim", "case", "true", "false"),
    "text": ("missing_codes",),
}
"""The keys of a column of each type that say how one cell is read."""

MOST_CELLS = 1_000
LISTS: Final[Mapping[str, str]] = {
    "missing_codes": 'missing_codes = [999, -99, "refused"]',
    "true": 'true = ["Yes", "y", 1]',
    "false": 'false = ["No", "n", 0]',
}
"""The keys that list cells, and what to write."""
MIDNIGHT = "[ T]00:00(:00([.]0+)?)?$"
"""How the text of a moment ends that is the date itself."""


@dataclass(frozen=True)
class CellRules:
    """What is declared of the cells of a column.

    Parameters
    ----------
    missing_codes : tuple of str
        Cells that mean *unknown*, each as the text that a cell of it is read as.
    format : str
        How a date is written (:func:`~dpnb.trusted.schema.written_forms.date_rule`).
    decimal, thousands, strip, percent, parentheses
        How a number is written (:func:`~dpnb.trusted.schema.written_forms.number_rule`).
    trim : bool
        Whether blanks around a category are left out.
    case : {"keep", "any"}
        Whether letters of both cases are one: of A to Z, and of the accented letters of Latin-1.
    true, false : tuple of str
        The cells that mean yes and no, each as the text that a cell of it is read as; no others do then.

    Examples
    --------
    >>> rules = CellRules.of("age", "integer", {"missing_codes": [999, "refused"]})
    >>> rules.missing_codes, bool(rules), bool(CellRules())
    (('999', 'refused'), True, False)
    """

    missing_codes: tuple[str, ...] = ()
    format: str = ""
    decimal: str = "."
    thousands: str = ""
    strip: str = ""
    percent: bool = False
    parentheses: bool = False
    trim: bool = False
    case: str = "keep"
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        keys: Mapping[str, Any],
        text: FreeText | None = None,
        *,
        recorded: bool = False,
    ) -> CellRules:
        """Read what is declared under the keys of a type of column; a text's labels are bounded as ``text`` says.

        Cells of a list are read by the other rules, as a cell of the column is; those that are ``recorded`` are so already.

        Raises
        ------
        SchemaError
            For a rule that says nothing, or contradicts itself; it names the key.
        """
        lists = {key: keys[key] for key in LISTS if key in keys}
        rules = cls(**{key: value for key, value in keys.items() if key not in lists})
        try:
            rules.check()
        except SchemaError as fault:
            raise SchemaError(f"{name}: {fault}") from None

        def read(cell: object, key: str) -> str:
            plain = cell if isinstance(cell, str) else _plain(cell, key)
            written = isinstance(cell, str) and not recorded
            return alike(rules.text_of(plain) or plain if written else plain, kind, text)

        seen: dict[str, str] = {}
        found: dict[str, Any] = {
            key: _cells(f"{name}: {key}", cells, read, seen) for key, cells in lists.items()
        }
        return replace(rules, **found)

    def __bool__(self) -> bool:
        """Whether anything is declared."""
        return self != NO_RULES

    def check(self) -> None:
        """Refuse what no cell can be read by.

        Raises
        ------
        SchemaError
            With the key to change.
        """
        one_of("trim", self.trim, (True, False))
        one_of("case", self.case, ("keep", "any"))
        if self.format != NO_RULES.format:
            date_rule(self.format)
        if self._number:
            number_rule(*self._number)

    @property
    def _number(self) -> tuple[Any, ...]:
        """What is declared of the writing of a number, if anything is."""
        number = (self.decimal, self.thousands, self.strip, self.percent, self.parentheses)
        return () if number == (".", "", "", False, False) else number

    @property
    def of_texts(self) -> bool:
        """Whether the rules are about texts alone: a number that a container holds as such has a point in its own text."""
        return self.decimal != "."

    @cached_property
    def rules(self) -> tuple[TextRule, ...]:
        """What makes the text that is read of a cell's own text, in this order."""
        if self.format:
            return (date_rule(self.format),)
        if self._number:
            return (number_rule(*self._number),)
        trim = (TextRule("trim"),) if self.trim else ()
        return (*trim, TextRule("letters", UPPER, LOWER)) if self.case == "any" else trim

    def text_of(self, text: str | None) -> str | None:
        """Return the text that is read of a cell's own text; None where the cell is missing."""
        kept = text or ""
        for rule in self.rules:
            kept = rule.of(kept)
        return kept or None

    def to_json(self) -> Record:
        """Write what is declared, and no more."""
        return {
            word: list(value) if isinstance(value, tuple) else value
            for word, value in asdict(self).items()
            if value != getattr(NO_RULES, word)
        }


NO_RULES: Final = CellRules()
"""Of a column of which nothing is declared: a cell is what its own text is."""


def alike(text: str, kind: str, label: FreeText | None = None) -> str:
    """Return the text by which a missing code is known again: that of the number, of the date, or of the label that it is.

    Examples
    --------
    >>> alike(" 999.0", "integer"), alike("9999-12-31 00:00", "date"), alike(" 07 ", "text", FreeText(8))
    ('999', '9999-12-31', '07')
    """
    if label is not None:
        return label.label_of(text) or text
    if kind in ("date", "datetime"):
        return re.sub(MIDNIGHT, "", text.strip(BLANK))
    return declared_text(text) or ""


def _cells(
    key: str, cells: object, read: Callable[[object, str], str], seen: dict[str, str]
) -> tuple[str, ...]:
    """Check a list of cells that stand for something, and return the texts by which they are known again."""
    if isinstance(cells, str) or not isinstance(cells, Sequence):
        raise SchemaError(f"{key} is a list: write {LISTS[key.rpartition(' ')[2]]}")
    if len(cells) > MOST_CELLS:
        raise SchemaError(f"{key} lists {len(cells)} cells: list at most {MOST_CELLS:,}")
    texts = []
    for cell in cells:
        text = read(cell, key)
        if not text.strip(BLANK):
            raise SchemaError(f'{key}: an empty cell is missing in any case: leave "" out')
        if text in seen:
            raise SchemaError(f"{key} names {cell!r}, which is one cell with {seen[text]}: keep one")
        seen[text] = f"{cell!r} of {key.rpartition(' ')[2]}"
        texts.append(text)
    return tuple(texts)


def _plain(cell: object, key: str) -> str:
    """The text of a number or a date that is listed as such: how texts are written has no say in it."""
    if isinstance(cell, dt.date):
        return cell.isoformat().replace("T", " ")
    if cell is None or isinstance(cell, bool | list | dict):
        raise SchemaError(f"{key} are numbers and texts, not {cell!r}")
    number = exact(cell, key, "each")
    return str(int(number)) if number.denominator == 1 else number_text(float(number)) or ""
