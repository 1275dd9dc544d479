"""A regression as an analyst holds it: coefficients that are estimates, and the table that people expect of a regression.

Nothing here is computed from rows: all of it follows from the released matrix. Standard errors hold sampling and noise
together; p is that of the interval, which knows the noise, and t is the deviate that has this p. What cannot be said (a person may have several
rows; noise could have made the matrix singular) is said in words, in the same shape.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.hypothesis import HypothesisTest, p_text, wald_test
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.regression_table import Summary
from dpnb.estimate.table import Table, Tabular, rows
from dpnb.inference.digits import given as plainly
from dpnb.inference.digits import number
from dpnb.inference.elementwise import Number
from dpnb.inference.interval import Interval, Kind, plain_number
from dpnb.statistics.declared_coefficients import Bounds, Priors, refuse_weights, ridge_prior
from dpnb.statistics.formula import INTERCEPT, parse
from dpnb.statistics.formula_terms import spelling, value
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.regression import Fit
from dpnb.statistics.regression_readings import AnyFit, Fitted
from dpnb.statistics.result import FLAG_WORDS
from dpnb.statistics.robust_errors import CLASSICAL, RobustFit
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate


def ols(
    self: Estimate,
    formula: str,
    *,
    bounds: Bounds | None = None,
    prior: Priors | None = None,
    cov_type: str = CLASSICAL,
    ridge: float | None = None,
    weights: object = None,
) -> Regression:
    """Regress by least squares on columns of these moments: free, any number of times.

    Parameters
    ----------
    formula : str
        For example ``"y ~ x1 + x2"``; ``- 1`` removes the intercept.
    bounds : mapping of str to (float, float), optional
        Ranges in which coefficients are known to lie, from elsewhere than these data: ``bounds={"x1": (0, 5)}``. Where noise could have
        made the columns collinear, an interval is finite under such a range or a prior alone; it is named beside the table.
    prior : mapping of str to (float, float), optional
        A normal law of coefficients from elsewhere than these data, mean and standard deviation: ``prior={"x1": (2, 1)}``. An interval is
        what the data and the middle of the law both leave, each at half of the error.
    cov_type : {"nonrobust", "HC1"}
        ``"HC1"`` does not assume equal error variances, and needs moments with the product of every two columns.
    ridge : float, optional
        A ridge is a prior: every slope has a normal law about 0 with this standard deviation, in its own unit; one given in ``prior`` keeps
        its own. The summary says so.
    weights : None
        Refused, with what to ask instead.

    Returns
    -------
    Regression
        With ``coefficients`` (an estimate), ``["x1"]``, ``standard_errors``, ``t_values``, ``p_values``, ``r_squared`` and
        ``summary()``; pending while the moments are.

    Examples
    --------
    >>> zz = hiv.moments("got", "age", "any")  # doctest: +SKIP
    >>> zz.ols("got ~ age + any").summary()  # doctest: +SKIP
    """
    refuse_weights(weights)
    asked = parse(formula)
    prior = ridge_prior(ridge, asked, prior)
    options: dict[str, Any] = {} if bounds is None else {"bounds": bounds}
    options |= {} if prior is None else {"prior": prior}
    options |= {} if cov_type == CLASSICAL else {"cov_type": cov_type}
    return Regression(self.coefficients(asked.text, **options), asked.text, self)  # type: ignore[attr-defined]


_JUMPS = re.compile(r"[=<>]|\b(isin|between|is_missing|isna)\b")
_DIFFERENCE = "{0}. Take the difference of two predictions: fit.predict({1}=…) - fit.predict({1}=…)."
MOVED = "Rows beyond the radius were moved towards the middle: what lies far out counts less than it should."


class Regression(Tabular):
    """A least-squares regression read from released moments.

    Parameters
    ----------
    coefficients : Estimate
        One value for the intercept and each term, with both intervals.
    formula : str
        What is explained by what.
    moments : Estimate
        From which it is read.
    """

    __slots__ = ("_test", "coefficients", "formula", "moments")
    method: ClassVar[str] = "Least squares"
    asked_as: ClassVar[str] = "ols"

    def __init__(self, coefficients: Estimate, formula: str, moments: Estimate) -> None:
        self.coefficients = coefficients
        self.formula = formula
        self.moments = moments
        self._test: HypothesisTest | None = None

    @property
    def estimate(self) -> Estimate:
        """What is asked and released: the coefficients."""
        return self.coefficients

    @property
    def pending(self) -> bool:
        """Whether the moments have no answer yet."""
        return self.coefficients.pending

    @property
    def value(self) -> Number:
        """The coefficients as numbers."""
        return self.coefficients.value

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        return tuple(self.coefficients.keys)

    def __getitem__(self, term: str) -> Estimate:
        """One coefficient, as an estimate; a term in any spelling: ``fit["age ** 2"]``."""
        known = {spelling(one): one for one in self.terms}
        found: Estimate = self.coefficients[known.get(spelling(str(term)), term)]
        return found

    def _any_fit(self) -> AnyFit:
        self.coefficients.value  # noqa: B018 -- raises what a pending estimate raises
        outcome = self.coefficients.outcome
        assert isinstance(outcome, Fitted)
        assert outcome.fit is not None
        return outcome.fit

    def _fit(self) -> Fit:
        found = self._any_fit()
        assert isinstance(found, Fit)
        return found

    @property
    def standard_errors(self) -> Number:
        """Standard errors, sampling and noise together; None where rows are not people; infinite where nothing is known."""
        found = self.coefficients.standard_error
        return np.full(len(self.terms), math.inf) if found is not None and self._any_fit().lost else found

    @property
    def t_values(self) -> Number:
        """The normal deviate that has the p-value, so that t, p and interval say one thing; the coefficient over its standard error beyond 0.002.

        Without noise this is the coefficient over its standard error. Noise in what tells columns apart has long tails, so that two
        standard errors are then no 5 %.
        """
        errors = self.standard_errors
        if errors is None:
            return None
        told = np.asarray(self.tested.statistic, dtype=float)
        plain = np.asarray(self.coefficients.value) / errors
        return np.where(self.tested.bounded & (np.abs(plain) > np.abs(told)), plain, told)

    @property
    def p_values(self) -> Number:
        """Two-sided p-values of no effect: those of ``coefficients.test()``, by the same intervals; none is told below 0.002."""
        return None if self.standard_errors is None else np.asarray(self.tested.p_value)

    @property
    def tested(self) -> HypothesisTest:
        """The test of each coefficient against zero: its p-values are those of the intervals."""
        if self._test is None:
            self._test = self.coefficients.test(0)
        return self._test

    @property
    def r_squared(self) -> float:
        """The share of the response's variance that is explained, from the released matrix."""
        return self._fit().r_squared

    @property
    def residual_sd(self) -> float:
        """The standard deviation of the residuals."""
        return self._fit().residual_sd

    @property
    def n(self) -> float:
        """The number of rows, public or released with noise."""
        return max(self._fit().crossed.size, 0.0)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""
        return self.coefficients.flags

    def test(self, hypothesis: str | None = None, *, kind: Kind = "confidence") -> HypothesisTest:
        """Test linear hypotheses about the coefficients together (Wald), free.

        Parameters
        ----------
        hypothesis : str, optional
            Equations such as ``"a = b = 0"``, ``"a = b"`` or ``"a + 2*b = 1, c = 0"``. By default that nothing but the intercept counts.
        kind : {"confidence", "privacy"}
            About the population, or about this dataset.

        Returns
        -------
        HypothesisTest
            Its law is that of the coefficients' intervals: draws of noise and sampling together. None is told below 0.002.

        Raises
        ------
        OptionError
            For what is no equation, or names no coefficient.

        Examples
        --------
        >>> fit.test("age = any = 0").p_value  # doctest: +SKIP
        """
        return wald_test(self.coefficients, hypothesis, kind)

    def interval(self, level: float = 0.95, kind: Kind = "confidence") -> Interval:
        """Return the intervals of all coefficients; see :meth:`dpnb.estimate.Estimate.interval`."""
        return self.coefficients.interval(level, kind)

    # the names that statsmodels gives them

    @property
    def params(self) -> Estimate:
        """The coefficients."""
        return self.coefficients

    @property
    def bse(self) -> np.ndarray:
        """Standard errors.

        Raises
        ------
        Unavailable
            Where a person may have several rows.
        """
        return _known(self.standard_errors)

    @property
    def tvalues(self) -> np.ndarray:
        """See :attr:`t_values` and :attr:`bse`."""
        return _known(self.t_values)

    @property
    def pvalues(self) -> np.ndarray:
        """Two-sided p-values; see :attr:`bse`."""
        return _known(self.p_values)

    @property
    def rsquared(self) -> float:
        """The share of the response's variance that is explained."""
        return self.r_squared

    def conf_int(self, alpha: float = 0.05) -> np.ndarray:
        """Return the confidence intervals: one row for each coefficient, its low and high end."""
        return np.column_stack(tuple(self.interval(1 - alpha)))

    def standardized(self) -> Estimate:
        """Return the standardised coefficients: by how many standard deviations the response differs where a column does by one. Free.

        Raises
        ------
        OptionError
            Without an intercept, or without a term.
        """
        found: Estimate = self.moments.standardized(self.formula)  # type: ignore[attr-defined]
        return found

    def predict(
        self, at: Mapping[str, ArrayLike] | None = None, *, extrapolate: bool = False, **columns: ArrayLike
    ) -> Estimate:
        """Predict the mean response of people with these values: free, with both intervals.

        Parameters
        ----------
        at : mapping of str to number or array, optional
            What the columns of the formula are: ``{"age": 40, "any": 1}``, numbers or arrays of one length; a DataFrame is one too.
        extrapolate : bool
            Whether values beyond the declared bounds are meant: no row is there, so that the intervals hold only if the line goes on.
        **columns
            The same as keywords: ``fit.predict(age=40, any=1)``.

        Returns
        -------
        Estimate
            One number, or one for each entry of the arrays. Its intervals are about the mean at these values, not about one
            person; they are unbounded where noise could have made the regression singular.

        Examples
        --------
        >>> fit.predict(age=[20, 40, 60], any=1)  # doctest: +SKIP
        """
        given = {**dict(at if at is not None else {}), **columns}
        found: Estimate = self.coefficients.__rmatmul__(self._rows(given, extrapolate=extrapolate))
        return found

    def _rows(self, given: Mapping[str, ArrayLike], *, extrapolate: bool) -> np.ndarray:
        """What the coefficients are multiplied with, at some values."""
        self._declared(given)
        if not extrapolate:
            self._inside(given)
        terms = [1.0 if term == INTERCEPT else _given(term, given) for term in self.terms]
        try:
            rows: np.ndarray = np.stack(np.broadcast_arrays(*terms), axis=-1)
        except ValueError:
            raise OptionError("predict() takes numbers, and arrays of one length.") from None
        return rows

    def marginal_effect(
        self, column: str, at: Mapping[str, ArrayLike] | None = None, **columns: ArrayLike
    ) -> Estimate:
        """By how much the mean response changes with one unit more of a column: free, with both intervals.

        Parameters
        ----------
        column : str
            A number of the formula.
        at : mapping of str to number or array, optional
            At which values; those of the columns on which the effect depends are needed, such as its own beside a square.
        **columns
            The same as keywords.

        Raises
        ------
        OptionError
            For a column that the formula does not have, and for a category: that is the difference of two predictions.

        Examples
        --------
        >>> fit.marginal_effect("age", age=[20, 40, 60])  # doctest: +SKIP
        """
        given = {**dict(at if at is not None else {}), **columns}
        rows = self._slopes(column, given)
        if rows.ndim == 1 and np.count_nonzero(rows) == 1 and rows.max() == 1:
            return self.coefficients[int(rows.argmax())]
        found: Estimate = self.coefficients.__rmatmul__(rows)
        return found

    def _slopes(self, column: str, given: Mapping[str, ArrayLike]) -> np.ndarray:
        """The derivatives of the terms by a column, at some values."""
        self._declared(given)
        self._inside(given)
        step = self._step(column)
        own = [re.search(rf"\b{re.escape(column)}\b", term) is not None for term in self.terms]
        if not any(own):
            raise OptionError(f"{column} is not in {self.formula}.")
        found: list[np.ndarray] = []
        for term, has in zip(self.terms, own, strict=True):
            if not has:
                found.append(np.zeros(()))
            elif spelling(term) == spelling(column):
                found.append(np.ones(()))
            elif _JUMPS.search(term):
                raise OptionError(_DIFFERENCE.format(f"{term} jumps", column))
            else:
                here = np.asarray(_look(given, column), dtype=float)
                up, down = (_given(term, {**given, column: here + sign * step}) for sign in (1, -1))
                found.append((up - down) / (2 * step))
        rows: np.ndarray = np.stack(np.broadcast_arrays(*found), axis=-1)
        return rows

    def _step(self, column: str) -> float:
        """How far two points of a column are apart, between which the response is taken for a line."""
        dataset = self.coefficients.leaves()[0].dataset
        declared = [] if dataset is None else [one for one in dataset.schema.columns if one.name == column]
        if declared and not declared[0].numeric:
            raise OptionError(_DIFFERENCE.format(f"{column} is a category and has no unit", column))
        return float(np.ptp(np.array(declared[0].bounds, dtype=float))) * 1e-4 if declared else 1e-3

    def plot(self, **options: Any) -> Any:
        """Draw the coefficients without the intercept, with both intervals; see :meth:`dpnb.estimate.Estimate.plot` for the options."""
        slopes = [place for place, term in enumerate(self.terms) if term != INTERCEPT]
        return (self.coefficients[slopes] if slopes else self.coefficients).plot(**options)

    def _declared(self, given: Mapping[str, ArrayLike]) -> None:
        """Refuse a value that a category does not have: nobody would notice that it counted as the first."""
        dataset = self.coefficients.leaves()[0].dataset
        for column in () if dataset is None else dataset.schema.columns:
            if column.values is not None and column.name in given:
                unknown = set(np.ravel(given[column.name]).tolist()) - set(column.values)
                if unknown:
                    raise OptionError(
                        f"{column.name} is declared {column.describe()}: it has no value {min(unknown, key=str)!r}."
                    )

    def _inside(self, given: Mapping[str, ArrayLike]) -> None:
        """Refuse a value where no row can be, unless that is meant."""
        dataset = self.coefficients.leaves()[0].dataset
        for column in () if dataset is None else dataset.schema.columns:
            if not column.numeric or column.calendar is not None or column.name not in given:
                continue
            low, high = map(float, column.bounds)
            try:
                beyond = [
                    one
                    for one in np.ravel(np.asarray(given[column.name], dtype=float))
                    if not low <= one <= high
                ]
            except (TypeError, ValueError):
                continue
            if beyond:
                raise OptionError(
                    f"{column.name} is declared {plainly(low)} to {plainly(high)}: no row lies at {plainly(float(beyond[0]))}. "
                    "To extend the line there, write predict(…, extrapolate=True)."
                )

    def table(self, level: float = 0.95) -> Table:
        """Plain columns: terms, coefficients and both intervals, standard errors, t and p; ``.to_frame()`` gives a DataFrame."""
        found = self.coefficients.table(level)
        for name, column in (("std_err", self.standard_errors), ("t", self.t_values), ("p", self.p_values)):
            if column is not None:
                found.columns[name] = tuple(np.asarray(column).tolist())
        return found

    def _plain(self, level: float) -> Record:
        return {
            "formula": self.formula,
            "n": self.n,
            "r_squared": plain_number(self.r_squared),
            "residual_sd": plain_number(self.residual_sd),
            "flags": list(self.flags),
            "terms": rows(self.table(level)),
        }

    def facts(self) -> tuple[str, ...]:
        """Size, fit and cost, as the summary says them."""
        fit = self._fit()
        rows_text = "public" if fit.crossed.rows is not None else "released"
        return (
            f"n {self.n:,.0f} ({rows_text})",
            f"R² {fit.r_squared:.3f}",
            f"residual sd {number(fit.residual_sd)}",
            f"computed from sums of products of {_columns_of(self.coefficients.leaves()[0])} ({self.coefficients.loss})",
        )

    def notes(self) -> tuple[str, ...]:
        """What a reader of the summary must know."""
        fit = self._fit()
        robust = isinstance(fit, RobustFit)
        found = [
            "Errors may have unequal variances (HC1)."
            if robust
            else "Assumes equal error variances; cov_type='HC1' does not."
        ]
        if INTERCEPT not in self.terms:
            found.append("Without an intercept R² is about zero, not about the mean.")
        found += filter(None, [getattr(self.coefficients.outcome, "declared", "")])
        return (*found, MOVED) if fit.crossed.moved else tuple(found)

    def advice(self) -> list[str]:
        """How to write squares that go together with their own column so closely that noise hides the difference."""
        dataset = self.coefficients.leaves()[0].dataset
        if dataset is None or not {"singular", "ill-conditioned"} & set(self.flags):
            return []
        squared = [
            one
            for one in dataset.schema.columns
            if one.numeric and {one.name, f"{one.name}**2"} <= set(self.terms)
        ]
        return [
            f"Write ({one.name} - {float(sum(one.bounds) / 2):g})**2 for {one.name}**2: the model is the same, and noise "
            "tells the two columns apart far more easily."
            for one in squared
            if sum(one.bounds)
        ]

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of the regression."""
        return _summary(self, level)

    def __repr__(self) -> str:
        if self.pending:
            return f"<pending regression {self.formula}, read from {self.coefficients.leaves()[0].text}>"
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" if self.pending else self.summary()._repr_html_()


def _known(found: ArrayLike | None) -> np.ndarray:
    if found is None:
        raise Unavailable(CLUSTERED)
    return np.asarray(found)


def _given(term: str, given: Mapping[str, ArrayLike]) -> np.ndarray:
    """The values of a term, computed from those of its columns, or given for the term itself."""
    own = {spelling(name): one for name, one in given.items()}
    try:
        known = spelling(term) in own
        return np.asarray(
            own[spelling(term)] if known else value(term, lambda name: _look(given, name)), dtype=float
        )
    except OptionError:
        raise
    except (AttributeError, TypeError, ValueError):
        raise OptionError(
            f"predict() cannot compute {term} from these values. Give it itself: .predict({{{term!r}: 1}})."
        ) from None


def _columns_of(moments: PendingQuestion) -> str:
    """The columns of the moments behind a regression; without the dataset's name, which need not be that of the variable that holds it."""
    own = "" if moments.dataset is None else re.split(r"\W", moments.question.subset)[0] + "."
    return ", ".join(name.replace(own, "") if own else name for name in moments.checked.setting.names)


def _look(given: Mapping[str, ArrayLike], name: str) -> np.ndarray:
    if name not in given:
        raise OptionError(f"This needs a value of {name}: write {name}=….")
    return np.asarray(given[name])


def _summary(regression: Regression, level: float) -> Summary:
    """Return the table of a released regression at a level."""
    estimate = regression.coefficients
    privacy = estimate.interval(level, "privacy")
    low = high = errors = t = p = None
    notes = []
    try:
        low, high = estimate.interval(level, "confidence")
        errors, t, p = regression.standard_errors, regression.t_values, regression.p_values
    except Unavailable as reason:
        notes.append(str(reason))
    columns = [estimate.value, errors, t, p, low, high, privacy.half_width]
    rows = tuple(
        (
            term,
            *(_cell(None if column is None else column[place]) for column in columns[:3]),
            "–" if p is None else _p_cell(regression.tested, place),
            *(_cell(None if column is None else column[place]) for column in columns[4:]),
        )
        for place, term in enumerate(regression.terms)
    )
    percent = f"{plainly(100 * level)} %"
    return Summary(
        f"{regression.method} of {regression.formula}",
        regression.facts(),
        ("", "coef", "std err", "t", "p", f"[{percent}", f"{percent}]", "privacy ±"),
        rows,
        (
            "Standard errors and intervals include sampling and noise; privacy ± is what the noise alone hides about this dataset.",
            *regression.notes(),
            *notes,
            *(f"{flag}: {FLAG_WORDS[flag]}." for flag in regression.flags if flag in FLAG_WORDS),
            *regression.advice(),
        ),
    )


def _p_cell(test: HypothesisTest, place: int) -> str:
    return (
        p_text(float(test.p_value[place]), bounded=bool(test.bounded[place])).removeprefix("p ").lstrip("= ")
    )


def _cell(found: float | None) -> str:
    if found is None or math.isnan(found):
        return "–"
    return f"{found:.4g}".replace("inf", "∞")
