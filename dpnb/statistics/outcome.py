"""What is concluded from a release: estimate, two intervals, sizes and flags, as protocols.

What is concluded is a pure function of noised integers and public constants. Where an interval cannot be supported it raises
``Unavailable`` with the reason, so that no invented number is ever shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference.interval import Interval

Pair = tuple[float, float]
Kind = str

FLAG_WORDS = {
    "cut-off hidden": "more than a twentieth of the rows may lie unseen outside the chosen range: intervals may miss the mean of all values",
    "values cut off": "some rows clearly lie outside the chosen range: the mean is of values moved into it",
    "range unclear": "there are too few rows for a private range at this loss: it may be far too wide or too narrow",
    "arm too small": "the noised size of a group is not clearly above zero: the whole domain is shown",
    "undefined": "the noise leaves the value undefined",
    "spread hidden": "the noise on a variance is more than a quarter of it: the whole range is shown",
    "nonpositive": "the noised variance was not positive and is shown as 0",
    "singular": "with noise of this size the columns could be collinear, so intervals are unbounded unless you declare bounds= or a "
    "prior=; a ridge keeps the estimate finite",
    "ill-conditioned": "the noise is large beside what tells the columns apart: intervals are wide, not wrong",
    "no maximum": "no coefficients fit the released counts best: they are mostly noise, or a term decides the response alone. Intervals are "
    "unbounded",
    "information unclear": "noise of this size could hide what tells the coefficients apart: intervals are unbounded",
    "too few rows": "there are no more rows than coefficients: intervals are unbounded",
    "projected": "the noise made the matrix impossible: the nearest possible one is shown",
    "clamped": "the noised value lay outside the declared bounds and was moved to them",
    "rank unclear": "the noise moves its rank by more rows than there are, or than a group of average size has: it may be any value "
    "between the bounds",
    "past the rows": "the noise may move its rank past the last row on one side: every value from there to the bound has the same rank",
    "spread unclear": "the noised spread was not clear: the widest spread that the bounds allow was used",
}


@runtime_checkable
class Outcome(Protocol):
    """What ``statistics`` concludes from the releases of one measurement.

    An outcome of *several* releases (a remeasured question) sets ``draws_by_release = True`` and takes its noise
    from ``rng.of(part.draw)`` (see :class:`dpnb.inference.draw_generator.DrawGenerator`), one generator for each draw, so
    that it is rightly correlated with estimates that share one of them.
    """

    @property
    def value(self) -> Any:
        """The point estimate: a float, or an array of the question's shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""

    @property
    def standard_error(self) -> Any:
        """Its standard error about the population (sampling and noise)."""

    @property
    def n(self) -> Any:
        """The rows it speaks of (public, or released with noise)."""

    @property
    def n_eff(self) -> Any:
        """As accurate as this many of the `n` rows would be without noise."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings computed from released numbers alone."""

    @property
    def domain(self) -> tuple[Any, Any]:
        """Public bounds of the value; ``(None, None)`` or infinite where there are none."""

    def interval(self, level: float, kind: Kind) -> Interval:
        """The exact interval; raises Unavailable with the reason."""

    def draws(self, count: int, rng: np.random.Generator, kind: Kind) -> np.ndarray:
        """Plausible true values, shape ``(count, *shape)``; raises Unavailable with the reason."""


class Cell(Protocol):
    """The entries of an answer: numbers of one entry, or arrays that broadcast to the shape of ``value``."""

    @property
    def value(self) -> Any:
        """The estimates."""

    @property
    def noise_variance(self) -> Any:
        """Variance of each estimate from the mechanism alone."""

    @property
    def sampling_variance(self) -> Any:
        """Variance of each from sampling; nothing where no population is meant."""

    @property
    def n(self) -> Any:
        """Rows behind each estimate, as released."""

    @property
    def n_eff(self) -> Any:
        """Rows without noise that would be as accurate."""

    @property
    def raised(self) -> Mapping[str, Any]:
        """Every warning, and where it is up; from released numbers only."""

    def privacy(self, level: float) -> tuple[Any, Any]:
        """Return the intervals for what the noise hides about this dataset."""

    def confidence(self, level: float) -> tuple[Any, Any]:
        """Return the intervals for what sampling and noise hide about the population."""


class Chosen:
    """What an entry lacks whose noise chose it and was not added to it: variances, sizes and flags."""

    __slots__ = ()

    noise_variance: ClassVar[float] = math.nan
    sampling_variance: ClassVar[float | None] = None
    n: ClassVar[float | None] = None
    n_eff: ClassVar[float | None] = None
    raised: ClassVar[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class PublicCell:
    """An answer that the schema gives: exact and free."""

    value: float

    noise_variance: float = 0.0
    sampling_variance: float | None = None
    n: float | None = None
    n_eff: float | None = None
    raised: ClassVar[Mapping[str, Any]] = {}

    def privacy(self, level: float) -> Pair:  # noqa: ARG002 - one protocol for all cells
        """Return the value itself: nothing is hidden."""
        return self.value, self.value

    def confidence(self, level: float) -> Pair:  # noqa: ARG002
        """Refuse: no population is meant."""
        raise Unavailable("This answer is public: the schema gives it, and no population is meant.")
