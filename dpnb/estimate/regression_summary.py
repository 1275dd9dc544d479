"""A regression as an analyst holds it: coefficients that are estimates, and the table that people expect of a regression.

Nothing here is computed from rows: all of it follows from the released matrix. Standard errors hold sampling and noise
together; p is that of the interval, which knows the noise, so that no other p stands beside it; t is for the eye. What cannot be said (a person may have several
rows; noise could have made the matrix singular) is said in words, in the same shape.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.hypothesis import HypothesisTest, p_text
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.estimate.table import Table, Tabular, aligned, rows, tabular
from dpnb.inference.digits import given as plainly
from dpnb.inference.digits import number
from dpnb.inference.elementwise import Number
from dpnb.inference.interval import Interval, Kind, plain_number
from dpnb.statistics.declared_coefficients import Bounds, Priors
from dpnb.statistics.formula import INTERCEPT, parse
from dpnb.statistics.formula_terms import spelling, value
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.regression import Fit
from dpnb.statistics.regression_readings import Fitted
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
    asked = parse(formula)
    options: dict[str, Any] = {} if bounds is None else {"bounds": bounds}
    options |= {} if prior is None else {"prior": prior}
    options |= {} if cov_type == CLASSICAL else {"cov_type": cov_type}
    return Regression(self.coefficients(asked.text, **options), asked.text, self)  # type: ignore[attr-defined]


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

    def _fit(self) -> Fit:
        self.coefficients.value  # noqa: B018 -- raises what a pending estimate raises
        outcome = self.coefficients.outcome
        assert isinstance(outcome, Fitted)
        assert outcome.fit is not None
        return outcome.fit

    @property
    def standard_errors(self) -> Number:
        """Standard errors, sampling and noise together; None where rows are not people; infinite where nothing is known."""
        found = self.coefficients.standard_error
        return np.full(len(self.terms), math.inf) if found is not None and self._fit().lost else found

    @property
    def t_values(self) -> Number:
        """Coefficients over their standard errors."""
        errors = self.standard_errors
        return None if errors is None else np.asarray(self.coefficients.value) / errors

    @property
    def p_values(self) -> Number:
        """Two-sided p-values of no effect: those of ``coefficients.test()``, by the same intervals; none is told below 0.002."""
        return None if self.standard_errors is None else np.asarray(self._tested.p_value)

    @property
    def _tested(self) -> HypothesisTest:
        """The test of each coefficient against zero, made once."""
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
        """Coefficients over their standard errors; see :attr:`bse`."""
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
        self._declared(given)
        if not extrapolate:
            self._inside(given)
        terms = [1.0 if term == INTERCEPT else _given(term, given) for term in self.terms]
        try:
            rows = np.stack(np.broadcast_arrays(*terms), axis=-1)
        except ValueError:
            raise OptionError("predict() takes numbers, and arrays of one length.") from None
        found: Estimate = self.coefficients.__rmatmul__(rows)
        return found

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

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of the regression."""
        return summary_of(self, level)

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

    def look(name: str) -> Any:
        if name not in given:
            raise OptionError(f"predict() needs a value of {name}: .predict({name}=…).")
        return np.asarray(given[name])

    try:
        return np.asarray(own[spelling(term)] if spelling(term) in own else value(term, look), dtype=float)
    except OptionError:
        raise
    except (AttributeError, TypeError, ValueError):
        raise OptionError(
            f"predict() cannot compute {term} from these values. Give it itself: .predict({{{term!r}: 1}})."
        ) from None


@dataclass(frozen=True)
class Summary:
    """The table of a regression: text, and HTML where that is shown.

    Parameters
    ----------
    title : str
        What was regressed.
    facts : tuple of str
        Size, fit and cost.
    head : tuple of str
        The names of the columns.
    rows : tuple of tuple of str
        One row for each coefficient.
    notes : tuple of str
        What a reader must know.
    """

    title: str
    facts: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        lines = aligned((self.head, *self.rows))
        rule = "-" * max(map(len, lines))
        return "\n".join(
            [self.title, "; ".join(self.facts), rule, lines[0], rule, *lines[1:], rule, *self.notes]
        )

    def as_text(self) -> str:
        """The table as text."""
        return repr(self)

    def as_html(self) -> str:
        """The table as HTML."""
        return self._repr_html_()

    def as_latex(self) -> str:
        """The table as LaTeX, for a paper: a tabular of the package booktabs, with its notes below."""
        found = tabular(self.head, self.rows, "l" + "r" * (len(self.head) - 1), self.notes)
        return f"% {self.title}; {'; '.join(self.facts)}\n{found}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        facts = html.escape("; ".join(self.facts))
        return (
            f"<div><p><strong>{html.escape(self.title)}</strong><br>{facts}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"
        )


def summary_of(regression: Regression, level: float) -> Summary:
    """Return the table of a released regression at a level."""
    fit = regression._fit()  # noqa: SLF001 -- the same object in two views
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
            "–" if p is None else _p_cell(regression._tested, place),  # noqa: SLF001
            *(_cell(None if column is None else column[place]) for column in columns[4:]),
        )
        for place, term in enumerate(regression.terms)
    )
    percent = f"{100 * level:g} %"
    root = estimate.leaves()[0]
    rows_text = "public" if fit.crossed.rows is not None else "released"
    return Summary(
        f"Least squares of {regression.formula}",
        (
            f"n {regression.n:,.0f} ({rows_text})",
            f"R² {fit.r_squared:.3f}",
            f"residual sd {number(fit.residual_sd)}",
            f"read from the moments of {_columns_of(root)} ({estimate.loss})",
        ),
        ("", "coef", "std err", "t", "p", f"[{percent}", f"{percent}]", "privacy ±"),
        rows,
        (
            "Standard errors and intervals include sampling and noise; privacy ± is what the noise alone hides about this dataset.",
            "Errors may have unequal variances (HC1)."
            if isinstance(fit, RobustFit)
            else "Assumes equal error variances; cov_type='HC1' does not.",
            *(
                ()
                if INTERCEPT in regression.terms
                else ("Without an intercept R² is about zero, not about the mean.",)
            ),
            *filter(None, (getattr(estimate.outcome, "declared", ""),)),
            *((MOVED,) if fit.crossed.moved else ()),
            *notes,
            *(f"{flag}: {FLAG_WORDS[flag]}." for flag in regression.flags),
            *_advice(regression),
        ),
    )


def _columns_of(moments: PendingQuestion) -> str:
    """The columns of the moments behind a regression; without the dataset's name, which need not be that of the variable that holds it."""
    own = "" if moments.dataset is None else re.split(r"\W", moments.question.subset)[0] + "."
    return ", ".join(name.replace(own, "") if own else name for name in moments.checked.setting.names)


def _advice(regression: Regression) -> list[str]:
    """Say how to write squares that go together with their own column so closely that noise hides the difference."""
    dataset = regression.coefficients.leaves()[0].dataset
    if dataset is None or not {"singular", "ill-conditioned"} & set(regression.flags):
        return []
    squared = [
        one
        for one in dataset.schema.columns
        if one.numeric and {one.name, f"{one.name}**2"} <= set(regression.terms)
    ]
    return [
        f"Write ({one.name} - {float(sum(one.bounds) / 2):g})**2 for {one.name}**2: the model is the same, and noise "
        "tells the two columns apart far more easily."
        for one in squared
        if sum(one.bounds)
    ]


def _p_cell(test: HypothesisTest, place: int) -> str:
    return (
        p_text(float(test.p_value[place]), bounded=bool(test.bounded[place])).removeprefix("p ").lstrip("= ")
    )


def _cell(found: float | None) -> str:
    if found is None or math.isnan(found):
        return "–"
    return f"{found:.4g}".replace("inf", "∞")
