"""Formulas of regressions: ``"y ~ x1 + x2"``, names of the columns of some moments and nothing else.

Every regression has an intercept. A name that is not there is refused with the nearest that is; what other formula languages
compute inside a formula (powers, products, categories) is a column of the moments here, so that its bounds are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpnb.errors import OptionError
from dpnb.statistics.moment_matrix import place_of

INTERCEPT = "Intercept"
_EXAMPLE = 'Write for example "y ~ x1 + x2".'


@dataclass(frozen=True, slots=True)
class Formula:
    """What is explained by what: names as they were written."""

    response: str
    terms: tuple[str, ...]

    @property
    def text(self) -> str:
        """The formula in one spelling."""
        return f"{self.response} ~ {' + '.join(self.terms) or '1'}"

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it needs."""
        return (self.response, *self.terms)

    def places(self, names: Sequence[str]) -> tuple[int, tuple[int, ...]]:
        """Return where response and terms are in a matrix of moments, the constant's place first among the terms.

        Raises
        ------
        SchemaError
            If a column is not in the moments, with the nearest that is.
        """
        return place_of(self.response, names), (0, *(place_of(term, names) for term in self.terms))


def parse(text: object) -> Formula:
    """Read a formula.

    Raises
    ------
    OptionError
        If it is not ``"y ~ x1 + x2"``.

    Examples
    --------
    >>> parse("y ~ x2 + x1").terms
    ('x2', 'x1')
    """
    if not isinstance(text, str) or text.count("~") != 1:
        raise OptionError(f"A formula names what is explained and by what. {_EXAMPLE}")
    left, right = (side.strip() for side in text.split("~"))
    terms = [term.strip() for term in right.split("+")]
    if not left or not all(terms):
        raise OptionError(f"A side or a term of the formula {text!r} is empty. {_EXAMPLE}")
    if "0" in terms or "-1" in right.replace(" ", ""):
        raise OptionError("Every regression here has an intercept: leave out the 0 or -1.")
    terms = [term for term in terms if term != "1"]
    for term in terms:
        if terms.count(term) > 1 or term == left:
            raise OptionError(f"{term} occurs twice in {text!r}: name each column once.")
        if any(sign in term for sign in ":*^("):
            raise OptionError(
                f"{term!r} is no column name. Put the expression among the columns of the moments, where its bounds are known."
            )
    return Formula(left, tuple(terms))
