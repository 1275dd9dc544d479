"""Tests of hypotheses about released numbers: a p-value, what it says in words, and what it rests on.

A test asks nothing and costs nothing: it reads what was released. Like an estimate it may be written before the release, and has
its value after. It never calls a null hypothesis true, and gives no p-value below what it resolves. Nothing here looks at a row.

A z test inverts: its p-value is the largest ``1 - level`` at which an estimate's interval still holds the null value.

Test and interval can therefore never disagree, and the level of the test is what the coverage of the interval is, noise included:
for means and proportions, differences of two groups, and whatever else has an interval. What has none has no test, for the reason
that the interval gives; a null outside the declared range is refused. A one-sided p-value is half of the two-sided one on its own
side, as the errors are symmetric. Intervals made of draws, and intervals of one level, resolve small p-values no further than they
say: beyond that, p is at most and the deviate at least what is shown. The p-values of a regression's table are these too.

References
----------
Holm, *A simple sequentially rejective multiple test procedure* (1979).

Lehmann & Romano, *Testing statistical hypotheses*, §3.5 (duality of tests and confidence sets).
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.draws import DRAWN, EXACT, least_alpha, percentile_alpha
from dpnb.estimate.evaluate import IntervalEstimate
from dpnb.inference.digits import given
from dpnb.inference.elementwise import Number, Truth
from dpnb.inference.interval import Kind
from dpnb.inference.spread import normal_quantile
from dpnb.inference.wald import wald
from dpnb.statistics.formula import INTERCEPT
from dpnb.statistics.hypotheses import constraints
from dpnb.trusted.canonical import Record

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test found.

    Parameters
    ----------
    p_value, statistic : float or ndarray
        One for each component.
    smallest : float
        p-values are not resolved below this.
    df : int or None
        Degrees of freedom of a chi-square test.
    basis : str
        What the p-value rests on.
    bounded : bool or ndarray
        Whether the two-sided p-value is beyond what is resolved: then it is at most `smallest`, and a z at least as far from 0 as
        `statistic`.
    """

    p_value: Number
    statistic: Number
    smallest: float
    df: int | None
    basis: str
    bounded: Truth = False


class HypothesisTest:
    """A test of released numbers; pending until they are released.

    Parameters
    ----------
    estimate : Estimate
        What is tested.
    hypothesis : str
        The null hypothesis in words.
    run : callable
        ``run(estimate)`` returns a :class:`Tested`; called once, after the release.
    name : str
        What the test is called.
    """

    __test__ = False
    __slots__ = ("__weakref__", "_found", "_run", "estimate", "hypothesis", "name")

    def __init__(
        self,
        estimate: IntervalEstimate,
        hypothesis: str,
        run: Callable[[Any], Tested],
        *,
        name: str = "z test",
    ) -> None:
        self.estimate = estimate
        self.hypothesis = hypothesis
        self.name = name
        self._run = run
        self._found: Tested | None = None

    def _result(self) -> Tested:
        if self._found is None:
            _ = self.estimate.value  # says what to do while it is pending
            self._found = self._run(self.estimate)
        return self._found

    @property
    def p_value(self) -> Number:
        """How often a result at least as far from the null would be seen if it were true; one for each component."""
        return self._result().p_value

    @property
    def statistic(self) -> Number:
        """The test statistic; of a z test the standard normal deviate that has this p-value, or at least as far from 0 (`bounded`)."""
        return self._result().statistic

    @property
    def bounded(self) -> Truth:
        """Whether the p-value is beyond what is resolved, so that p and z are bounds and no values; one for each component."""
        return self._result().bounded

    @property
    def df(self) -> int | None:
        """Degrees of freedom of a chi-square test."""
        return self._result().df

    @property
    def basis(self) -> str:
        """What the p-value rests on."""
        return self._result().basis

    @property
    def adjusted(self) -> Number:
        """The p-values of several components for all of them together (Holm)."""
        values = np.asarray(self.p_value, dtype=float)
        found = holm(values.ravel()).reshape(values.shape)
        return float(found) if found.ndim == 0 else found

    def rejects(self, alpha: float = 0.05) -> Truth:
        """Tell whether the null is rejected at a level; one answer for each component."""
        if not 0 < alpha < 1:
            raise OptionError(f"alpha lies between 0 and 1, such as 0.05; not {alpha!r}.")
        verdict = np.asarray(self.p_value) <= alpha
        return bool(verdict) if verdict.ndim == 0 else verdict

    def conclusion(self, alpha: float = 0.05) -> str:
        """Say in words what the test found."""
        rejected = np.atleast_1d(self.rejects(alpha))
        if rejected.size == 1:
            if rejected.all():
                return f"Rejected at {_percent(alpha)}: if the null were true, data like these would be rare."
            return f"Not rejected at {_percent(alpha)}: noise and sample leave the null open. That does not show it to be true."
        count, alone = int(rejected.sum()), int((np.asarray(self.adjusted) <= alpha).sum())
        return (
            f"{count} of {rejected.size} rejected at {_percent(alpha)}, each for itself; {alone} when all are tested "
            f"together (Holm)."
        )

    def to_dict(self) -> Record:
        """Everything as plain JSON values."""
        found = self._result()
        return {
            "test": self.name,
            "of": self.estimate.text,
            "null": self.hypothesis,
            "p_value": np.asarray(found.p_value).tolist(),
            "statistic": np.asarray(found.statistic).tolist(),
            "bounded": np.asarray(found.bounded).tolist(),
            "df": found.df,
            "smallest_p_value": found.smallest,
            "basis": found.basis,
        }

    def _lines(self) -> list[str]:
        found = self._result()
        title = f"{self.name} of {self.estimate.text}"
        texts = [
            p_text(float(p), bounded=bool(b))
            for p, b in zip(
                np.ravel(found.p_value)[:_SHOWN],
                np.ravel(np.broadcast_to(found.bounded, np.shape(found.p_value))),
                strict=False,
            )
        ]
        if np.ndim(found.p_value) == 0:
            line = f"{texts[0]}   ({_statistic_text(found)})"
        else:
            more = np.size(found.p_value) - _SHOWN
            line = ", ".join(texts) + (f", … {more:,} more" if more > 0 else "")
        return [title, f"null: {self.hypothesis}", line, self.conclusion(), found.basis]

    def __repr__(self) -> str:
        if self.estimate.pending:
            return f"<pending {self.name} of {self.estimate.text}>"
        try:
            return "\n  ".join(self._lines())
        except Unavailable as reason:
            return f"<{self.name} of {self.estimate.text}: {reason}>"

    def _repr_html_(self) -> str:
        first, *rest = repr(self).split("\n  ")
        return f"<p><strong>{html.escape(first)}</strong></p>" + "".join(
            f"<p>{html.escape(line)}</p>" for line in rest
        )


def p_text(p_value: float, *, bounded: bool) -> str:
    """Write a p-value; one that is only bounded as the bound that it is.

    Examples
    --------
    >>> p_text(0.002, bounded=True), p_text(0.9985, bounded=True), p_text(0.03, bounded=False)
    ('p ≤ 0.002', 'p ≥ 0.9985', 'p = 0.03')
    """
    if not bounded:
        return f"p = {p_value:.3g}"
    return f"p ≤ {p_value:.2g}" if p_value <= 0.5 else f"p ≥ {p_value:.6g}"


def _statistic_text(found: Tested) -> str:
    if found.df is not None:
        return f"χ² = {float(found.statistic):.4g}, df {found.df}"
    if found.bounded:
        return f"|z| ≥ {abs(float(found.statistic)):.3g}"
    return f"z = {float(found.statistic):.4g}"


def _percent(alpha: float) -> str:
    return f"{100 * alpha:g} %"


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for being tested together.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    steps = (p_values.size - np.arange(p_values.size)) * p_values[order]
    found = np.empty(p_values.size)
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found


Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")

_LARGEST = 0.999
_CLOSE = 1e-4
_ONE_LEVEL = 0.05
_ABOUT = {"confidence": "the population", "privacy": "this dataset"}


def z_test(estimate: IntervalEstimate, null: ArrayLike, kind: Kind, alternative: str) -> HypothesisTest:
    """Return the test of an estimate against a null value; see :meth:`dpnb.estimate.Estimate.test`.

    Parameters
    ----------
    estimate : Estimate
    null : float, or array of the estimate's shape
        The value under the null hypothesis.
    kind : {"confidence", "privacy"}
        About the population, or about this dataset.
    alternative : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    """
    if kind not in _ABOUT:
        raise OptionError(f'No test of kind {kind!r}. Use kind="confidence" or kind="privacy".')
    if alternative not in ALTERNATIVES:
        raise OptionError(
            f"alternative= is one of {', '.join(map(repr, ALTERNATIVES))}, not {alternative!r}."
        )
    if isinstance(null, bool | str) or null is None:
        raise OptionError("null= is a number, or one for each component.")
    at = np.asarray(null, dtype=float)
    if not np.isfinite(at).all():
        raise OptionError("null= is a finite number.")
    one = at.ndim == 0
    value = given(float(at)) if one else "the given values"
    run = partial(_inverted, at=at, kind=kind, alternative=alternative)
    side = {"two-sided": "", "greater": " at most", "less": " at least"}[alternative]
    return HypothesisTest(estimate, f"{estimate.text} is{side} {value} in {_ABOUT[kind]}", run)


def _inverted(estimate: IntervalEstimate, at: np.ndarray, kind: Kind, alternative: str) -> Tested:
    value = np.asarray(estimate.value, dtype=float)
    try:
        null = np.broadcast_to(at, value.shape)
    except ValueError:
        raise OptionError(f"null= has shape {at.shape}, the estimate {value.shape}.") from None
    _inside_domain(estimate, null)
    estimate.interval(0.95, kind)  # raises the reason where there is none
    smallest, both = _both_sides(estimate, null, kind)
    above = value > null
    p_value = both
    if alternative != "two-sided":
        favoured = above if alternative == "greater" else value < null
        p_value = np.where(favoured, both / 2, 1 - both / 2)
    deviate = np.vectorize(_deviate, otypes=[float])(both) * np.where(above, 1.0, -1.0)
    basis = (
        "By inversion of the interval, which knows the noise; rows are taken as independent draws from the population."
        if kind == "confidence"
        else "By inversion of the privacy interval: the noise alone, nothing about a population."
    )
    if value.ndim == 0:
        return Tested(float(p_value), float(deviate), smallest, None, basis, bounded=bool(both <= smallest))
    return Tested(p_value, deviate, smallest, None, basis, bounded=both <= smallest)


def _both_sides(estimate: IntervalEstimate, null: np.ndarray, kind: Kind) -> tuple[float, np.ndarray]:
    """Return the smallest p-value that is resolved, and the two-sided p-value of each component."""
    smallest = least_alpha(estimate)
    at_once = percentile_alpha(estimate, null, kind)
    if at_once is not None:
        return smallest, np.maximum(at_once, smallest)
    pairs = [_limits(estimate, place, kind) for place in np.ndindex(null.shape)]
    smallest = max(_resolved(limits, smallest) for limits in pairs)
    found = [largest_alpha(f, float(x), smallest) for f, x in zip(pairs, null.ravel(), strict=True)]
    return smallest, np.asarray(found).reshape(null.shape)


def _deviate(p_value: float) -> float:
    return abs(normal_quantile(p_value / 2)) if p_value < 1 else 0.0


def wald_test(coefficients: IntervalEstimate, hypothesis: str | None, kind: Kind) -> HypothesisTest:
    """Return the test of linear hypotheses about the coefficients of a fit together.

    Parameters
    ----------
    coefficients : Estimate
        Whose axis names the terms.
    hypothesis : str or None
        Equations; see :func:`dpnb.statistics.hypotheses.constraints`. Nothing for all terms but the intercept.
    kind : {"confidence", "privacy"}
        About the population, or about this dataset.
    """
    if kind not in _ABOUT:
        raise OptionError(f'No test of kind {kind!r}. Use kind="confidence" or kind="privacy".')
    terms = tuple(map(str, coefficients.keys))
    if hypothesis is None:
        slopes = [term for term in terms if term != INTERCEPT]
        if not slopes:
            raise OptionError(
                "Nothing but an intercept is fitted: name a hypothesis, such as 'Intercept = 0'."
            )
        hypothesis = " = ".join([*slopes, "0"])
    matrix, right = constraints(hypothesis, terms)
    run = partial(_wald, matrix=matrix, right=right, kind=kind)
    return HypothesisTest(coefficients, f"{hypothesis} in {_ABOUT[kind]}", run, name="Wald test")


def _wald(coefficients: IntervalEstimate, matrix: np.ndarray, right: np.ndarray, kind: Kind) -> Tested:
    coefficients.interval(0.95, kind)  # raises the reason where there is none
    fit: Any = coefficients.outcome.fit  # type: ignore[union-attr]
    basis = "Wald's statistic against draws of its errors, noise and sampling together."
    if kind == "privacy":
        basis = "Wald's statistic against draws of the noise alone, nothing about a population."
    if fit.lost:
        lost = f"{basis} Nothing bounds the coefficients: any hypothesis is possible."
        return Tested(1.0, 0.0, DRAWN, len(right), lost)
    statistic, p_value = wald(matrix @ fit.coefficients - right, fit.together(kind) @ matrix.T)
    return Tested(max(p_value, DRAWN), statistic, DRAWN, len(right), basis, bounded=p_value <= DRAWN)


def _inside_domain(estimate: IntervalEstimate, null: np.ndarray) -> None:
    domain = (-math.inf, math.inf) if estimate.outcome is None else estimate.outcome.domain
    for end, beyond in zip(domain, (np.less, np.greater), strict=True):
        if np.any(beyond(null, end)):
            low, high = map(given, domain)
            raise OptionError(
                f"{estimate.text} lies between {low} and {high} as declared: test a value between them."
            )


Limits = Callable[[float], tuple[float, float]]


def _limits(estimate: IntervalEstimate, place: tuple[int, ...], kind: Kind) -> Limits:
    """Return the interval of one component as a function of ``alpha``."""

    def limits(alpha: float) -> tuple[float, float]:
        low, high = estimate.interval(1 - alpha, kind)
        return float(np.asarray(low)[place]), float(np.asarray(high)[place])

    return limits


def _resolved(limits: Limits, smallest: float) -> float:
    """Return the smallest p-value that can be told: some intervals have one level."""
    try:
        limits(smallest)
    except Unavailable:
        return _ONE_LEVEL
    return smallest


def largest_alpha(limits: Limits, null: float, smallest: float = EXACT) -> float:
    """Return the largest ``alpha`` at which the interval of level ``1 - alpha`` holds the null: its p-value.

    Parameters
    ----------
    limits : callable
        ``limits(alpha)`` returns both ends of the interval of level ``1 - alpha``; intervals are nested.
    null : float
        The null value.
    smallest : float
        The smallest ``alpha`` that is looked at.

    Examples
    --------
    >>> round(largest_alpha(lambda alpha: (alpha - 1, 1 - alpha), 0.25), 3)
    0.75
    """

    def holds(alpha: float) -> bool:
        low, high = limits(alpha)
        return low <= null <= high

    if holds(_LARGEST):
        return 1.0
    if not holds(smallest):
        return smallest
    inside, outside = math.log(smallest), math.log(_LARGEST)
    while outside - inside > _CLOSE:
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if holds(math.exp(middle)) else (inside, middle)
    return math.exp(outside)
