"""z tests by inversion: the p-value is the largest ``1 - level`` at which an estimate's interval still holds the null value.

Test and interval can therefore never disagree, and the level of the test is what the coverage of the interval is, noise included:
for means and proportions, differences of two groups, and whatever else has an interval. What has none has no test, for the reason
that the interval gives; a null outside the declared range is refused. A one-sided p-value is half of the two-sided one on its own
side, as the errors are symmetric. Intervals made of draws, and intervals of one level, resolve small p-values no further than they
say: beyond that, p is at most and the deviate at least what is shown. The p-values of a regression's table are these too.

References
----------
Lehmann & Romano, *Testing statistical hypotheses*, §3.5 (duality of tests and confidence sets).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.hypothesis import HypothesisTest, Tested
from dpnb.inference.digits import given
from dpnb.inference.spread import normal_quantile

if TYPE_CHECKING:
    from dpnb.estimate import Estimate

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")

_SMALLEST = 1e-12
_LARGEST = 0.999
_CLOSE = 1e-4
_DRAWN = 2e-3
_ONE_LEVEL = 0.05
_ABOUT = {"confidence": "the population", "privacy": "this dataset"}


def z_test(estimate: Estimate, null: Any, kind: str, alternative: str) -> HypothesisTest:
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


def _inverted(estimate: Any, at: np.ndarray, kind: str, alternative: str) -> Tested:
    value = np.asarray(estimate.value, dtype=float)
    try:
        null = np.broadcast_to(at, value.shape)
    except ValueError:
        raise OptionError(f"null= has shape {at.shape}, the estimate {value.shape}.") from None
    _inside_domain(estimate, null)
    estimate.interval(0.95, kind)  # raises the reason where there is none
    pairs = [_limits(estimate, place, kind) for place in np.ndindex(value.shape)]
    smallest = max(_resolved(estimate, limits) for limits in pairs)
    both = np.asarray(
        [largest_alpha(f, float(x), smallest) for f, x in zip(pairs, null.ravel(), strict=True)]
    )
    both = both.reshape(value.shape)
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


def _deviate(p_value: float) -> float:
    return abs(normal_quantile(p_value / 2)) if p_value < 1 else 0.0


def _inside_domain(estimate: Any, null: np.ndarray) -> None:
    domain = getattr(estimate.outcome, "domain", None) or (None, None)
    for end, beyond in zip(domain, (np.less, np.greater), strict=True):
        if end is not None and np.any(beyond(null, end)):
            low, high = (given(float(d)) for d in domain if d is not None)
            raise OptionError(
                f"{estimate.text} lies between {low} and {high} as declared: test a value between them."
            )


Limits = Callable[[float], tuple[float, float]]


def _limits(estimate: Any, place: tuple[int, ...], kind: str) -> Limits:
    """Return the interval of one component as a function of ``alpha``: of its own cell, where there is one."""
    cells = getattr(estimate.outcome, "cells", None)
    if cells is not None:
        cell = cells[int(np.ravel_multi_index(place, estimate.shape)) if place else 0]
        find = cell.privacy if kind == "privacy" else cell.confidence
        return lambda alpha: find(1 - alpha)

    def limits(alpha: float) -> tuple[float, float]:
        low, high = estimate.interval(1 - alpha, kind)
        return float(np.asarray(low)[place]), float(np.asarray(high)[place])

    return limits


def _resolved(estimate: Any, limits: Limits) -> float:
    """Return the smallest p-value that can be told: draws end somewhere, and some intervals have one level."""
    drawn = estimate.op is not None or getattr(estimate.outcome, "drawn", False)
    smallest = _DRAWN if drawn else _SMALLEST
    try:
        limits(smallest)
    except Unavailable:
        return _ONE_LEVEL
    return smallest


def largest_alpha(limits: Limits, null: float, smallest: float = _SMALLEST) -> float:
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
