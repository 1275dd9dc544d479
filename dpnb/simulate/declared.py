"""Populations that are declared, not taken from rows: a shape under two hands, values missing, two arms, and pairs.

They join the laws of :mod:`dpnb.simulate.populations` into what a question is asked of, so that a simulation needs public facts
alone: bounds, step, and what somebody is ready to assume. Each says the call that makes it again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.exact_answers import table_of
from dpnb.errors import PlanError
from dpnb.simulate.populations import Codes, GridLaw, Number, beta, with_outliers
from dpnb.trusted.aggregate.reference import Ints, Table
from dpnb.trusted.schema import Column

_TIGHT = 8.0
_FAR = 0.45
_SIDE = 600


def shaped(
    skew: float,
    outliers: float = 0.0,
    *,
    shift: float = 0.0,
    lower: Number = 0,
    upper: Number = 100,
    step: Number | None = None,
    name: str = "x",
) -> GridLaw:
    """Return a number between bounds with a tail of any length, and a share of the rows at the upper bound.

    Parameters
    ----------
    skew : float
        From -1, a long tail to the left, over 0, a bell in the middle, to 1, a long tail to the right.
    outliers : float
        The share of rows at the upper bound, at least 0 and below 1.
    shift : float
        Moves the mean by this share of the range, as far as the bounds allow.

    Examples
    --------
    >>> shaped(0.5).code
    'simulate.beta(2.2, 5.8, lower=0, upper=100, step="1/10")'
    """
    if not -1 <= skew <= 1:
        raise PlanError(f"skew lies between -1 and 1, not {skew!r}.")
    middle = min(max(0.5 - _FAR * skew + shift, 0.5 - _FAR), 0.5 + _FAR)
    a = round(_TIGHT * middle, 6)
    made = beta(a, round(_TIGHT - a, 6), lower=lower, upper=upper, step=step, name=name)
    return made if outliers == 0 else with_outliers(made, outliers)


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """A number with a known law, missing at random in a share of the rows."""

    base: GridLaw
    share: float
    size: None = None

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.base.name}, {100 * self.share:g} % missing" if self.share else self.base.name

    @property
    def code(self) -> str:
        """The call that reproduces it."""
        return f"simulate.with_missing({self.base.code}, {self.share!r})"

    @property
    def column(self) -> Column:
        """The one column; a missing value is dropped, so the number of rows that count is private."""
        return replace(self.base.column, missing="drop")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The one column."""
        return (self.column,)

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Draw the numbers, then which of them are missing."""
        (found,) = self.base.draw(rng, studies, n).values()
        known = rng.random(studies * n) >= self.share
        return {self.column.name: Ints(np.where(known, found.values, 0), known)}

    def law(self) -> tuple[Table, NDArray[np.float64]]:
        """Return every grid point, and one row without a value."""
        table, weights = self.base.law()
        (found,) = table.columns.values()
        values = np.append(found.values, 0)
        known = np.append(found.known, np.False_)
        return table_of({self.column.name: Ints(values, known)}), np.append(
            weights * (1 - self.share), self.share
        )


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """Rows of two arms, each with a law of its own; the column of the arm is called ``arm``."""

    first: GridLaw | Incomplete
    second: GridLaw | Incomplete
    share: float
    size: None = None

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.first.name} against {self.second.name}"

    @property
    def code(self) -> str:
        """The call that reproduces it."""
        return f"simulate.arms({self.first.code}, {self.second.code}, {self.share!r})"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The outcome and the arm."""
        return (self.first.column, Column.category("arm", [0, 1]))

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Draw the arm, and the outcome of either arm."""
        arm = rng.random(studies * n) < self.share
        name = self.first.column.name
        one, two = (law.draw(rng, studies, n)[name] for law in (self.first, self.second))
        outcome = Ints(np.where(arm, two.values, one.values), np.where(arm, two.known, one.known))
        return {name: outcome, "arm": Ints(arm.astype(np.int64), np.broadcast_to(np.True_, arm.shape))}

    def law(self) -> tuple[Table, NDArray[np.float64]]:
        """Return the rows of both laws with their probabilities."""
        name, values, known, weights, arm = self.first.column.name, [], [], [], []
        for place, (law, share) in enumerate(((self.first, 1 - self.share), (self.second, self.share))):
            table, chances = law.law()
            values.append(table.columns[name].values)
            known.append(table.columns[name].known)
            weights.append(chances * share)
            arm.append(np.full(chances.size, place))
        outcome = Ints(np.concatenate(values), np.concatenate(known))
        return table_of({name: outcome, "arm": np.concatenate(arm)}), np.concatenate(weights)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two numbers, each with a law of its own, with the dependence of a bivariate normal."""

    first: GridLaw | Incomplete
    second: GridLaw | Incomplete
    together: float
    size: None = None

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.first.name} with {self.second.name}, together {self.together:g}"

    @property
    def code(self) -> str:
        """The call that reproduces it."""
        return f"simulate.pair({self.first.code}, {self.second.code}, {self.together!r})"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Both columns."""
        return (self.first.column, self.second.column)

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Draw two normal numbers, read both laws at their ranks, then draw which numbers are missing."""
        found = self._codes(*rng.standard_normal((2, studies * n)))
        for law in (self.first, self.second):
            if isinstance(law, Incomplete):
                known = rng.random(studies * n) >= law.share
                found[law.column.name] = Ints(np.where(known, found[law.column.name].values, 0), known)
        return found

    def law(self) -> tuple[Table, NDArray[np.float64]]:
        """Return 360,000 evenly spread pairs, each as likely as the others: who lacks a value is left out at random."""
        from scipy.special import ndtri

        z = ndtri((np.arange(_SIDE) + 0.5) / _SIDE)
        one, two = (part.ravel() for part in np.meshgrid(z, z))
        return table_of(self._codes(one, two)), np.full(_SIDE**2, 1 / _SIDE**2)

    def _codes(self, one: NDArray[np.float64], two: NDArray[np.float64]) -> Codes:
        from scipy.special import ndtr

        both = (one, self.together * one + (1 - self.together**2) ** 0.5 * two)
        found: Codes = {}
        for law, z in zip((self.first, self.second), both, strict=True):
            base = law.base if isinstance(law, Incomplete) else law
            places = np.minimum(np.searchsorted(base.cumulative, ndtr(z), side="right"), base.column.size - 1)
            found[law.column.name] = Ints(places, np.broadcast_to(np.True_, places.shape))
        return found


def with_missing(base: GridLaw, share: float) -> Incomplete:
    """Return a law in which a share of the rows (possibly none) has no value; the number of values is then private.

    Examples
    --------
    >>> from dpnb.simulate import bernoulli
    >>> with_missing(bernoulli(0.7), 0.4).columns[0].missing
    'drop'
    """
    if not 0 <= share < 1:
        raise PlanError(f"a share of missing values is at least 0 and below 1, not {share!r}.")
    return Incomplete(base, share)


def arms(first: GridLaw | Incomplete, second: GridLaw | Incomplete, share: float = 0.5) -> Arms:
    """Return rows of two arms: the outcome has one law in the first and another in the second, on one grid.

    Parameters
    ----------
    share : float
        Of the rows in the second arm.
    """
    if not 0 < share < 1:
        raise PlanError(f"the second arm has a share between 0 and 1 of the rows, not {share!r}.")
    if first.column != second.column:
        raise PlanError("Both arms have one outcome: give two laws on the same grid, of the same name.")
    return Arms(first, second, share)


def pair(first: GridLaw | Incomplete, second: GridLaw | Incomplete, together: float) -> Pair:
    """Return two dependent numbers: ``together`` is the correlation of the underlying normal numbers."""
    if not -1 < together < 1:
        raise PlanError(f"together lies between -1 and 1, not {together!r}.")
    if first.column.name == second.column.name:
        raise PlanError('A pair has two names: simulate.beta(2, 5, name="y").')
    return Pair(first, second, together)
