r"""Chi-square tests of a noised table: independence and goodness of fit, with the null law by Monte Carlo.

A table that was released with noise is not multinomial, so the textbook critical value rejects far too often. Here the statistic
allows for the noise,

.. math:: T = \sum_j \frac{(\tilde x_j - \hat n \hat p_j)^2}{\hat n \hat p_j + σ^2},

less what a change of the fitted margins would explain, so that it hardly depends on them. Its law under the null hypothesis is
simulated: multinomial tables with the null's fitted probabilities, noised by the same discrete law and put through the same
steps. The p-value is :math:`(1 + \#\{T^* ≥ T\})/(1 + B)`. Where the probabilities and the size are public the test is exact; a
fitted margin or a noised size makes it a parametric bootstrap. A margin that the noise cannot tell from zero is fitted twice, as
it stands and as zero, and the larger p-value counts. Tests hold the level to the nominal one. The room sees counts and laws,
never rows, and every draw comes from the generator that it is given.

References
----------
Gaboardi, Lim, Rogers & Vadhan, *Differentially private chi-squared hypothesis testing* (2016); Kifer & Rogers, *A new class of
private chi-square hypothesis tests* (2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DRAWS = 9_999
MOST_CELLS = 1_000
_BLOCK = 2_000_000
_TABLES = 2_000_000
_RIDGE = 1e-10
_CLEAR = 3.0
_FEW = 5.0


def draws_for(cells: int) -> int:
    """Return how many null tables are simulated for a table of so many cells: fewer for large ones."""
    return int(min(DRAWS, max(999, _TABLES // cells)))


Noise = Callable[[int, np.random.Generator], np.ndarray]
"""``noise(count, rng)`` returns draws of the error of the whole table, shape ``(count, cells)``."""


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """A chi-square test of a noised table.

    Parameters
    ----------
    statistic : float
        The noise-aware statistic.
    p_value : float
        From the simulated null law; never below ``1 / (draws + 1)``.
    df : int
        Degrees of freedom that the textbook test would have.
    draws : int
        Simulated null tables.
    """

    statistic: float
    p_value: float
    df: int
    draws: int


@dataclass(frozen=True, slots=True)
class _Null:
    """One null hypothesis: a table's size and fitted probabilities, and how far the table is from them.

    ``shape`` is ``()`` for given probabilities, and the table's shape for independence.
    """

    shape: tuple[int, ...]
    given: np.ndarray | None
    variance: float
    total: float | None

    def sized(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return tables (moved to the public total, where there is one) and their sizes; the last axis is the cells."""
        if self.total is not None:
            gap = self.total - tables.sum(axis=-1, keepdims=True)
            return tables + gap / tables.shape[-1], np.full(tables.shape[:-1], self.total)
        return tables, np.maximum(tables.sum(axis=-1), 1.0)

    def fitted(self, tables: np.ndarray) -> np.ndarray:
        """Return the null's probabilities of every table: those given, or the product of its margins."""
        if self.given is not None:
            return np.broadcast_to(self.given, tables.shape)
        rows, columns = self.margins(tables)
        return np.asarray((rows[..., :, None] * columns[..., None, :]).reshape(tables.shape))

    def margins(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of rows and of columns."""
        cells = tables.reshape(*tables.shape[:-1], *self.shape)
        return _shares(cells.sum(axis=-1)), _shares(cells.sum(axis=-2))

    def others(self, table: np.ndarray, size: float) -> list[np.ndarray]:
        """Return the fits that the data leave open beside the first one: margins they cannot tell from zero, and few people."""
        cells = table.reshape(self.shape)
        zero, more = [], []
        for axis in (1, 0):
            counts = cells.sum(axis=axis)
            clear = counts > _CLEAR * math.sqrt(self.variance * self.shape[axis])
            clear[counts.argmax()] = True
            zero.append(_shares(np.where(clear, counts, 0.0)))
            more.append(_shares(np.maximum(counts, 0.0) + 1.0))
        first = self.fitted(table)
        found = [np.outer(*zero).reshape(-1)] if first.min() * size >= _FEW else []
        if first.min() * size < _FEW:
            found = [np.outer(*zero).reshape(-1), np.outer(*more).reshape(-1)]
        return [fit for fit in found if not np.allclose(fit, first)]

    def statistics(self, tables: np.ndarray) -> np.ndarray:
        """Return the statistic of every table: its distance to the null, without what a change of the fit explains."""
        tables, size = self.sized(tables)
        expected = size[..., None] * self.fitted(tables)
        weights = 1 / (expected + self.variance)
        gap = tables - expected
        distance = (gap**2 * weights).sum(axis=-1)
        if self.given is not None:
            return np.asarray(distance)
        tangent = _tangent(*self.margins(tables))
        weighted = tangent * weights[..., None, :]
        slope = (weighted * gap[..., None, :]).sum(axis=-1)
        matrix = weighted @ np.swapaxes(tangent, -1, -2)
        ridge = _RIDGE * np.trace(matrix, axis1=-2, axis2=-1)[..., None, None] * np.eye(matrix.shape[-1])
        step = np.linalg.solve(matrix + ridge, slope[..., None])[..., 0]
        return np.asarray(distance - (slope * step).sum(axis=-1))


def _tangent(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the directions in which a table of products moves when a margin does, ``(…, rows + columns, cells)``."""
    by_row = np.eye(rows.shape[-1])[:, :, None] * columns[..., None, None, :]
    by_column = rows[..., None, :, None] * np.eye(columns.shape[-1])[:, None, :]
    flat = [d.reshape(*d.shape[:-2], -1) for d in (by_row, by_column)]
    return np.concatenate(flat, axis=-2)


def _shares(counts: np.ndarray) -> np.ndarray:
    """Return noised counts as probabilities; where none is positive, equal ones."""
    positive = np.maximum(counts, 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    equal = 1.0 / counts.shape[-1]
    return np.asarray(np.where(total > 0, positive / np.where(total > 0, total, 1.0), equal))


def independence(
    counts: np.ndarray,
    variance: float,
    noise: Noise,
    rng: np.random.Generator,
    *,
    total: float | None = None,
    draws: int = DRAWS,
) -> ChiSquare:
    """Test that the rows and the columns of a noised table are independent.

    Parameters
    ----------
    counts : ndarray, shape (rows, columns)
        Noised counts.
    variance : float
        Variance of the noise on each of them.
    noise : callable
        ``noise(count, rng)`` draws errors of the whole table.
    rng : numpy.random.Generator
        For the null tables.
    total : float, optional
        The number of people in the table, where it is public.
    draws : int
        How many null tables to simulate.
    """
    rows, columns = counts.shape
    null = _Null((rows, columns), None, variance, total)
    return _test(null, counts.reshape(-1), noise, rng, (rows - 1) * (columns - 1), draws)


def goodness_of_fit(
    counts: np.ndarray,
    shares: np.ndarray,
    variance: float,
    noise: Noise,
    rng: np.random.Generator,
    *,
    total: float | None = None,
    draws: int = DRAWS,
) -> ChiSquare:
    """Test that a noised vector of counts comes from a population with the given shares; see :func:`independence`."""
    null = _Null((), np.asarray(shares, dtype=float), variance, total)
    return _test(null, np.asarray(counts, dtype=float), noise, rng, counts.size - 1, draws)


def _test(
    null: _Null, counts: np.ndarray, noise: Noise, rng: np.random.Generator, df: int, draws: int
) -> ChiSquare:
    observed = float(null.statistics(counts))
    table, size = null.sized(counts)
    fits = [null.fitted(table)] + ([] if null.given is not None else null.others(table, float(size)))
    worst = max(
        _exceeding(null, observed, round(float(size)), fit / fit.sum(), noise, rng, draws) for fit in fits
    )
    return ChiSquare(observed, (1 + worst) / (1 + draws), df, draws)


def _exceeding(
    null: _Null,
    observed: float,
    size: int,
    fit: np.ndarray,
    noise: Noise,
    rng: np.random.Generator,
    draws: int,
) -> int:
    """Return how many of the simulated null tables are at least as far from the null as the observed one."""
    above, most = 0, max(1, _BLOCK // (fit.size * max(1, sum(null.shape))))
    for start in range(0, draws, most):
        count = min(most, draws - start)
        tables = rng.multinomial(size, fit, count) + noise(count, rng)
        above += int((null.statistics(tables) >= observed - 1e-9).sum())
    return above
