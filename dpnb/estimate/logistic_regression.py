"""A logistic regression as an analyst holds it: log odds that are estimates, their table, and predicted probabilities. Free.

It is read from a released contingency table (:mod:`dpnb.statistics.logistic`); what holds for every fit is said in
:mod:`dpnb.estimate.regression_summary`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError
from dpnb.estimate.regression_summary import Regression
from dpnb.estimate.table import rows
from dpnb.inference.digits import number
from dpnb.statistics.logistic import NO_MAXIMUM, UNCLEAR
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

_WORDS = {
    NO_MAXIMUM: "no maximum: the released counts are compatible with columns that separate the response, so nothing bounds the coefficients. "
    "Ask the table with more ε, wider bins, or fewer terms.",
    UNCLEAR: "information unclear: noise of this size could hide all that tells the terms apart, so nothing bounds the coefficients. "
    "Ask the table with more ε, or fewer terms.",
}


def logistic(self: Estimate, formula: str) -> LogisticRegression:
    """Fit a logistic regression of a 0/1 key on other keys of this table: free, any number of times.

    Parameters
    ----------
    formula : str
        For example ``"married ~ age + C(region)"``; a response of text is a condition, ``"(vote == 'yes') ~ age"``. A bin counts as
        its midpoint.

    Returns
    -------
    LogisticRegression
        With ``coefficients`` (log odds), ``summary()``, ``test()``, ``predict()``, ``marginal_effect()`` and ``plot()``.

    Examples
    --------
    >>> table.logistic("(sex == 1) ~ age").summary()  # doctest: +SKIP
    """
    return LogisticRegression(self.log_odds(formula), formula, self)  # type: ignore[attr-defined]


class LogisticRegression(Regression):
    """A logistic regression read from a released table."""

    __slots__ = ()
    method: ClassVar[str] = "Logistic regression"
    asked_as: ClassVar[str] = "logistic"

    def predict(
        self, at: Mapping[str, ArrayLike] | None = None, *, extrapolate: bool = False, **columns: ArrayLike
    ) -> Estimate:
        """Predict the probability of a response of 1 among people with these values: free, with both intervals.

        Parameters
        ----------
        at : mapping of str to number or array, optional
            What the columns of the formula are.
        extrapolate : bool
            Whether values beyond the declared bounds are meant.
        **columns
            The same as keywords.

        Examples
        --------
        >>> fit.predict(age=[20, 40, 60])  # doctest: +SKIP
        """
        odds: Any = super().predict(at, extrapolate=extrapolate, **columns)
        found: Estimate = 1 / (1 + np.exp(-odds))
        return found

    def marginal_effect(
        self, column: str, at: Mapping[str, ArrayLike] | None = None, **columns: ArrayLike
    ) -> Estimate:
        """By how much the probability of a 1 changes with one unit more of a column, among people with these values: free.

        Parameters
        ----------
        column : str
            A number of the formula.
        at : mapping of str to number or array
            What all columns of the formula are: the effect depends on them.
        **columns
            The same as keywords.

        Examples
        --------
        >>> fit.marginal_effect("age", age=[20, 40, 60])  # doctest: +SKIP
        """
        slope = super().marginal_effect(column, at, **columns)
        chance = self.predict({**dict(at or {}), **columns})
        found: Estimate = chance * (1 - chance) * slope
        return found

    @property
    def n(self) -> float:
        """The number of rows in the table, as released."""
        found: float = np.ravel(np.asarray(self.coefficients.n))[0]
        return float(found)

    @property
    def r_squared(self) -> float:
        """Refused: there is no R² of a logistic regression.

        Raises
        ------
        OptionError
            Always.
        """
        raise OptionError("A logistic regression has no R². Ask fit.test(), or fit.predict(…).")

    @property
    def residual_sd(self) -> float:
        """Refused: as R²."""
        return self.r_squared

    def standardized(self) -> Estimate:
        """Refused: standardised coefficients are those of least squares.

        Raises
        ------
        OptionError
            Always.
        """
        raise OptionError("Standardised coefficients belong to least squares: ds.ols(…).standardized().")

    def facts(self) -> tuple[str, ...]:
        """Size and cost, as the summary says them."""
        root = self.coefficients.leaves()[0]
        return (f"n {number(self.n)} (in the table)", f"read from {root.text} ({self.coefficients.loss})")

    def notes(self) -> tuple[str, ...]:
        """What a reader of the summary must know."""
        return (
            "Log odds for one unit more. A bin counts as its midpoint; rows that are missing a key are in no cell.",
            *(_WORDS[flag] for flag in self.flags if flag in _WORDS),
        )

    def _plain(self, level: float) -> Record:
        return {
            "formula": self.formula,
            "n": self.n,
            "flags": list(self.flags),
            "terms": rows(self.table(level)),
        }
