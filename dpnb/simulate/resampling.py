"""Blocks of a bootstrap study: rows, resamples, noise and intervals of many simulated studies at once.

The rows of a block are those that :mod:`dpnb.simulate.coverage` draws for the same seed and size; resamples and noise depend on
the seed, the size, the block and k alone. However a study is cut, the finished result is the same to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import OptionError
from dpnb.inference.bootstrap import Bootstrap, Kind, deconvolved_interval
from dpnb.inference.resampling import noise_variance, resample_sums
from dpnb.inference.spread import normal_quantile
from dpnb.simulate.design import block_of
from dpnb.simulate.populations import Population

IntervalKind = Kind | Literal["deconvolved"]
KINDS: tuple[IntervalKind, ...] = (*get_args(Kind), "deconvolved")
_DATA, _RESAMPLES = 0, 3
_FEWEST = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapDesign:
    """Everything that determines a bootstrap study, to the bit.

    Parameters
    ----------
    population : Population
        Of one number without missing values.
    n : int
        Rows of a study.
    rho : float
        What the resamples of a study are calibrated to.
    ks : tuple of int
        Numbers of resamples.
    kinds : tuple of str
        Readings of the spread.
    level, inflation : float
        What the intervals claim, and the factor on the published noise.
    simulations, seed : int
        How many studies, and the seed of everything drawn.
    """

    population: Population
    n: int
    rho: float
    ks: tuple[int, ...]
    kinds: tuple[IntervalKind, ...]
    level: float
    inflation: float
    simulations: int
    seed: int

    def __post_init__(self) -> None:
        if not self.ks or min(self.ks) < 2 or len(set(self.ks)) != len(self.ks):
            raise OptionError("ks= names numbers of resamples, each at least 2 and each once.")
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise OptionError(f"kinds= names at least one of {', '.join(KINDS)}.")
        if "deconvolved" in self.kinds and min(self.ks) < _FEWEST:
            raise OptionError("A deconvolved interval needs at least 10 resamples.")
        if not 0 < self.level < 1:
            raise OptionError(f"A level lies between 0 and 1, not {self.level}.")
        for k in self.ks:
            self.variance(k)

    def variance(self, k: int) -> float:
        """Return the variance of the noise on one of k resamples."""
        low, high = self.population.columns[0].bounds
        return noise_variance(float(high - low) / self.n, self.rho, k, self.inflation)


@dataclass(frozen=True, slots=True)
class Resampled:
    """What was counted of one k and kind: studies, intervals that held the mean, and sums of their widths."""

    studies: int = 0
    held: float = 0.0
    width: float = 0.0
    published: float = 0.0
    published_width: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The intervals of a block of studies, of one k and kind, as they were published (deconvolved ones as they are)."""

    low: Floats
    high: Floats
    truth: float
    estimate: Floats


def begun(design: BootstrapDesign) -> dict[tuple[int, str], Resampled]:
    """Return the tallies of a study of which nothing is simulated yet."""
    return {(k, kind): Resampled() for k in design.ks for kind in design.kinds}


def stepped(
    design: BootstrapDesign, tallies: dict[tuple[int, str], Resampled], done: int
) -> tuple[dict[tuple[int, str], Resampled], dict[tuple[int, str], Intervals]]:
    """Return the tallies with one more block of studies, and the block's intervals."""
    size, n = block_of(design.n), design.n
    count, place = min(size, design.simulations - done), done // size
    column = design.population.columns[0]
    codes = design.population.draw(np.random.default_rng((design.seed, _DATA, n, place)), count, n)[
        column.name
    ]
    if not codes.known.all():
        raise OptionError("A bootstrap study needs a population without missing values.")
    places = codes.values.reshape(count, n) + column.size * np.arange(count)[:, None]
    counts = np.bincount(places.ravel(), minlength=column.size * count).reshape(count, column.size)
    low, step, truth = float(column.bounds[0]), float(column.step or 1), mean_of(design.population)
    found = dict(tallies)
    seen: dict[tuple[int, str], Intervals] = {}
    for k in design.ks:
        rng = np.random.default_rng((design.seed, _RESAMPLES, n, place, k))
        variance = design.variance(k)
        means = low + step * resample_sums(counts, k, rng) / n
        made = Bootstrap(means + variance**0.5 * rng.standard_normal(means.shape), variance)
        for kind in design.kinds:
            found[k, kind], seen[k, kind] = _counted(made, kind, truth, design.level, found[k, kind])
    return found, seen


def _counted(
    made: Bootstrap, kind: IntervalKind, truth: float, level: float, before: Resampled
) -> tuple[Resampled, Intervals]:
    if kind == "deconvolved":
        published = corrected = deconvolved_interval(made, level)
    else:
        reach = normal_quantile(0.5 + level / 2)
        published = _around(made.estimate, reach * made.published_standard_error(kind))
        corrected = _around(made.estimate, reach * made.standard_error(kind))
    after = Resampled(
        before.studies + made.estimate.size,
        before.held + _inside(corrected, truth),
        before.width + float(np.sum(corrected[1] - corrected[0])),
        before.published + _inside(published, truth),
        before.published_width + float(np.sum(published[1] - published[0])),
    )
    return after, Intervals(published[0], published[1], truth, made.estimate)


def _around(middle: Floats, reach: Floats) -> tuple[Floats, Floats]:
    return middle - reach, middle + reach


def _inside(ends: tuple[Any, Any], truth: float) -> float:
    return float(np.sum((ends[0] <= truth) & (truth <= ends[1])))


def mean_of(source: Population) -> float:
    """Return the mean of a population of one number with a known law.

    Raises
    ------
    OptionError
        Where it has another shape, no law, or missing values.
    """
    law, column = source.law(), source.columns[0]
    if law is None or len(source.columns) != 1 or not column.numeric:
        raise OptionError(
            "A bootstrap study needs a population of one number with a known law, not a fixed study."
        )
    table, weights = law
    ints = table.columns[column.name]
    if not ints.known.all():
        raise OptionError("A bootstrap study needs a population without missing values.")
    low, step = float(column.bounds[0]), float(column.step or 1)
    return low + step * float(weights @ ints.values / weights.sum())
