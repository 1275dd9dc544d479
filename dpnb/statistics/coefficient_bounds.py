"""Bounds that somebody declares of coefficients: what is known beside the data, named where an interval rests on it.

No interval for a coefficient is both finite and valid whatever the noise did to the columns (Gleser and Hwang 1987): a finite one needs knowledge
from elsewhere. An interval that holds the truth at 95 % still does after it is cut to a range in which the truth lies; where nothing is left
of it, the range itself is the interval.

References
----------
Gleser & Hwang, *The nonexistence of 100(1-α)% confidence sets of finite expected diameter in errors-in-variables models* (1987).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.digits import given
from dpnb.statistics.formula import Formula
from dpnb.statistics.formula_terms import spelling

Bounds = Mapping[str, tuple[float, float]]
_EXAMPLE = 'Write for example bounds={"x1": (0, 5)}.'


@dataclass(frozen=True, slots=True)
class CoefficientBounds:
    """The declared range of each coefficient; infinite where none is.

    Parameters
    ----------
    terms : tuple of str
        The coefficients.
    lows, highs : tuple of float
        Their ranges.
    """

    terms: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @classmethod
    def of(cls, asked: Formula, bounds: Bounds | None) -> CoefficientBounds:
        """Read what was declared, a term in any spelling.

        Raises
        ------
        OptionError
            For a term that the formula does not have, or what is no range.
        """
        known = {spelling(term): place for place, term in enumerate(asked.coefficients)}
        found = [(-math.inf, math.inf)] * len(known)
        for term, pair in _items(bounds):
            if spelling(term) not in known:
                raise OptionError(
                    f"bounds= names {term}, which {asked.text} does not have: {', '.join(asked.coefficients)}."
                )
            found[known[spelling(term)]] = _range(term, pair)
        return cls(asked.coefficients, tuple(low for low, _ in found), tuple(high for _, high in found))

    @property
    def declared(self) -> tuple[tuple[str, float, float], ...]:
        """The terms that have a range."""
        listed = zip(self.terms, self.lows, self.highs, strict=True)
        return tuple(one for one in listed if math.isfinite(one[1]) or math.isfinite(one[2]))

    @property
    def text(self) -> str:
        """How they are typed."""
        if not self.declared:
            return ""
        pairs = (f'"{term}": ({given(low)}, {given(high)})' for term, low, high in self.declared)
        return f", bounds={{{', '.join(pairs)}}}"

    @property
    def sentence(self) -> str:
        """What an interval rests on; empty where nothing was declared."""
        if not self.declared:
            return ""
        said = " and ".join(f"{term} from {given(low)} to {given(high)}" for term, low, high in self.declared)
        return f"Declared, not estimated: {said}. Intervals are cut to that, and hold only if it is true."

    def inside(self, values: np.ndarray) -> np.ndarray:
        """Move values of the coefficients, on the last axis, into their ranges."""
        return np.asarray(np.clip(values, self.lows, self.highs))

    def cut(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cut intervals to the ranges; one that lies beside its range is the range."""
        beside = (high < self.lows) | (low > self.highs)
        return (
            np.where(beside, self.lows, np.maximum(low, self.lows)),
            np.where(beside, self.highs, np.minimum(high, self.highs)),
        )


def _items(bounds: Bounds | None) -> list[tuple[str, tuple[float, float]]]:
    if bounds is None:
        return []
    if not isinstance(bounds, Mapping):
        raise OptionError(f"bounds= is a range for each coefficient that has one. {_EXAMPLE}")
    return [(str(term), pair) for term, pair in bounds.items()]


def _range(term: str, pair: object) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise OptionError(f"bounds= of {term} is a pair of numbers. {_EXAMPLE}") from None
    if not low < high:
        raise OptionError(f"bounds= of {term} goes from a smaller number to a larger one. {_EXAMPLE}")
    return low, high
