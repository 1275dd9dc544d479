"""Linear hypotheses about coefficients as statsmodels writes them: ``"a = b = 0"``, ``"a = b"``, ``"2*a + b = 1, c = 0"``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.elementwise import Floats
from dpnb.statistics.formula_terms import bare, spelling, split

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_EXAMPLE = 'Write for example "a = b = 0", "a = b" or "a + 2*b = 1, c = 0".'


def constraints(text: str, terms: Sequence[str]) -> tuple[Floats, Floats]:
    """Return hypotheses as a matrix and what it makes of the coefficients if they are true.

    Parameters
    ----------
    text : str
        Equations, separated by commas.
    terms : sequence of str
        The names of the coefficients.

    Returns
    -------
    matrix : ndarray, shape (hypotheses, terms)
        Rows that do not follow from each other.
    right : ndarray, shape (hypotheses,)

    Raises
    ------
    OptionError
        For what is no equation, unknown names, and hypotheses that say nothing or contradict each other.
    """
    if not isinstance(text, str):
        raise OptionError(f"A hypothesis is a text. {_EXAMPLE}")
    rows = [row for _, part in split(text, ",") for row in _equations(part, terms)]
    whole = np.array(rows)
    size = int(np.linalg.matrix_rank(whole[:, :-1]))
    if size < np.linalg.matrix_rank(whole):
        raise OptionError(f"The hypotheses in {text!r} contradict each other.")
    if size == 0:
        raise OptionError(f"{text!r} says nothing about a coefficient. {_EXAMPLE}")
    kept: list[Floats] = []
    for row in whole:
        if np.linalg.matrix_rank(np.array([*kept, row])) > len(kept):
            kept.append(row)
    found = np.array(kept)
    return found[:, :-1], found[:, -1]


def _equations(text: str, terms: Sequence[str]) -> Iterator[Floats]:
    """The differences of neighbouring sides; the last entry is what stands on the right."""
    sides = [_linear(side.strip(), terms) for side in _EQUALS.split(text)]
    if len(sides) < 2:
        raise OptionError(f"{text.strip()!r} is no equation. {_EXAMPLE}")
    for left, right in pairwise(sides):
        row = left - right
        row[-1] = -row[-1]
        yield row


def _linear(side: str, terms: Sequence[str]) -> Floats:
    """A sum of numbers and multiples of coefficients as a row: the coefficients' factors, and the number."""
    places = {spelling(term): place for place, term in enumerate(terms)}
    row = np.zeros(len(terms) + 1)
    if not side:
        raise OptionError(f"A side of a hypothesis is empty. {_EXAMPLE}")
    for sign, whole in split(side, "+"):
        part = whole.removeprefix("-").strip()
        first, *rest = [one for _, one in split(part, "*")]
        number = _number(first) if rest else None
        name = part if number is None else "*".join(rest)
        factor = (1.0 if number is None else number) * (-1) ** ((sign == "-") + whole.startswith("-"))
        alone = _number(name)
        place = (
            len(terms) if alone is not None else places.get(spelling(name), places.get(spelling(bare(name))))
        )
        if place is None:
            raise OptionError(f"{name!r} is no coefficient: {', '.join(terms)}. {_EXAMPLE}")
        row[place] += factor * (1.0 if alone is None else alone)
    return row


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
