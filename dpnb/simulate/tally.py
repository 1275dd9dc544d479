"""What is kept of the studies that have been simulated: counts and sums, and the first few studies whole for the densities.

Memory does not grow with the number of studies. A tally is a value: adding a block makes a new one, so that a partial result
that was shown stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import Unavailable
from dpnb.inference.spread import normal_quantile
from dpnb.simulate.intervals import Method
from dpnb.simulate.populations import Floats
from dpnb.simulate.studies import Studies

KEPT = 4_000
"""Of how many studies of each setting z-scores, values and standard errors are kept."""

_IMMENSE = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class IntervalCounts:
    """How one method at one level did: arrays of shape (losses, entries).

    Parameters
    ----------
    studies : array
        Studies that had an interval and a truth.
    held : array
        Studies whose interval held the truth.
    width : array
        Sum of the widths.
    reason : str
        Why there was no interval, where there was none.
    """

    studies: Floats
    held: Floats
    width: Floats
    reason: str = ""

    def __add__(self, other: IntervalCounts) -> IntervalCounts:
        return IntervalCounts(
            self.studies + other.studies,
            self.held + other.held,
            self.width + other.width,
            self.reason or other.reason,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """All that is kept of the studies of one size.

    Parameters
    ----------
    studies : int
        How many.
    held : dict
        For each (method, level), how the intervals did.
    sums : dict of str to array
        Sums over studies, arrays of shape (losses, entries).
    flags : dict of str to array
        How often each warning was up, and ``""`` how often any was.
    kept : dict of str to array
        Figures of the first studies, arrays of shape (losses, studies, entries).
    """

    studies: int = 0
    held: dict[tuple[str, float], IntervalCounts] = field(default_factory=dict)
    sums: dict[str, Floats] = field(default_factory=dict)
    flags: dict[str, Floats] = field(default_factory=dict)
    kept: dict[str, Floats] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        kept = other.kept if not self.kept else self.kept
        if self.kept and self.studies < KEPT:
            joined = {key: np.concatenate([self.kept[key], other.kept[key]], axis=1) for key in self.kept}
            kept = {key: values[:, :KEPT] for key, values in joined.items()}
        return Tally(
            self.studies + other.studies,
            _added(self.held, other.held),
            _added(self.sums, other.sums),
            _added(self.flags, other.flags),
            kept,
        )


_Key = TypeVar("_Key")
_Counts = TypeVar("_Counts", IntervalCounts, Floats)


def _added(first: dict[_Key, _Counts], second: dict[_Key, _Counts]) -> dict[_Key, _Counts]:
    found = dict(first)
    for key, value in second.items():
        found[key] = found[key] + value if key in found else value
    return found


def tally(
    studies: Studies,
    methods: Sequence[Method],
    levels: Sequence[float],
    truth: Floats,
    parameter: Floats | None,
) -> Tally:
    """Return the tally of one block.

    Parameters
    ----------
    studies : Studies
        Simulated releases.
    methods, levels
        Which intervals.
    truth : ndarray of shape (studies, entries)
        What is true of each study.
    parameter : ndarray of shape (entries,), optional
        What is true of the population.
    """
    held = {
        (method.name, level): _counted(
            studies, method, level, truth if method.about == "dataset" else parameter
        )
        for method in methods
        for level in levels
    }
    figures = _figures(studies, truth, parameter)
    flags = {name: up.sum(axis=1).astype(float) for name, up in studies.flags.items()}
    if flags:
        flags[""] = np.any(list(studies.flags.values()), axis=0).sum(axis=1).astype(float)
    kept = {name: values[:, :KEPT] for name, values in figures.items() if name in {"z", "noise z", "error"}}
    return Tally(studies.shape[1], held, _sums(figures), flags, kept)


def _counted(studies: Studies, method: Method, level: float, truth: Floats | None) -> IntervalCounts:
    losses, _, entries = studies.shape
    nothing = np.zeros((losses, entries))
    if truth is None:
        return IntervalCounts(nothing, nothing, nothing, "No parameter of a population is meant here.")
    try:
        low, high = method(studies, level)
    except Unavailable as reason:
        return IntervalCounts(nothing, nothing, nothing, str(reason))
    inside = holds(low, high, truth)
    with np.errstate(invalid="ignore"):
        there = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(np.broadcast_to(truth, low.shape))
        width = np.where(there, high - low, 0.0)
    return IntervalCounts(
        there.sum(axis=1).astype(float), (inside & there).sum(axis=1).astype(float), width.sum(axis=1)
    )


def holds(low: Floats, high: Floats, truth: Floats, slack: float = 1e-9) -> NDArray[np.bool_]:
    """Return which intervals hold the truth; what rounding moves an end by is allowed for."""
    little = slack * (1 + np.abs(truth))
    with np.errstate(invalid="ignore"):
        return np.asarray((low <= truth + little) & (truth - little <= high))


def _figures(studies: Studies, truth: Floats, parameter: Floats | None) -> dict[str, Floats]:
    """Return error and z-scores of every study."""
    nan = np.full(studies.shape, np.nan)
    error = studies.standard_error
    if error is not None:  # the delta method has no error for a root of zero: the release says an immense one
        error = np.where(error < _IMMENSE, error, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise_z = (studies.value - truth) / np.sqrt(studies.noise_variance)
        z = nan if error is None or parameter is None else (studies.value - parameter) / error
    return {
        "value": studies.value,
        "noise": studies.value - truth,
        "miss": nan if parameter is None else studies.value - parameter,
        "error": nan if error is None else error,
        "z": z,
        "noise z": noise_z,
        "n_eff": nan if studies.n_eff is None else studies.n_eff,
    }


def _sums(figures: dict[str, Floats]) -> dict[str, Floats]:
    found = {}
    for name in ("value", "noise", "miss", "error", "n_eff"):
        values = figures[name]
        there = np.isfinite(values)
        found[name] = np.where(there, values, 0.0).sum(axis=1)
        found[f"{name} squared"] = np.where(there, values**2, 0.0).sum(axis=1)
        found[f"{name} known"] = there.sum(axis=1).astype(float)
    with np.errstate(invalid="ignore"):
        found["error zero"] = (figures["error"] == 0).sum(axis=1).astype(float)
    return found


def wilson(held: ArrayLike, studies: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the Wilson interval of a proportion, entry by entry; NaN without studies.

    References
    ----------
    Wilson (1927), *Probable inference, the law of succession, and statistical inference*.

    Examples
    --------
    >>> low, high = wilson(950, 1000)
    >>> round(float(low), 4), round(float(high), 4)
    (0.9347, 0.9619)
    """
    held, studies = np.asarray(held, dtype=float), np.asarray(studies, dtype=float)
    z2 = normal_quantile(0.5 + level / 2) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = held / studies
        middle = (share + z2 / (2 * studies)) / (1 + z2 / studies)
        half = np.sqrt(z2 * (share * (1 - share) / studies + z2 / (4 * studies**2))) / (1 + z2 / studies)
    return middle - half, middle + half


def share(held: float, studies: float) -> dict[str, float]:
    """Return a coverage as tables have it: ``coverage``, and its 95 % Wilson band from ``low`` to ``high``."""
    low, high = wilson(held, studies)
    return {"coverage": held / studies if studies else float("nan"), "low": float(low), "high": float(high)}
