"""What is concluded from a release: estimate, two intervals, sizes and flags, cell by cell.

A result is a pure function of noised integers and public constants. Where an interval cannot be supported it raises
``Unavailable`` with the reason, so that no invented number is ever shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.interval import Interval

Pair = tuple[float, float]
Kind = str

FLAG_WORDS = {
    "values cut off": "clearly some rows lie outside the range that was chosen: the mean is of values moved into it",
    "range unclear": "there are too few rows for a private range at this loss: it may be far too wide or too narrow",
    "arm too small": "the noised size of a group is not clearly above zero: the whole domain is shown",
    "undefined": "the noise leaves the value undefined",
    "spread hidden": "the noise on a variance is more than a quarter of it: the whole range is shown",
    "nonpositive": "the noised variance was not positive and is shown as 0",
    "singular": "noise of this size could make the columns collinear: intervals are unbounded but for bounds= that you declare, "
    "and a ridge keeps the estimate finite",
    "ill-conditioned": "the noise is large beside what tells the columns apart: intervals are wide, not wrong",
    "no maximum": "no coefficients fit the released counts best: they are mostly noise, or a term decides the response alone. Intervals are "
    "unbounded",
    "information unclear": "noise of this size could hide what tells the coefficients apart: intervals are unbounded",
    "too few rows": "there are no more rows than coefficients: intervals are unbounded",
    "projected": "the noise made the matrix impossible: the nearest possible one is shown",
    "clamped": "the noised value lay outside the declared bounds and was moved to them",
    "rank unclear": "the noise moves its rank by more rows than there are, or than a group of average size has: it may be any value "
    "between the bounds",
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


class CellResult(Protocol):
    """One entry of an answer."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def noise_variance(self) -> float:
        """Variance of the estimate from the mechanism alone."""

    @property
    def sampling_variance(self) -> float | None:
        """Variance from sampling; nothing where no population is meant."""

    @property
    def n(self) -> float | None:
        """Rows behind the estimate, as released."""

    @property
    def n_eff(self) -> float | None:
        """Rows without noise that would be as accurate."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""

    def privacy(self, level: float) -> Pair:
        """Return the interval for what the noise hides about this dataset."""

    def confidence(self, level: float) -> Pair:
        """Return the interval for what sampling and noise hide about the population."""


class Chosen:
    """What an entry lacks whose noise chose it and was not added to it: variances, sizes and flags."""

    __slots__ = ()

    noise_variance: ClassVar[float] = math.nan
    sampling_variance: ClassVar[float | None] = None
    n: ClassVar[float | None] = None
    n_eff: ClassVar[float | None] = None
    flags: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """All entries of an answer; implements ``dpnb.estimate.Outcome``.

    Parameters
    ----------
    cells : sequence of CellResult
        Entries, row-major.
    shape : tuple of int
        Shape of the answer; ``()`` for one number.
    domain : (float, float)
        Public range.
    redraw : callable
        ``redraw(count, rng)`` returns plausible exact values, shape ``(count, entries)``.
    estimand : str
        What is estimated, where only the release tells it; empty where the question does.
    calendar : str, optional
        Of dates the step that the values count.
    """

    cells: Sequence[CellResult]
    shape: tuple[int, ...]
    domain: Pair
    redraw: Callable[[int, Any], np.ndarray] | None = None
    no_draws: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    draws_by_release: bool = True
    estimand: str = ""
    calendar: str | None = None

    def _shaped(self, values: Sequence[float | None]) -> Any:
        if any(value is None for value in values):
            return None
        array = np.asarray(values, dtype=float)
        return float(array[0]) if self.shape == () else array.reshape(self.shape)

    @property
    def value(self) -> Any:
        """The estimate: a float, or an array of the answer's shape."""
        return self._shaped([cell.value for cell in self.cells])

    @property
    def n(self) -> Any:
        """Rows behind each entry, as released."""
        return self._shaped([cell.n for cell in self.cells])

    @property
    def n_eff(self) -> Any:
        """As accurate as this many rows without noise."""
        return self._shaped([cell.n_eff for cell in self.cells])

    @property
    def noise_sd(self) -> Any:
        """Standard deviation of the noise, in the unit of the answer."""
        return self._shaped([float(np.sqrt(cell.noise_variance)) for cell in self.cells])

    @property
    def standard_error(self) -> Any:
        """Standard error about the population: sampling and noise; nothing where no population is meant."""
        found = []
        for cell in self.cells:
            sampling = cell.sampling_variance
            found.append(None if sampling is None else float(np.sqrt(sampling + cell.noise_variance)))
        return self._shaped(found)

    @property
    def flags(self) -> tuple[str, ...]:
        """All warnings, each once."""
        return tuple(dict.fromkeys(flag for cell in self.cells for flag in cell.flags))

    @property
    def cell_flags(self) -> tuple[tuple[str, ...], ...]:
        """The warnings of each entry."""
        return tuple(cell.flags for cell in self.cells)

    def interval(self, level: float, kind: Kind) -> Interval:
        """Return the interval of every entry at a level.

        Raises
        ------
        Unavailable
            Where the release cannot support it, with the reason.
        """
        level = _level(level)
        if kind not in {"privacy", "confidence"}:
            raise OptionError(f"unknown kind {kind!r}: intervals are 'privacy' or 'confidence'.")
        pairs = [cell.privacy(level) if kind == "privacy" else cell.confidence(level) for cell in self.cells]
        low, high = (self._shaped([pair[i] for pair in pairs]) for i in (0, 1))
        return Interval(low, high, level, kind, self.notes.get(kind, ""))  # type: ignore[arg-type]

    def draws(self, count: int, rng: Any, kind: Kind) -> np.ndarray:
        """Return plausible exact (``privacy``) or population (``confidence``) values, shape ``(count, *shape)``.

        Raises
        ------
        Unavailable
            Where the noise is not additive, or no population is meant.
        """
        if self.redraw is None:
            raise Unavailable(self.no_draws)
        values = self.redraw(count, rng)
        if kind == "confidence":
            variances = [cell.sampling_variance for cell in self.cells]
            if any(v is None for v in variances):
                self.cells[0].confidence(0.95)
                raise Unavailable(
                    "This answer describes the dataset: no population interval is defined for it."
                )
            sd = np.sqrt(np.asarray(variances, dtype=float))
            values = values + sd * rng.of("sampling").standard_normal(values.shape)
        low, high = self.domain
        return np.asarray(np.clip(values, low, high)).reshape((count, *self.shape))


def _level(level: float) -> float:
    value = float(level)
    if not 0 < value < 1:
        raise OptionError(f"a level lies between 0 and 1, for example 0.95, not {level!r}.")
    return value


@dataclass(frozen=True, slots=True)
class PublicCell:
    """An answer that the schema gives: exact and free."""

    value: float

    noise_variance: float = 0.0
    sampling_variance: float | None = None
    n: float | None = None
    n_eff: float | None = None
    flags: tuple[str, ...] = ()

    def privacy(self, level: float) -> Pair:  # noqa: ARG002 - one protocol for all cells
        """Return the value itself: nothing is hidden."""
        return self.value, self.value

    def confidence(self, level: float) -> Pair:  # noqa: ARG002
        """Refuse: no population is meant."""
        raise Unavailable("This answer is public: the schema gives it, and no population is meant.")


def public_result(value: float, domain: Pair) -> Result:
    """Return a public answer as a result."""

    def redraw(count: int, rng: Any) -> np.ndarray:  # noqa: ARG001
        return np.full((count, 1), value)

    return Result((PublicCell(value),), (), domain, redraw, notes={"privacy": "public: exact"})
