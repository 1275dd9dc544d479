"""What is concluded from a release, as arrays: one number is an array of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference import accepted, effective_size
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truth, subset
from dpnb.inference.interval import Interval
from dpnb.statistics._base import Axis
from dpnb.trusted.releases import Release

Pair = tuple[Number, Number]
"""Both ends of an interval, or of a range: numbers, or arrays."""
Kind = str
Pairs = tuple[Floats, Floats]
Ends = Callable[[float, Kind], Pairs]
Redraw = Callable[[int, DrawGenerator, Kind], Floats]
_FEW = 8
_FIGURES = ("noise_variance", "sampling_variance", "n", "n_eff")


@dataclass(frozen=True, eq=False)
class Result:
    """All entries of an answer: what is concluded from the releases of one measurement.

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

    values: Floats
    shape: tuple[int, ...]
    domain: Pair
    ends: Ends
    noise: Floats
    sampling: Floats | None = None
    sizes: Floats | None = None
    effective: Floats | None = None
    cell_flags: tuple[tuple[str, ...], ...] = ()
    redraw: Redraw | None = None
    no_draws: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    across: Floats | None = None
    drawn: bool = False
    calendar: str | None = None
    along: str | None = None
    estimand: str = ""
    _memo: dict[tuple[float, Kind], tuple[Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        cells: Sequence[Cell],
        shape: tuple[int, ...],
        domain: Pair,
        redraw: Callable[[int, DrawGenerator], Floats] | None = None,
        no_draws: str = "",
        **more: Any,
    ) -> Self:
        """Return the result of some cells, row-major.

        Parameters
        ----------
        cells : sequence of Cell
            One for each entry, or one of arrays; leading axes of length one are dropped.
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
            values = np.array([cell.value for cell in cells], dtype=float).ravel()
            noise, sampling, sizes, effective = (_column(cells, name, values) for name in _FIGURES)
            flags = _flags(cells, values)

        def ends(level: float, kind: Kind) -> Pairs:
            with np.errstate(all="ignore"):
                pairs = [
                    cell.privacy(level) if kind == "privacy" else cell.confidence(level) for cell in cells
                ]
            low, high = (_spread([pair[end] for pair in pairs], values) for end in (0, 1))
            return low, high

        drawn = None if redraw is None else _sampled(redraw, sampling)
        assert noise is not None
        return cls(
            values, shape, domain, ends, noise, sampling, sizes, effective, flags, drawn, no_draws, **more
        )

    def _shaped(self, values: Floats | None) -> Number:
        if values is None:
            return None
        whole = np.asarray(values, dtype=float).reshape(self.shape)
        return float(whole) if self.shape == () else whole

    @property
    def value(self) -> Number:
        """The estimate: a float, or an array of the answer's shape."""
        return self._shaped(self.values)

    @property
    def n(self) -> Number:
        """Rows behind each entry, as released."""
        return self._shaped(self.sizes)

    @property
    def n_eff(self) -> Number:
        """As accurate as this many rows without noise."""
        return self._shaped(self.effective)

    @property
    def noise_sd(self) -> Number:
        """Standard deviation of the noise, in the unit of the answer."""
        return self._shaped(np.sqrt(self.noise))

    @property
    def standard_error(self) -> Number:
        """Standard error about the population: sampling and noise; nothing where no population is meant."""
        return None if self.sampling is None else self._shaped(np.sqrt(self.sampling + self.noise))

    @property
    def flags(self) -> tuple[str, ...]:
        """All warnings, each once."""
        return tuple(dict.fromkeys(flag for flags in self.cell_flags for flag in flags))

    def both(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
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

    def draws(self, count: int, rng: DrawGenerator, kind: Kind) -> Floats:
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


def _column(cells: Sequence[Cell], name: str, values: Floats) -> Floats | None:
    """Return a figure of every entry; nothing where one of them has none."""
    figures = [getattr(cell, name) for cell in cells]
    return None if any(figure is None for figure in figures) else _spread(figures, values)


def _spread(figures: Sequence[Number], values: Floats) -> Floats:
    """Return figures of every cell as one row."""
    row = np.array(figures, dtype=float).ravel()
    return row if row.shape == values.shape else np.array(np.broadcast_to(row, values.shape))


def _flags(cells: Sequence[Cell], values: Floats) -> tuple[tuple[str, ...], ...]:
    """Return the warnings of every entry."""
    raised = [cell.raised for cell in cells]
    names = dict.fromkeys(name for one in raised for name in one)
    up = [_spread([one.get(name, False) for one in raised], values) for name in names]
    return tuple(tuple(compress(names, row)) for row in zip(*up, strict=True)) if up else ((),) * values.size


def _sampled(redraw: Callable[[int, DrawGenerator], Floats], sampling: Floats | None) -> Redraw:
    """Return a redraw of both kinds: plausible exact values, and with sampling error those of a population."""

    def drawn(count: int, rng: DrawGenerator, kind: Kind) -> Floats:
        values = redraw(count, rng)
        if kind == "privacy":
            return values
        if sampling is None:
            raise Unavailable("This answer describes the dataset: no population interval is defined for it.")
        return np.asarray(values + np.sqrt(sampling) * rng.of("sampling").standard_normal(values.shape))

    return drawn


def one_by_one(cell: Cell) -> list[Cell]:
    """Return a cell of few entries as cells of numbers, which are ten times as fast as arrays of one; one of many as it is."""
    with np.errstate(all="ignore"):
        shape = np.shape(cell.value)
    if not shape or math.prod(shape) > _FEW:
        return [cell]
    return [subset(cell, shape, place) for place in np.ndindex(shape)]


def public_result(value: float, domain: Pair) -> Result:
    """Return a public answer as a result."""

    def redraw(count: int, rng: DrawGenerator) -> Floats:  # noqa: ARG001
        return np.full((count, 1), value)

    return Result.of([PublicCell(value)], (), domain, redraw, notes={"privacy": "public: exact"})


def _level(level: float) -> float:
    value = float(level)
    if not 0 < value < 1:
        raise OptionError(f"a level lies between 0 and 1, for example 0.95, not {level!r}.")
    return value


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
    "no maximum": "no set of coefficients fits the released counts best: they are mostly noise, or a single term determines the response. Intervals are "
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


_NONE_RAISED: Mapping[str, Truth] = MappingProxyType({})


class Cell:
    """Entries of an answer: numbers of one entry, or arrays that broadcast to the shape of ``value``.

    What is concluded is a pure function of noised integers and public constants. Where an interval cannot be supported it raises
    ``Unavailable`` with the reason, so that no invented number is ever shown.

    Attributes
    ----------
    value : float or array
        The estimates.
    noise_variance, sampling_variance : float or array
        Variance of each from the mechanism alone, and from sampling; none where no population is meant.
    n : float or array
        Rows behind each, as released.
    raised : mapping of str to bool or array
        Every warning, and where it is up; from released numbers only.
    no_population : str
        Why there is no confidence interval; empty where there is one.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def value(self) -> Number:
            """The estimates."""

        @property
        def noise_variance(self) -> Number:
            """Variance of each from the mechanism alone; not a number where it has none."""

    @property
    def sampling_variance(self) -> Number:
        """Variance of each from sampling: none, where a cell says no other."""
        return None

    @property
    def n(self) -> Number:
        """Rows behind each: none, where a cell says no other."""
        return None

    @property
    def raised(self) -> Mapping[str, Truth]:
        """Every warning, and where it is up: none, where a cell says no other."""
        return _NONE_RAISED

    @property
    def no_population(self) -> str:
        """Why there is no confidence interval: there is one, where a cell says no other."""
        return ""

    @property
    def n_eff(self) -> Number:
        """Rows without noise that would be as accurate."""
        sampling = self.sampling_variance
        return (
            None
            if sampling is None or self.n is None
            else effective_size(self.n, sampling, self.noise_variance)
        )

    def privacy(self, level: float) -> Pair:
        """Return the intervals for what the noise hides about this dataset."""
        return self._interval(level, sampling=False)

    def confidence(self, level: float) -> Pair:
        """Return the intervals for what sampling and noise hide about the population."""
        if self.no_population:
            raise Unavailable(self.no_population)
        return self._interval(level, sampling=True)

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        raise NotImplementedError

    def _p_value(self, candidate: Number, level: float, *, sampling: bool) -> Number:
        """Return the p-value of a candidate, in the unit in which intervals are found."""
        raise NotImplementedError

    def _inverted(
        self,
        start: Number,
        low: Number,
        high: Number,
        level: float,
        *,
        sampling: bool,
        sd: Number = None,
        lost: Truth = False,
    ) -> Pair:
        """Return the candidates that the test does not reject; see :func:`~dpnb.inference.accepted`."""

        def test(cell: Cell, candidate: Number) -> Number:
            return cell._p_value(candidate, level, sampling=sampling)

        return accepted(test, self, start, low, high, level, sd=sd, lost=lost)


@dataclass(frozen=True, slots=True)
class Chosen(Cell):
    """An entry that the noise chose and was not added to: it has no variance, and says why it has no interval."""

    value: float
    no_interval: str

    noise_variance: ClassVar[float] = math.nan

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        raise Unavailable(self.no_interval)


@dataclass(frozen=True, slots=True)
class PublicCell(Cell):
    """An answer that the schema gives: exact and free."""

    value: float

    noise_variance: ClassVar[float] = 0.0
    no_population: ClassVar[str] = (
        "This answer is public: the schema gives it, and it is not about a population."
    )

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        return self.value, self.value


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
        Result of the releases of the question.
    products : tuple of (int, int, int)
        Of moments: places of two columns, and of the column that it takes for their product, for a forecast.
    """

    text: str
    shape: tuple[int, ...] | None
    axes: tuple[Axis, ...]
    conclude: Callable[[Sequence[Release]], Result]
    products: tuple[tuple[int, int, int], ...] = ()


ReadingFunction = Callable[..., Read] | None
"""``(setting, *args, **kwargs) -> Read``: run at once, so that bad arguments are refused where they are written.

Nothing where it makes something else than an estimate, for example a test: the method of that name in ``Estimate._OTHER_READINGS``.
"""
