r"""Naive Bayes: columns are independent given the class.

:math:`\log P(k \mid x) = \log π_k + \sum_j \log P(x_j \mid k) + c`. The categorical one reads a small table of each column by class, the Gaussian one
means and variances from the middles of the same tables' bins: from counts they have less noise than asked one by one, and what the noise makes
of a variance alone is drawn back to the column's mean one.

References
----------
Vaidya, Shafiq, Basu & Hong, *Differentially private naive Bayes classification* (2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dpnb.client.columns import ColumnHandle, column_of
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.inference.elementwise import Floats
from dpnb.models.cells import (
    Cells,
    Side,
    bins_of,
    cells_of,
    cells_of_rows,
    is_table,
    numbers_of,
    plain_name,
    read_formula,
)
from dpnb.models.classifier import Classifier
from dpnb.models.expressions import steps_of, total_of
from dpnb.models.model import Means, binned, key_column, response_of, values_of


def softmax(logits: Floats) -> Floats:
    """Return probabilities from logarithms, over the last axis."""
    found = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


class CategoricalNB(Classifier):
    """Naive Bayes from one small table of each column by class. Works at every ε.

    Parameters
    ----------
    bins : int or mapping, optional
        How many equal bins of its public range a number gets, or for each name a number or edges. By default more with more rows and ε.
    alpha : float, optional
        Rows added to every cell; by default 1 and half a standard deviation of the noise.
    """

    title: ClassVar[str] = "naive Bayes"

    def __init__(self, bins: Any = None, alpha: float | None = None) -> None:
        self.bins = bins
        self.alpha = alpha

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        response, terms = read_formula(formula)
        target, classes = response_of(means.people, response)
        for term in terms:
            column = key_column(means.people, term)
            own = bins_of(plain_name(term), self.bins)
            most = int(means.rows * means.epsilon / len(terms) / 2 / classes)
            if isinstance(own, int) and own > max(most, 2):
                raise OptionError(
                    f"{own} bins of {term} would be mostly noise: with {means.rows:,.0f} rows and ε {means.epsilon:g} for {len(terms)} "
                    f"columns at most {max(most, 2)} would do."
                )
            if own is None:
                own = _own_bins(means, len(terms), column, 4)
            yield means.people.crosstab(binned(column, own), target)

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        return self._learned(*_tables_of(answers, formula))

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        tables = [
            cells_of_rows([column], [name], y, self.bins) for column, name in zip(x, names, strict=True)
        ]
        return self._learned(tables, [0] * len(tables))

    def _learned(self, tables: Sequence[Cells], places: Sequence[int]) -> dict[str, Any]:
        sides = tuple(table.sides[place] for table, place in zip(tables, places, strict=True))
        counts = [table.by_column(place, table.counts) for table, place in zip(tables, places, strict=True)]
        alphas = [self._alpha(table, side) for table, side in zip(tables, sides, strict=True)]
        prior, likely = self._logs(counts, alphas)
        return {
            "terms_": tuple(side.name for side in sides),
            "classes_": np.array(tables[0].classes),
            "class_log_prior_": prior,
            "feature_log_prob_": [np.asarray(one.T) for one in likely],
            "sides": sides,
            "parts": (tables, places, alphas),
        }

    def _alpha(self, table: Cells, side: Side) -> float:
        if self.alpha is not None:
            return float(self.alpha)
        return 1 + math.sqrt(table.variance * len(table.codes) / len(side.keys)) / 2

    @staticmethod
    def _logs(counts: Sequence[Floats], alphas: Sequence[float]) -> tuple[Floats, list[Floats]]:
        """Return log shares of classes, and of each column the log shares of its cells in each class; leading axes stay."""
        totals = np.maximum(np.mean([one.sum(axis=-2) for one in counts], axis=0), 1.0)
        kept = [np.maximum(one, 0.0) + alpha for one, alpha in zip(counts, alphas, strict=True)]
        return np.log(totals / totals.sum(axis=-1, keepdims=True)), [
            np.log(one / one.sum(axis=-2, keepdims=True)) for one in kept
        ]

    def _chances(self, columns: Sequence[np.ndarray]) -> Floats:
        found = self._resolved()
        return self._softmax(
            columns, found["class_log_prior_"], [one.T for one in found["feature_log_prob_"]]
        )

    def _softmax(self, columns: Sequence[np.ndarray], prior: Floats, likely: Sequence[Floats]) -> Floats:
        total = prior[..., None, :]
        for side, column, logs in zip(self._resolved()["sides"], columns, likely, strict=True):
            total = total + logs[..., side.codes(column), :]
        return softmax(total)

    def _drawn(self, columns: Sequence[np.ndarray], count: int) -> Floats | None:
        tables, places, alphas = self._resolved()["parts"]
        if tables[0].redraw is None:
            return None
        made = {id(table): table.redraw(count) for table in tables}
        counts = [
            table.by_column(place, made[id(table)]) for table, place in zip(tables, places, strict=True)
        ]
        return self._softmax(columns, *self._logs(counts, alphas))

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        found = self._resolved()
        prior, likely = found["class_log_prior_"], found["feature_log_prob_"]
        parts = [
            steps_of(column_of(people, term), side, logs[1] - logs[0])
            for term, side, logs in zip(found["terms_"], found["sides"], likely, strict=True)
        ]
        return total_of([one for part in parts for one in part], float(prior[1] - prior[0])), True


def _tables_of(answers: tuple[Estimate, ...], formula: str | None) -> tuple[list[Cells], list[int]]:
    """Return for each column the table that has it by class, and its place there: of one large table, or of a small one each."""
    if len(answers) == 1:
        found = cells_of(answers[0], formula)
        found.check()
        return [found] * len(found.sides), list(range(len(found.sides)))
    if formula is None:
        tables = [cells_of(one, None) for one in answers]
    else:
        response, terms = read_formula(formula)
        tables = [cells_of(one, f"{response} ~ ({_other(one, terms)})") for one in answers]
    tables[0].check()
    return tables, [0] * len(tables)


def _other(table: Estimate, terms: Sequence[str]) -> str:
    """Return the one column of a small table that a formula names."""
    from dpnb.statistics.formula_terms import spelling

    known = {spelling(axis.name): axis.name for axis in table.axes} if is_table(table) else {}
    named = [known[spelling(term)] for term in terms if spelling(term) in known]
    if not named:
        raise OptionError(
            f"{table.text} has no column of the formula. Pass the tables of its columns by its response."
        )
    return str(named[0])


def _own_bins(means: Means, terms: int, column: ColumnHandle, least: int) -> int | None:
    """Return how many bins a number gets by default: more with more rows and ε for each column; none where it is no number."""
    each = means.rows * means.epsilon / terms
    return min(int(np.clip(each ** (1 / 3), least, 32)), values_of(column)) or None


def _moments(counts: Floats, x: Floats, variance: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return of one column by class rows, means, variances, and the variance of the noise in these; leading axes stay."""
    n = np.maximum(counts.sum(axis=-2), 1.0)
    theta = np.einsum("...bk,b->...k", counts, x) / n
    var = np.einsum("...bk,b->...k", counts, x**2) / n - theta**2
    moved = (x - theta[..., None]) ** 2 - var[..., None]
    return n, theta, var, variance * (moved**2).sum(axis=-1) / n**2


class GaussianNB(Classifier):
    """Naive Bayes with a normal law of each number in each class, off one small table of each column by class.

    Parameters
    ----------
    var_smoothing : float
        This part of the largest variance is added to all.
    """

    title: ClassVar[str] = "Gaussian naive Bayes"

    def __init__(self, var_smoothing: float = 1e-9) -> None:
        self.var_smoothing = var_smoothing

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        response, terms = read_formula(formula)
        target, _ = response_of(means.people, response)
        for term in terms:
            column = key_column(means.people, term)
            if not column.is_condition and not values_of(column):
                numbers_of(term, column.column.values or ())
            yield means.people.crosstab(binned(column, _own_bins(means, len(terms), column, 8)), target)

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        return self._of_tables(*_tables_of(answers, formula))

    def _of_tables(self, tables: Sequence[Cells], places: Sequence[int]) -> dict[str, Any]:
        sides = [table.sides[place] for table, place in zip(tables, places, strict=True)]
        each = [
            table.variance * len(table.codes) / len(side.keys)
            for table, side in zip(tables, sides, strict=True)
        ]

        def learned(counts: Mapping[int, Floats]) -> dict[str, Any]:
            by_column = [
                table.by_column(place, counts[id(table)]) for table, place in zip(tables, places, strict=True)
            ]
            moved = [
                _moments(one, side.middles, v) for one, side, v in zip(by_column, sides, each, strict=True)
            ]
            n, theta, var, hidden = (np.stack(part, axis=-1) for part in zip(*moved, strict=True))
            return self._learned(n.mean(axis=-1), theta, var, hidden)

        def redrawn(count: int) -> dict[str, Any]:
            each_once = {id(table): table.redraw for table in tables}
            return learned({key: draw(count) for key, draw in each_once.items() if draw is not None})

        return {
            "terms_": tuple(side.name for side in sides),
            "classes_": np.array(tables[0].classes),
            **learned({id(table): table.counts for table in tables}),
            "draw": None if tables[0].redraw is None else redrawn,
        }

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        del names
        classes, group = np.unique(y, return_inverse=True)
        rows = np.stack([np.asarray(one, dtype=float) for one in x], axis=1)
        parts = [rows[group == k] for k in range(len(classes))]
        found = self._learned(
            np.array([len(one) for one in parts], dtype=float),
            np.stack([one.mean(axis=0) for one in parts]),
            np.stack([one.var(axis=0) for one in parts]),
        )
        return {"classes_": classes, **found, "draw": None}

    def _learned(self, n: Floats, theta: Floats, var: Floats, hidden: Floats | float = 0.0) -> dict[str, Any]:
        """Return shares, means and variances, these drawn to their column's mean one by the noise's part of what they differ, and not below it."""
        n = np.maximum(n, 1.0)
        share = n / n.sum(axis=-1, keepdims=True)
        pooled = (share[..., None] * np.maximum(var, 0.0)).sum(axis=-2, keepdims=True)
        apart = (var - pooled) ** 2
        var = pooled + (var - pooled) * apart / np.maximum(apart + hidden, 1e-300)
        least = np.where(pooled > 0, np.maximum(pooled / 100, np.minimum(pooled, np.sqrt(hidden))), 1.0)
        extra = self.var_smoothing * np.maximum(var, 0.0).max(axis=(-2, -1), keepdims=True)
        return {"class_prior_": share, "theta_": theta, "var_": np.maximum(var, least) + extra}

    @staticmethod
    def _softmax(x: Floats, found: dict[str, Any]) -> Floats:
        theta, var = found["theta_"][..., None, :, :], found["var_"][..., None, :, :]
        each = -((x[:, None, :] - theta) ** 2) / (2 * var) - np.log(var) / 2
        return softmax(np.log(found["class_prior_"])[..., None, :] + each.sum(axis=-1))

    def _chances(self, columns: Sequence[np.ndarray]) -> Floats:
        return self._softmax(
            np.stack([np.asarray(one, dtype=float) for one in columns], axis=1), self._resolved()
        )

    def _drawn(self, columns: Sequence[np.ndarray], count: int) -> Floats | None:
        draw = self._resolved()["draw"]
        if draw is None:
            return None
        x = np.stack([np.asarray(one, dtype=float) for one in columns], axis=1)
        return self._softmax(x, draw(count))

    def _score_column(self, people: Dataset) -> tuple[ColumnHandle, bool]:
        found = self._resolved()
        theta, var, prior = found["theta_"], found["var_"], found["class_prior_"]
        parts: list[tuple[Any, float]] = []
        start = float(np.log(prior[1] / prior[0]))
        for place, term in enumerate(found["terms_"]):
            (m0, m1), (v0, v1) = theta[:, place], var[:, place]
            column = column_of(people, term)
            start += float(m0**2 / (2 * v0) - m1**2 / (2 * v1) - np.log(v1 / v0) / 2)
            parts += [(column, float(m1 / v1 - m0 / v0)), (column**2, float(1 / (2 * v0) - 1 / (2 * v1)))]
        return total_of(parts, start), True
