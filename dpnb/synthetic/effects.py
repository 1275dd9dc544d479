r"""Two-way tables as one vector: contrasts of levels, their products, and the noise on each.

A column of k levels has k - 1 contrasts, scaled so that their squares have mean one over the levels (:math:`\pm 1` for two levels); with the
constant they are orthogonal. An effect is a contrast (*main*) or a product of contrasts of two columns (*pair*). A row :math:`x` has
:math:`φ(x)` of them, and the sum over rows of an effect is a linear map of a table: a table of independent noise of variance
:math:`σ²` in each of :math:`k_a k_b` cells gives the number of rows, the main effects of both columns and their products, each with
noise of variance :math:`k_a k_b σ²`, all uncorrelated. So the tables collapse without loss into one vector
:math:`y = \sum_{rows} φ(x) + N(0, V)` with diagonal V: copies of a main effect, one from each table of its column, are combined with weights in inverse
proportion to their variances, and so is the number of rows where it is private.

The noise is discrete and is taken as normal, with no variance below that of rounding, 1/12.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpnb.inference.elementwise import Floats, Integers
from dpnb.synthetic.design import Pair

_ROUNDING = 1 / 12


@lru_cache(maxsize=64)
def contrasts(levels: int) -> Floats:
    """Return the contrasts of a column, shape ``(levels, levels - 1)``: columns add up to zero, and their squares to ``levels``.

    Examples
    --------
    >>> contrasts(2).ravel().tolist()
    [1.0, -1.0]
    """
    steps = np.arange(1, levels)
    found = np.triu(np.ones((levels, levels - 1)))
    found[steps, steps - 1] = -steps
    return np.asarray(found * np.sqrt(levels / (steps * (steps + 1))))


@dataclass(frozen=True, eq=False)
class Effects:
    """The effects of some columns: main effects of each, in order, then the products of each pair.

    Parameters
    ----------
    sizes : tuple of int
        Levels of each column.
    pairs : tuple of (int, int)
        Places of the columns of each pair.
    """

    sizes: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the main effects of each column stand, then the products of each pair."""
        widths = [k - 1 for k in self.sizes] + [
            (self.sizes[a] - 1) * (self.sizes[b] - 1) for a, b in self.pairs
        ]
        ends = list(itertools.accumulate(widths, initial=0))
        return tuple(itertools.starmap(slice, itertools.pairwise(ends)))

    @property
    def mains(self) -> int:
        """How many of them are main effects: these come first."""
        return sum(self.sizes) - len(self.sizes)

    @property
    def count(self) -> int:
        """How many effects there are."""
        return int(self.places[-1].stop)

    def of_rows(self, rows: Integers) -> np.ndarray:
        """Return the effects of some rows, float32 of shape ``(rows, effects)``.

        Parameters
        ----------
        rows : ndarray of int, shape (rows, columns)
            Levels.
        """
        found = np.empty((len(rows), self.count), dtype=np.float32)
        for column, size in enumerate(self.sizes):
            found[:, self.places[column]] = contrasts(size)[rows[:, column]]
        for (a, b), place in zip(self.pairs, self.places[len(self.sizes) :], strict=True):
            first, second = found[:, self.places[a]], found[:, self.places[b]]
            found[:, place] = (first[:, :, None] * second[:, None, :]).reshape(len(rows), -1)
        return found

    def of_tables(self, tables: Mapping[Pair, Floats], variances: Mapping[Pair, float]) -> Totals:
        """Return what some noised tables say of the totals of the effects, and of the number of rows.

        Parameters
        ----------
        tables : mapping of (int, int) to ndarray, shape (k_a, k_b)
            Noised counts of each pair.
        variances : mapping of (int, int) to float
            Variance of the noise on a cell of each.
        """
        sums, weights = np.zeros(self.count), np.zeros(self.count)
        rows = weight = 0.0
        for (a, b), place in zip(self.pairs, self.places[len(self.sizes) :], strict=True):
            table, (first, second) = tables[a, b], (contrasts(self.sizes[one]) for one in (a, b))
            inverse = 1 / (max(variances[a, b], _ROUNDING) * table.size)
            told = (
                (self.places[a], first.T @ table.sum(axis=1)),
                (self.places[b], second.T @ table.sum(axis=0)),
                (place, (first.T @ table @ second).ravel()),
            )
            for where, values in told:
                sums[where] += values * inverse
                weights[where] += inverse
            rows, weight = rows + float(table.sum()) * inverse, weight + inverse
        return Totals(sums / weights, 1 / weights, rows / weight, 1 / weight)

    def log_shares(self, shares: Sequence[Floats]) -> Floats:
        """Return the parameters of the model in which the columns are independent, with these shares of their levels."""
        found = np.zeros(self.count)
        for column, one in enumerate(shares):
            found[self.places[column]] = contrasts(one.size).T @ np.log(one) / one.size
        return found

    def shares(self, totals: Totals, size: float) -> list[Floats]:
        """Return the share of each level of each column, as the noised totals say, none of them nearer to zero than the noise can tell."""
        found = []
        for column, levels in enumerate(self.sizes):
            place = self.places[column]
            counts = (size + contrasts(levels) @ totals.sums[place]) / levels
            least = max(0.5, math.sqrt(float(totals.variances[place].mean()) / levels) / 2)
            kept = np.maximum(counts, least)
            found.append(kept / kept.sum())
        return found


@dataclass(frozen=True, eq=False)
class Totals:
    """What noised tables say of the totals of the effects over rows.

    Parameters
    ----------
    sums, variances : ndarray, shape (effects,)
        The totals, and the variance of the noise on each.
    rows, rows_variance : float
        The number of rows, and the variance of its noise.
    """

    sums: Floats
    variances: Floats
    rows: float
    rows_variance: float
