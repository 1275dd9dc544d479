r"""What somebody declares of coefficients, from elsewhere than these data: bounds and priors, named where an interval rests on them.

*Bounds.* No interval for a coefficient is both finite and valid whatever the noise did to the columns (Gleser and Hwang 1987): a finite one needs knowledge
from elsewhere. An interval that holds the truth at 95 % still does after it is cut to a range in which the truth lies; where nothing is left
of it, the range itself is the interval.

*Priors* are normal laws. *Proof.* Let the data's interval miss with probability :math:`α/2` whatever the coefficient is, and let the coefficient lie outside the middle
:math:`1 - α/2` of its prior with probability :math:`α/2`, as the prior says. Both hold, and so does what they have in common, with
probability at least :math:`1 - α` over prior and data. No more is used of the data's interval, which may be unbounded (Gleser and Hwang 1987); a
coefficient for which no prior is declared keeps its interval. Where the two have nothing in common the prior's middle is shown.

References
----------
Gleser & Hwang, *The nonexistence of 100(1-α)% confidence sets of finite expected diameter in errors-in-variables models* (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.digits import given
from dpnb.inference.elementwise import Floats
from dpnb.inference.spread import normal_quantile
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
        ranges = [(-math.inf, math.inf)] * len(asked.coefficients)
        for place, term, pair in declared(asked, bounds, "bounds", "range", _EXAMPLE):
            ranges[place] = _range(term, pair)
        return cls(asked.coefficients, tuple(low for low, _ in ranges), tuple(high for _, high in ranges))

    @property
    def finite(self) -> tuple[tuple[str, float, float], ...]:
        """The terms that have a range."""
        listed = zip(self.terms, self.lows, self.highs, strict=True)
        return tuple(one for one in listed if math.isfinite(one[1]) or math.isfinite(one[2]))

    @property
    def text(self) -> str:
        """How they are typed."""
        if not self.finite:
            return ""
        pairs = (f'"{term}": ({given(low)}, {given(high)})' for term, low, high in self.finite)
        return f", bounds={{{', '.join(pairs)}}}"

    @property
    def sentence(self) -> str:
        """What an interval rests on; empty where nothing was declared."""
        if not self.finite:
            return ""
        said = " and ".join(f"{term} from {given(low)} to {given(high)}" for term, low, high in self.finite)
        return (
            f"Declared, not estimated: {said}. Intervals are cut to that, and are valid only if it is true."
        )

    def inside(self, values: Floats) -> Floats:
        """Move values of the coefficients, on the last axis, into their ranges."""
        return np.asarray(np.clip(values, self.lows, self.highs))

    def cut(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Cut intervals to the ranges; one that lies beside its range is the range."""
        beside = (high < self.lows) | (low > self.highs)
        return (
            np.where(beside, self.lows, np.maximum(low, self.lows)),
            np.where(beside, self.highs, np.minimum(high, self.highs)),
        )


def declared(
    asked: Formula, given_pairs: object, option: str, what: str, example: str
) -> list[tuple[int, str, object]]:
    """Return what an option declares of coefficients, a term in any spelling: the place of each, its name and its pair.

    Raises
    ------
    OptionError
        For what is no mapping, or a term that the formula does not have.
    """
    if given_pairs is None:
        return []
    if not isinstance(given_pairs, Mapping):
        raise OptionError(f"{option}= is a {what} for each coefficient that has one. {example}")
    known = {spelling(term): place for place, term in enumerate(asked.coefficients)}
    for term in given_pairs:
        if spelling(str(term)) not in known:
            raise OptionError(
                f"{option}= names {term}, which {asked.text} does not have: {', '.join(asked.coefficients)}."
            )
    return [(known[spelling(str(term))], str(term), pair) for term, pair in given_pairs.items()]


def _range(term: str, pair: object) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise OptionError(f"bounds= of {term} is a pair of numbers. {_EXAMPLE}") from None
    if not low < high:
        raise OptionError(f"bounds= of {term} goes from a smaller number to a larger one. {_EXAMPLE}")
    return low, high


Priors = Mapping[str, tuple[float, float]]
Ends = tuple[Floats, Floats]
_PRIOR_EXAMPLE = 'Write for example prior={"x1": (0, 2)}, a mean and a standard deviation.'
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
        laws = declared(asked, prior, "prior", "mean and a standard deviation", _PRIOR_EXAMPLE)
        return cls(asked.coefficients, dict(sorted((place, _law(term, pair)) for place, term, pair in laws)))

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
            f"Declared, not estimated: {said}. Intervals have their stated coverage over these priors and the data together, and only if the "
            "priors are true."
        )

    def middle(self, level: float) -> CoefficientBounds:
        """Return the middle parts of the priors that hold a coefficient with some probability."""
        z = normal_quantile((1 + level) / 2)
        ranges = [(-np.inf, np.inf)] * len(self.terms)
        for place, (mean, sd) in self.declared.items():
            ranges[place] = mean - z * sd, mean + z * sd
        return CoefficientBounds(
            self.terms, tuple(low for low, _ in ranges), tuple(high for _, high in ranges)
        )

    def inside(self, values: Floats) -> Floats:
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
        raise OptionError(f"prior= of {term} is a pair of numbers. {_PRIOR_EXAMPLE}") from None
    if not (np.isfinite(mean) and 0 < sd < np.inf):
        raise OptionError(
            f"prior= of {term} has a finite mean, and a standard deviation above 0. {_PRIOR_EXAMPLE}"
        )
    return mean, sd


def ridge_prior(ridge: object, formula: Formula, prior: Priors | None) -> Priors | None:
    """Return the prior that a ridge is: a normal law about 0 of every slope without one of its own.

    Raises
    ------
    OptionError
        If the ridge is no positive number.
    """
    if ridge is None:
        return prior
    if isinstance(ridge, bool) or not isinstance(ridge, int | float) or not 0 < ridge < math.inf:
        raise OptionError(
            "ridge= is the standard deviation of a normal law about 0 for every slope, such as ridge=2."
        )
    given = dict(prior or {})
    own = {spelling(term) for term in given}
    return given | {term: (0.0, float(ridge)) for term in formula.terms if spelling(term) not in own}


def refuse_weights(weights: object) -> None:
    """Refuse weights in a regression.

    Raises
    ------
    OptionError
        If there are any, with what to ask instead.
    """
    if weights is not None:
        raise OptionError(
            "Moments hold no weighted sums, so that least squares takes no weights=. Ask weighted means by group, "
            'ds.groupby("…").y.mean(weights="…"), and their differences; or write what the weights depend on as a term.'
        )
