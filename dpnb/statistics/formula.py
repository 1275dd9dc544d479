"""Formulas of regressions: ``"y ~ x1 + x2"``, with squares, products, conditions and factors of declared levels.

A term is a column of some moments, in any spelling: ``age``, ``age**2``, ``I(age**2)``, ``puma == 1102``, ``a:b`` for a product.
A name that is not one word stands in backticks, in ``Q("Credit amount")`` or in ``s["Credit amount"]``. ``a*b`` stands for
``a + b + a:b``, and ``C(region)`` for a column of 0 and 1 for each declared level but the first. A regression
has an intercept, unless ``- 1`` takes it away; the first factor then has all its levels, as in R.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dpnb.errors import OptionError
from dpnb.statistics.formula_terms import bare, factors, name_of, spelling, split
from dpnb.statistics.moment_matrix import Named, place_of

INTERCEPT = "Intercept"
_WITHOUT = frozenset({("-", "1"), ("+", "0"), ("", "0"), ("", "-1")})
"""How a formula says that there is no intercept: a sign and a term."""
_EXAMPLE = 'Write for example "y ~ x1 + x2".'

Levels = Callable[[str], Sequence[object]]
"""The declared values of a column."""


@dataclass(frozen=True, slots=True)
class Formula:
    """What is explained by what: names as they were written."""

    response: str
    terms: tuple[str, ...]
    intercept: bool = True

    @property
    def text(self) -> str:
        """The formula in one spelling."""
        without = "" if self.intercept else " - 1"
        return f"{self.response} ~ {' + '.join(map(_enclosed, self.terms)) or '1'}{without}"

    @property
    def coefficients(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        return (INTERCEPT, *self.terms) if self.intercept else self.terms

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it needs."""
        return (self.response, *self.terms)

    def places(self, columns: Named) -> tuple[int, tuple[int, ...]]:
        """Return where response and coefficients are in a matrix of moments, the constant's place first where there is an intercept.

        Raises
        ------
        SchemaError
            If a column is not in the moments, with the nearest that is.
        """
        terms = tuple(place_of(term, columns) for term in self.terms)
        return place_of(self.response, columns), (0, *terms) if self.intercept else terms


def _enclosed(term: str) -> str:
    """A term as it may stand in a formula: what would fall apart there, or be hard to read, stands in parentheses."""
    compares = len(factors(term)) == 1 and any(sign in term for sign in "<>=&|~")
    apart = any(len(split(part, sign)) > 1 for part in factors(term) for sign in "+*")
    return f"({term})" if compares or apart else term


def parse(text: object, levels: Levels | None = None) -> Formula:
    """Read a formula.

    Parameters
    ----------
    text : str
    levels : callable, optional
        Returns the declared values of a column, for ``C(column)``.

    Raises
    ------
    OptionError
        If it is not ``"y ~ x1 + x2"``.

    Examples
    --------
    >>> parse("y ~ x2 + x1").terms
    ('x2', 'x1')
    >>> parse("y ~ age*sex + I(age**2)").terms
    ('age', 'sex', 'age:sex', 'age**2')
    >>> parse("y ~ C(region)", {"region": ("n", "s", "w")}.get).terms
    ("region == 's'", "region == 'w'")
    >>> parse("y ~ C(`no show`)", {"no show": (0, 1)}.get).terms
    ('`no show` == 1',)
    >>> parse("y ~ age - 1").text
    'y ~ age - 1'
    """
    if not isinstance(text, str) or len(sides := split(text, "~")) != 2:
        raise OptionError(f"A formula names what is explained and by what. {_EXAMPLE}")
    left, right = bare(sides[0][1]), split(sides[1][1], "+")
    if not left or not all(term for _, term in right):
        raise OptionError(f"A side or a term of the formula {text!r} is empty. {_EXAMPLE}")
    bare_of = [one for one in right if one in _WITHOUT]
    right = [one for one in right if one not in _WITHOUT]
    if any(sign == "-" for sign, _ in right):
        raise OptionError(
            f"A - between terms removes nothing here. For a difference of columns write I(a - b), in {text!r}."
        )
    typed = [term for _, term in right if term != "1"]
    _once([left, *typed], text)
    if bare_of and not typed:
        raise OptionError(
            f"Without an intercept something else must explain {left}: name a term in {text!r}."
        )
    whole = next((term for term in typed if _is_factor(bare(term))), None) if bare_of else None
    terms: dict[str, str] = {}
    for one in (one for term in typed for one in _expanded(term, levels, whole=term == whole)):
        terms.setdefault(spelling(one), one)
    _once([left, *terms.values()], text)
    return Formula(left, tuple(terms.values()), intercept=not bare_of)


def _once(terms: Sequence[str], text: str) -> None:
    known = [spelling(term) for term in terms]
    for term, spelt in zip(terms, known, strict=True):
        if known.count(spelt) > 1:
            raise OptionError(f"{term} occurs twice in {text!r}: name each column once.")


def _is_factor(term: str) -> bool:
    return term.startswith("C(") and term.endswith(")") and len(factors(term)) == 1


def _expanded(term: str, levels: Levels | None, *, whole: bool = False) -> Iterator[str]:
    """The columns of a term: of ``a*b`` both and their product, of a factor one for each level but the first, or for each."""
    if whole:
        yield from _levels(bare(term), levels, first=0)
        return
    crossed = [bare(part) for _, part in split(term, "*")]
    for size in range(1, len(crossed) + 1):
        for chosen in itertools.combinations(crossed, size):
            parts = [_levels(one, levels) for part in chosen for one in factors(part)]
            yield from (_crossed(made) for made in itertools.product(*parts))


def _crossed(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return ":".join(part if name_of(part) != part or part.isidentifier() else f"({part})" for part in parts)


def _levels(factor: str, levels: Levels | None, first: int = 1) -> list[str]:
    if not (factor.startswith("C(") and factor.endswith(")")):
        return [factor]
    name = name_of(factor[2:-1].strip())
    known = None if levels is None else levels(name)
    if not known:
        raise OptionError(
            f"{factor} needs the declared levels of {name}: ask it of the dataset, or write a term for each level, such as {name} == 1."
        )
    written = name if name.isidentifier() else f"`{name}`"
    return [f"{written} == {level!r}" for level in known[first:]]
