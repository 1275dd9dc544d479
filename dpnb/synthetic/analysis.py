"""Analyses of one synthetic table, and what they need: an estimate, its variance, and the columns that it touches at once.

Variances are those of a simple sample of rows, robust against unequal variances (White).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference.elementwise import Floats
from dpnb.statistics.formula import INTERCEPT, Formula
from dpnb.statistics.formula_terms import value

Answer = tuple[Any, Any]
Columns = dict[str, np.ndarray]
_STEPS = 50
_RETURNS = (
    "The function returns an estimate and its variance, of one size for every table: "
    "lambda frame: (frame.age.mean(), frame.age.var() / len(frame))."
)


class Values(np.ndarray):
    """A column's values, which can be asked what a condition of a formula asks."""

    def isin(self, listed: Iterable[object]) -> np.ndarray:
        """Return where the value is one of these."""
        return np.isin(np.asarray(self), np.asarray(list(listed)))

    def between(self, low: object, high: object) -> np.ndarray:
        """Return where the value lies between two, ends included."""
        return np.asarray((self >= low) & (self <= high))


def touched(terms: Iterable[str], known: Sequence[str]) -> list[set[str]]:
    """Return which columns each of some terms needs.

    Raises
    ------
    OptionError
        If one names a column that is not there.
    """
    found: list[set[str]] = []

    def look(name: str) -> Values:
        if name not in known:
            raise OptionError(f"{name} is not among the columns: {', '.join(known)}.")
        found[-1].add(name)
        return np.zeros(1).view(Values)

    for term in terms:
        found.append(set())
        value(term, look)
    return found


def evaluated(term: str, columns: Columns) -> Floats:
    """Return what a term comes to in each row."""
    found = np.asarray(value(term, lambda name: columns[name].view(Values)))
    if found.dtype == object:
        raise PlanError(f"{term} is no number and no condition: write for example ({term} == …).")
    return np.broadcast_to(found.astype(float), (len(next(iter(columns.values()))),))


def mean(values: Floats) -> Answer:
    """Return the mean and its variance."""
    return float(values.mean()), float(values.var()) / len(values)


def difference(values: Floats, second: np.ndarray) -> Answer:
    """Return the mean where a condition holds less the mean where it does not."""
    first, other = values[second], values[~second]
    if not len(first) or not len(other):
        return np.nan, np.nan
    return float(first.mean() - other.mean()), float(first.var() / len(first) + other.var() / len(other))


def least_squares(formula: Formula, columns: Columns) -> Answer:
    """Return least-squares coefficients and their variances."""
    y, x = _sides(formula, columns)
    inverse = np.asarray(np.linalg.pinv(x.T @ x), dtype=float)
    found = inverse @ (x.T @ y)
    return found, _sandwich(inverse, x, y - x @ found)


def logistic(formula: Formula, columns: Columns) -> Answer:
    """Return log odds by maximum likelihood and their variances; undefined where there is no maximum."""
    y, x = _sides(formula, columns)
    if not set(np.unique(y)) <= {0.0, 1.0}:
        raise OptionError(
            f"A logistic regression explains a 0/1 column or a condition, not {formula.response}."
        )
    found = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        inverse = np.asarray(np.linalg.pinv((x * (p * (1 - p))[:, None]).T @ x), dtype=float)
        step = inverse @ (x.T @ (y - p))
        found = found + np.clip(step, -4, 4)
        if np.abs(step).max() < 1e-8:
            return found, _sandwich(inverse, x, y - p)
    return np.full(x.shape[1], np.nan), np.full(x.shape[1], np.nan)


def _sides(formula: Formula, columns: Columns) -> tuple[Floats, Floats]:
    y = evaluated(formula.response, columns)
    terms = [np.ones(len(y)) if one == INTERCEPT else evaluated(one, columns) for one in formula.coefficients]
    return y, np.column_stack(terms)


def _sandwich(inverse: Floats, x: Floats, rest: Floats) -> Floats:
    return np.asarray(np.einsum("ij,jk,ki->i", inverse, (x * (rest**2)[:, None]).T @ x, inverse))


def entries(found: Sequence[Answer]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return names, estimates and variances of the answers of all tables, ``(tables, entries)``.

    Raises
    ------
    OptionError
        If an answer is not an estimate and its variance, of one size in every table.
    """
    try:
        first = found[0][0]
        named = first if isinstance(first, Mapping) else getattr(first, "index", ())
        estimates, variances = (
            np.array([np.atleast_1d(_numbers(side)) for side in sides])
            for sides in zip(*((one, other) for one, other in found), strict=True)
        )
    except (TypeError, ValueError):
        raise OptionError(_RETURNS) from None
    if estimates.ndim != 2 or estimates.shape != variances.shape:
        raise OptionError(_RETURNS)
    names = tuple(map(str, named))
    if not names and np.ndim(first):
        names = tuple(str(place + 1) for place in range(estimates.shape[1]))
    return names, estimates, variances


def _numbers(side: Any) -> Floats:
    return np.asarray(list(side.values()) if isinstance(side, Mapping) else side, dtype=float)


Analysis = Callable[[Columns], Answer]
