"""Results whose entries are computed together, as arrays: many answers of one release, such as the points of a curve.

The same contract as :class:`~dpnb.statistics.outcome.Result`; entries are looked at one by one only where somebody does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference.interval import Interval
from dpnb.statistics.outcome import Kind, Pair, _level

Ends = Callable[[float, Kind], tuple[np.ndarray, np.ndarray]]
Redraw = Callable[[int, Any, Kind], np.ndarray]


@dataclass(frozen=True, eq=False)
class VectorResult:
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
    _memo: dict[tuple[float, Kind], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

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

    @property
    def cells(self) -> Cells:
        """The entries one by one."""
        return Cells(self)

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
        found = np.clip(self.redraw(count, rng, kind), *self.domain)
        return np.asarray(found).reshape((count, *self.shape))


@dataclass(frozen=True, slots=True)
class VectorCell:
    """One entry of a vector result."""

    whole: VectorResult
    place: int

    @property
    def value(self) -> float:
        """The estimate."""
        return float(self.whole.values[self.place])

    @property
    def noise_variance(self) -> float:
        """Variance of the estimate from the mechanism alone."""
        return float(self.whole.noise[self.place])

    @property
    def sampling_variance(self) -> float | None:
        """Variance from sampling; nothing where no population is meant."""
        return _at(self.whole.sampling, self.place)

    @property
    def n(self) -> float | None:
        """Rows behind the estimate, as released."""
        return _at(self.whole.sizes, self.place)

    @property
    def n_eff(self) -> float | None:
        """Rows without noise that would be as accurate."""
        return _at(self.whole.effective, self.place)

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""
        return self.whole.cell_flags[self.place] if self.whole.cell_flags else ()

    def privacy(self, level: float) -> Pair:
        """Return the interval for what the noise hides about this dataset."""
        low, high = self.whole.both(level, "privacy")
        return float(low[self.place]), float(high[self.place])

    def confidence(self, level: float) -> Pair:
        """Return the interval for what sampling and noise hide about the population."""
        low, high = self.whole.both(level, "confidence")
        return float(low[self.place]), float(high[self.place])


class Cells(Sequence[VectorCell]):
    """The entries of a vector result, made when they are looked at."""

    def __init__(self, whole: VectorResult) -> None:
        self._whole = whole

    def __len__(self) -> int:
        return int(self._whole.values.size)

    @overload
    def __getitem__(self, place: int) -> VectorCell: ...
    @overload
    def __getitem__(self, place: slice) -> list[VectorCell]: ...
    def __getitem__(self, place: int | slice) -> VectorCell | list[VectorCell]:
        """Return one entry, or some."""
        if isinstance(place, slice):
            return [VectorCell(self._whole, i) for i in range(*place.indices(len(self)))]
        return VectorCell(self._whole, range(len(self))[place])

    def __iter__(self) -> Iterator[VectorCell]:
        return iter(self[:])


def _at(values: np.ndarray | None, place: int) -> float | None:
    return None if values is None else float(values[place])


def effective_sizes(sizes: np.ndarray, sampling: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return how many rows without noise would be as accurate: ``n · V_sampling / (V_sampling + V_noise)``."""
    total = np.asarray(sampling + noise)
    clear = (total > 0) & np.isfinite(total) & (sizes > 0)
    return np.where(clear, sizes * sampling / np.where(clear, total, 1.0), 0.0)
