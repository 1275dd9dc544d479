r"""Priors that somebody declares of coefficients: normal laws from elsewhere than these data, named where an interval rests on them.

*Proof.* Let the data's interval miss with probability :math:`α/2` whatever the coefficient is, and let the coefficient lie outside the middle
:math:`1 - α/2` of its prior with probability :math:`α/2`, as the prior says. Both hold, and so does what they have in common, with
probability at least :math:`1 - α` over prior and data. No more is used of the data's interval, which may be unbounded (Gleser and Hwang 1987); a
coefficient for which no prior is declared keeps its interval. Where the two have nothing in common the prior's middle is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.digits import given
from dpnb.inference.spread import normal_quantile
from dpnb.statistics.coefficient_bounds import CoefficientBounds
from dpnb.statistics.formula import Formula
from dpnb.statistics.formula_terms import spelling

Priors = Mapping[str, tuple[float, float]]
Ends = tuple[np.ndarray, np.ndarray]
_EXAMPLE = 'Write for example prior={"x1": (0, 2)}, a mean and a standard deviation.'
_SHOWN = 0.95


@dataclass(frozen=True, slots=True)
class CoefficientPriors:
    """The declared normal laws of coefficients.

    Parameters
    ----------
    terms : tuple of str
        All coefficients.
    declared : mapping of int to (float, float)
        Mean and standard deviation of those that have one, by their place.
    """

    terms: tuple[str, ...]
    declared: Mapping[int, tuple[float, float]]

    @classmethod
    def of(cls, asked: Formula, prior: Priors | None) -> CoefficientPriors:
        """Read what was declared, a term in any spelling.

        Raises
        ------
        OptionError
            For a term that the formula does not have, or what is no mean and standard deviation.
        """
        if prior is not None and not isinstance(prior, Mapping):
            raise OptionError(
                f"prior= is a mean and a standard deviation for each coefficient that has one. {_EXAMPLE}"
            )
        known = {spelling(term): place for place, term in enumerate(asked.coefficients)}
        found = {}
        for term, pair in (prior or {}).items():
            if spelling(str(term)) not in known:
                raise OptionError(
                    f"prior= names {term}, which {asked.text} does not have: {', '.join(asked.coefficients)}."
                )
            found[known[spelling(str(term))]] = _law(str(term), pair)
        return cls(asked.coefficients, dict(sorted(found.items())))

    @property
    def text(self) -> str:
        """How they are typed."""
        if not self.declared:
            return ""
        pairs = (
            f'"{self.terms[place]}": ({given(mean)}, {given(sd)})'
            for place, (mean, sd) in self.declared.items()
        )
        return f", prior={{{', '.join(pairs)}}}"

    @property
    def sentence(self) -> str:
        """What an interval rests on; empty where nothing was declared."""
        if not self.declared:
            return ""
        said = " and ".join(
            f"{self.terms[place]} normal about {given(mean)} with standard deviation {given(sd)}"
            for place, (mean, sd) in self.declared.items()
        )
        return (
            f"Declared, not estimated: {said}. Intervals hold as often as they say over these priors and the data together, and only if the "
            "priors are true."
        )

    def middle(self, level: float) -> CoefficientBounds:
        """Return the middle parts of the priors that hold a coefficient with some probability."""
        z = normal_quantile((1 + level) / 2)
        ranges = [
            (
                self.declared[place][0] - z * self.declared[place][1],
                self.declared[place][0] + z * self.declared[place][1],
            )
            if place in self.declared
            else (-np.inf, np.inf)
            for place in range(len(self.terms))
        ]
        return CoefficientBounds(
            self.terms, tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
        )

    def inside(self, values: np.ndarray) -> np.ndarray:
        """Move estimates, on the last axis, into what an interval at 95 % can hold."""
        return self.middle((1 + _SHOWN) / 2).inside(values)

    def cut(self, ends: Callable[[float], Ends], level: float) -> Ends:
        """Return intervals at a level from those of the data: half of the error for each where there is a prior."""
        low, high = ends(level)
        if not self.declared:
            return low, high
        half = (1 + level) / 2
        wide, places = ends(half), list(self.declared)
        low[places], high[places] = (end[places] for end in self.middle(half).cut(*wide))
        return low, high


def _law(term: str, pair: object) -> tuple[float, float]:
    try:
        mean, sd = (float(one) for one in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise OptionError(f"prior= of {term} is a pair of numbers. {_EXAMPLE}") from None
    if not (np.isfinite(mean) and 0 < sd < np.inf):
        raise OptionError(f"prior= of {term} has a finite mean, and a standard deviation above 0. {_EXAMPLE}")
    return mean, sd
