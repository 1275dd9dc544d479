"""What is concluded from a release, as arrays: one number is an array of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.elementwise import subset
from dpnb.inference.interval import Interval
from dpnb.trusted.releases import Release

Pair = tuple[float, float]
Kind = str
Ends = Callable[[float, Kind], tuple[np.ndarray, np.ndarray]]
Redraw = Callable[[int, Any, Kind], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]
_FEW = 8


@dataclass(frozen=True, eq=False)
class Result:
    """All entries of an answer; implements ``dpnb.estimate.Outcome``.

    Parameters
    ----------
    values : ndarray, shape (entries,)
        Estimates, row-major.
    shape : tuple of int
        Shape of the answer; ``()`` for one number.
    domain : (float, float)
        Public range.
    ends : callable
        ``ends(level, kind)`` returns both ends of every interval, or raises ``Unavailable`` with the reason.
    noise : ndarray
        Variance of each entry from the mechanism; NaN where it has none of its own.
    sampling : ndarray, optional
        Variance of each entry from sampling.
    sizes, effective : ndarray, optional
        Rows behind each entry, and rows without noise that would be as accurate.
    cell_flags : tuple of tuple of str
        Warnings of each entry; empty where there are none.
    redraw : callable, optional
        ``redraw(count, rng, kind)`` returns plausible true values, shape ``(count, entries)``.
    no_draws : str
        Why there are none.
    notes : dict
        How each kind of interval was made.
    across : ndarray, optional
        Where the entries of the last axis lie along a number: a point each, or the edges of bins (one more). For pictures.
    drawn : bool
        Whether intervals are quantiles of draws, which resolve no small p-values.
    estimand : str
        What is estimated, where only the release tells it; empty where the question does.
    calendar, along : str, optional
        Of dates the step that the values, and ``across``, count.
    """

    values: np.ndarray
    shape: tuple[int, ...]
    domain: Pair
    ends: Ends
    noise: np.ndarray
    sampling: np.ndarray | None = None
    sizes: np.ndarray | None = None
    effective: np.ndarray | None = None
    cell_flags: tuple[tuple[str, ...], ...] = ()
    redraw: Redraw | None = None
    no_draws: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    across: np.ndarray | None = None
    draws_by_release: bool = True
    drawn: bool = False
    calendar: str | None = None
    along: str | None = None
    estimand: str = ""
    _memo: dict[tuple[float, Kind], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        cell: Cell,
        shape: tuple[int, ...],
        domain: Pair,
        redraw: Callable[[int, Any], np.ndarray] | None = None,
        no_draws: str = "",
        **more: Any,
    ) -> Self:
        """Return the result of a cell of arrays.

        Parameters
        ----------
        cell : Cell
            The entries, row-major, or numbers where there is one; leading axes of length one are dropped.
        shape, domain
            As of the class.
        redraw : callable, optional
            ``redraw(count, rng)`` returns plausible exact values, shape ``(count, entries)``; sampling error is added to them.
        no_draws : str
            Why there are none.
        **more
            Further fields of the class.
        """
        with np.errstate(all="ignore"):
            values = np.asarray(cell.value, dtype=float)

            sampling = _full(cell.sampling_variance, values)
            sizes, effective = _full(cell.n, values), _full(cell.n_eff, values)
            noise, flags = _full(cell.noise_variance, values), _flags(cell.raised, values)

        def ends(level: float, kind: Kind) -> Pairs:
            with np.errstate(all="ignore"):
                low, high = cell.privacy(level) if kind == "privacy" else cell.confidence(level)
            return _full(low, values), _full(high, values)

        drawn = None if redraw is None else _sampled(redraw, sampling)
        figures = noise, sampling, sizes, effective
        return cls(values.ravel(), shape, domain, ends, *figures, flags, drawn, no_draws, **more)

    def _shaped(self, values: np.ndarray | None) -> Any:
        if values is None:
            return None
        whole = np.asarray(values, dtype=float).reshape(self.shape)
        return float(whole) if self.shape == () else whole

    @property
    def value(self) -> Any:
        """The estimate: a float, or an array of the answer's shape."""
        return self._shaped(self.values)

    @property
    def n(self) -> Any:
        """Rows behind each entry, as released."""
        return self._shaped(self.sizes)

    @property
    def n_eff(self) -> Any:
        """As accurate as this many rows without noise."""
        return self._shaped(self.effective)

    @property
    def noise_sd(self) -> Any:
        """Standard deviation of the noise, in the unit of the answer."""
        return self._shaped(np.sqrt(self.noise))

    @property
    def standard_error(self) -> Any:
        """Standard error about the population: sampling and noise; nothing where no population is meant."""
        return None if self.sampling is None else self._shaped(np.sqrt(self.sampling + self.noise))

    @property
    def flags(self) -> tuple[str, ...]:
        """All warnings, each once."""
        return tuple(dict.fromkeys(flag for flags in self.cell_flags for flag in flags))

    def both(self, level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of every interval, computed once."""
        if kind not in {"privacy", "confidence"}:
            raise OptionError(f"unknown kind {kind!r}: intervals are 'privacy' or 'confidence'.")
        key = (_level(level), kind)
        if key not in self._memo:
            self._memo[key] = self.ends(*key)
        return self._memo[key]

    def interval(self, level: float, kind: Kind) -> Interval:
        """Return the interval of every entry at a level.

        Raises
        ------
        Unavailable
            Where the release cannot support it, with the reason.
        """
        low, high = self.both(level, kind)
        return Interval(self._shaped(low), self._shaped(high), level, kind, self.notes.get(kind, ""))  # type: ignore[arg-type]

    def draws(self, count: int, rng: Any, kind: Kind) -> np.ndarray:
        """Return plausible exact (``privacy``) or population (``confidence``) values, shape ``(count, *shape)``.

        Raises
        ------
        Unavailable
            Where there are none, with the reason.
        """
        if self.redraw is None:
            raise Unavailable(self.no_draws)
        if kind == "confidence":
            self.both(0.95, kind)
        return np.asarray(self.redraw(count, rng, kind)).reshape((count, *self.shape))


def _full(found: Any, values: np.ndarray) -> Any:
    """Return a figure of every entry; nothing where there is none."""
    if found is None:
        return None
    return _spread(np.asarray(found, dtype=float), values.shape)


def _spread(figures: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return figures of every entry as one row."""
    return (figures if figures.shape == shape else np.broadcast_to(figures, shape)).ravel()


def _flags(raised: Mapping[str, Any], values: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Return the warnings of every entry."""
    up = [_spread(np.asarray(where), values.shape) for where in raised.values()]
    return tuple(tuple(compress(raised, row)) for row in zip(*up, strict=True)) if up else ((),) * values.size


def _sampled(redraw: Callable[[int, Any], np.ndarray], sampling: np.ndarray | None) -> Redraw:
    """Return a redraw of both kinds: plausible exact values, and with sampling error those of a population."""

    def drawn(count: int, rng: Any, kind: Kind) -> np.ndarray:
        values = redraw(count, rng)
        if kind == "privacy":
            return values
        if sampling is None:
            raise Unavailable("This answer describes the dataset: no population interval is defined for it.")
        return np.asarray(values + np.sqrt(sampling) * rng.of("sampling").standard_normal(values.shape))

    return drawn


class Entries:
    """Cells of one entry each, side by side: the arrays of answers that one formula does not give.

    Parameters
    ----------
    cells : sequence of Cell
        Cells of numbers.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = tuple(cells)

    @classmethod
    def of(cls, cell: Cell) -> Cell:
        """Return a cell of few entries as numbers, which are ten times as fast as arrays of one; one of many as it is."""
        with np.errstate(all="ignore"):
            shape = np.shape(cell.value)
        if not shape or math.prod(shape) > _FEW:
            return cell
        if math.prod(shape) == 1:
            one: Cell = subset(cell, shape, (0,) * len(shape))
            return one
        return cls([subset(cell, shape, place) for place in np.ndindex(shape)])

    def _column(self, name: str) -> np.ndarray | None:
        found = [getattr(cell, name) for cell in self._cells]
        return None if any(value is None for value in found) else np.array(found, dtype=float)

    @property
    def value(self) -> np.ndarray:
        """The estimates."""
        return np.array([cell.value for cell in self._cells], dtype=float)

    @property
    def noise_variance(self) -> np.ndarray:
        """Variance of each estimate from the mechanism alone."""
        return np.array([cell.noise_variance for cell in self._cells], dtype=float)

    @property
    def sampling_variance(self) -> np.ndarray | None:
        """Variance of each from sampling; nothing where one of them has none."""
        return self._column("sampling_variance")

    @property
    def n(self) -> np.ndarray | None:
        """Rows behind each estimate, as released."""
        return self._column("n")

    @property
    def n_eff(self) -> np.ndarray | None:
        """Rows without noise that would be as accurate."""
        return self._column("n_eff")

    @property
    def raised(self) -> dict[str, np.ndarray]:
        """Every warning of one of them, and where it is up."""
        every = [cell.raised for cell in self._cells]
        names = dict.fromkeys(name for one in every for name in one)
        return {name: np.array([bool(one.get(name, False)) for one in every]) for name in names}

    def privacy(self, level: float) -> Pairs:
        """Return the intervals for what the noise hides about this dataset."""
        return _columns([cell.privacy(level) for cell in self._cells])

    def confidence(self, level: float) -> Pairs:
        """Return the intervals for what sampling and noise hide about the population."""
        return _columns([cell.confidence(level) for cell in self._cells])


def _columns(pairs: Sequence[Pair]) -> Pairs:
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    return low, high


def public_result(value: float, domain: Pair) -> Result:
    """Return a public answer as a result."""

    def redraw(count: int, rng: Any) -> np.ndarray:  # noqa: ARG001
        return np.full((count, 1), value)

    return Result.of(PublicCell(value), (), domain, redraw, notes={"privacy": "public: exact"})


def _level(level: float) -> float:
    value = float(level)
    if not 0 < value < 1:
        raise OptionError(f"a level lies between 0 and 1, for example 0.95, not {level!r}.")
    return value


def effective_sizes(sizes: np.ndarray, sampling: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return how many rows without noise would be as accurate: ``n · V_sampling / (V_sampling + V_noise)``."""
    total = np.asarray(sampling + noise)
    clear = (total > 0) & np.isfinite(total) & (sizes > 0)
    return np.where(clear, sizes * sampling / np.where(clear, total, 1.0), 0.0)


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


@dataclass(frozen=True, slots=True)
class Read:
    """One reading with its arguments, checked against the public setting.

    Parameters
    ----------
    text : str
        What follows the text of the question, for example ``".quantile(0.5)"``.
    shape : tuple of int, optional
        Shape of the answer; nothing where only the release tells it.
    axes : tuple of Axis
        Its public directions.
    conclude : callable
        Outcome of the releases of the question.
    products : tuple of (int, int, int)
        Of moments: places of two columns, and of the column that it takes for their product, for a forecast.
    """

    text: str
    shape: tuple[int, ...] | None
    axes: tuple[Any, ...]
    conclude: Callable[[Sequence[Release]], Outcome]
    products: tuple[tuple[int, int, int], ...] = ()


ReadingFunction = Callable[..., Read] | None
"""``(setting, *args, **kwargs) -> Read``: run at once, so that bad arguments are refused where they are written.

Nothing where it makes something else than an estimate, for example a test: the method of that name in :mod:`dpnb.estimate.reading`.
"""
