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
from dpnb.trusted.schema.cell import BLANK, declared_text, number_text
from dpnb.trusted.schema.free_text import FreeText
from dpnb.trusted.schema.grid import exact
from dpnb.trusted.schema.text_rules import TextRule
from dpnb.trusted.schema.written_forms import date_rule

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("integer", "number"), ("missing_codes",)),
    **dict.fromkeys(("date", "datetime"), ("missing_codes", "format")),
    "category": ("missing_codes",),
    "text": ("missing_codes",),
}
"""The keys of a column of each type that say how one cell is read."""

MOST_CODES = 1_000
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

    Examples
    --------
    >>> rules = CellRules.of("age", "integer", {"missing_codes": [999, "refused"]})
    >>> rules.missing_codes, bool(rules), bool(CellRules())
    (('999', 'refused'), True, False)
    """

    missing_codes: tuple[str, ...] = ()
    format: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        keys: Mapping[str, Any],
        text: FreeText | None = None,
        step: str | None = None,
    ) -> CellRules:
        """Read what is declared under the keys of a type of column; a text's labels are bounded as ``text`` says, a date has a ``step``.

        Raises
        ------
        SchemaError
            For a rule that says nothing, or contradicts itself; it names the key.
        """
        given = dict(keys)
        codes = given.pop("missing_codes", ())
        rules = cls(**given)
        try:
            rules.check(step)
        except SchemaError as fault:
            raise SchemaError(f"{name}: {fault}") from None
        if codes == ():
            return rules

        def read(code: str) -> str:
            return alike(rules.text_of(code) or code, kind, text)

        return replace(rules, missing_codes=_codes(name, codes, read))

    def check(self, step: str | None) -> None:
        """Refuse what no cell can be read by; a date has a ``step``.

        Raises
        ------
        SchemaError
            With the key to change.
        """
        if self.format != "":
            date_rule(self.format)
            if "%d" not in self.format and step != "month":
                raise SchemaError(f'format = {self.format!r} has no day: add %d, or write step = "month"')

    def __bool__(self) -> bool:
        """Whether anything is declared."""
        return self != NO_RULES

    @cached_property
    def rules(self) -> tuple[TextRule, ...]:
        """What makes the text that is read of a cell's own text, in this order."""
        return (TextRule("trim"), date_rule(self.format)) if self.format else ()

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


def _codes(name: str, codes: object, read: Callable[[str], str]) -> tuple[str, ...]:
    """Check a list of codes, and return the texts by which they are known again."""
    if isinstance(codes, str) or not isinstance(codes, Sequence):
        raise SchemaError(f'{name}: missing_codes is a list: write missing_codes = [999, -99, "refused"]')
    if len(codes) > MOST_CODES:
        raise SchemaError(f"{name}: missing_codes lists {len(codes)} codes: list at most {MOST_CODES:,}")
    seen: dict[str, object] = {}
    for code in codes:
        text = _code_text(name, code)
        if not text.strip(BLANK):
            raise SchemaError(f'{name}: missing_codes: an empty cell is missing in any case: leave "" out')
        if read(text) in seen:
            other = seen[read(text)]
            raise SchemaError(
                f"{name}: missing_codes names {other!r} and {code!r}, which are one cell: keep one"
            )
        seen[read(text)] = code
    return tuple(seen)


def _code_text(name: str, code: object) -> str:
    if isinstance(code, dt.date):
        return code.isoformat().replace("T", " ")
    if isinstance(code, bool) or not isinstance(code, int | float | str):
        raise SchemaError(f"{name}: missing_codes are numbers and texts, not {code!r}")
    if isinstance(code, str):
        return code
    number = exact(code, name, "each of missing_codes")
    return str(int(number)) if number.denominator == 1 else number_text(float(number)) or ""
