"""What a placement says: a density, a distribution function, quantiles and a sample, all read from one release, free.

A placement is how many of k points lie in each of m equal public cells, by the mechanism with the Kolmogorov-Smirnov score
(:mod:`dpnb.trusted.mechanisms.ks_exponential`).

*Intervals.* With the placement comes its noised distance to the data, which is the only source of error that counts: the band about the
whole distribution function holds with at least the level's probability, whatever the data are. It speaks of the ends of cells: where
inside its cell a quantile of the data lies is not known, so an interval ends with whole cells. (A plug-in, the distance that
placements would have if the data were the released one, does not cover: it misses atoms.) Refuses to give a point of the
synthetic sample an interval.

References
----------
Wasserman & Zhou 2010, *A statistical framework for differential privacy*; Massart 1990 (the sampling band).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference import digits
from dpnb.inference.elementwise import Floats, Truths
from dpnb.inference.law import DiscreteLaplaceLaw, law_from_json
from dpnb.statistics._base import Axis, Setting, check_levels
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Law, best, mechanism_of
from dpnb.statistics.result import Cell, Chosen, Pair, Read, ReadingFunction, Result
from dpnb.trusted.mechanisms import KSExponential
from dpnb.trusted.releases import Release

MOST_POINTS, MOST_CELLS, FEWEST_POINTS = 1000, 256, 20
PRIVATE_POINTS = 100
"""Where the number of rows is private; more would take seconds on some data and milliseconds on other."""
MOST_SAMPLE = 100_000
NO_DRAWS = "A placement is drawn as a whole: no noise was added to a number, so no interval is carried through arithmetic."
NO_POINT_INTERVAL = (
    "A synthetic point has no interval: read .cdf() or .quantile() of the release, which have."
)
BAND = "a band about the whole distribution function, from the noised distance of the placement"


@dataclass(frozen=True, slots=True)
class Grid:
    """The public cells: the first code of each, and its size."""

    firsts: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, setting: Setting) -> Grid:
        """Cut the public grid of the target into as many nearly equal cells as were asked."""
        number, cells = setting.number(), cells_of(setting)
        points = number.high - number.low + 1
        firsts = [-(-points * place // cells) for place in range(cells + 1)]
        sizes = tuple(b - a for a, b in pairwise(firsts))
        return cls(tuple(number.low + first for first in firsts[:-1]), sizes)


def resolution(setting: Setting) -> int:
    """Return n^(2/3), as many points as Wasserman and Zhou place, where the number of rows is public; else 100."""
    rows = setting.public_n
    return PRIVATE_POINTS if rows is None else min(MOST_POINTS, max(1, round(rows ** (2 / 3))))


def asked_points(setting: Setting) -> int:
    """Return points= as asked, 0 where it was not."""
    return _whole(setting, "points", MOST_POINTS)


def points_of(setting: Setting, epsilon: Fraction, factor: int) -> int:
    """Return k: as asked; else n^(2/3), but no more than the loss can hold near the data.

    A point more makes the base measure, which knows nothing of the data, count more: its pull is about k·log m against ε·n/2. Measured on
    smooth data and on atoms, k up to ε·n/64 costs little on the former and saves the latter.

    Raises
    ------
    PlanError
        When so many points are asked that the sample would forget the data.
    """
    rows, asked = setting.public_n, asked_points(setting)
    hold = None if rows is None else float(epsilon) * rows / factor
    most = PRIVATE_POINTS if hold is None else max(PRIVATE_POINTS, int(hold / 32))
    if asked > most:
        raise PlanError(
            f"{asked:,} points are too many for this loss: the sample would forget the data. Ask points={most} at most, or more epsilon."
        )
    return asked or min(resolution(setting), 10**9 if hold is None else max(FEWEST_POINTS, int(hold / 64)))


def cells_of(setting: Setting) -> int:
    """Return m: as asked, or n^(2/3), at most 256; never more than grid points."""
    number = setting.number()
    grid = number.high - number.low + 1
    return min(_whole(setting, "cells", MOST_CELLS) or min(resolution(setting), MOST_CELLS), grid)


def _whole(setting: Setting, name: str, most: int) -> int:
    asked = setting.options[name]
    if asked is None:
        return 0
    whole = isinstance(asked, int | float | Fraction) and not isinstance(asked, bool)
    if not whole or Fraction(asked).denominator != 1 or not 1 <= asked <= most:
        raise OptionError(f"{name}= is a whole number from 1 to {most:,}.")
    return int(asked)


@dataclass(frozen=True, slots=True)
class Band:
    """How far a distribution function may be off, at a level.

    Parameters
    ----------
    missed : float
        The noised largest rank error max|N_j - n S_j/k|.
    noise : DiscreteLaplaceLaw
        Of k times that.
    points : int
        k.
    rows : float
        Number of rows, public or as released.
    count_noise : law, optional
        Of the released number of rows.
    clustered : bool
        Whether a person may have several rows.
    """

    missed: float
    noise: DiscreteLaplaceLaw
    points: int
    rows: float
    count_noise: Law | None
    clustered: bool

    def radius(self, level: float, *, sampling: bool) -> float:
        """Return the radius about the data's distribution function, or about the population's.

        About the data's it is one-sided, a fifth of the error left to the number of rows; about the population's the sampling band of
        Dvoretzky, Kiefer, Wolfowitz and Massart is added, half of what is allowed for each of the two errors.
        """
        if sampling:
            half, rows = (1 + level) / 2, max(self.rows, 1.0)
            widened = math.sqrt(math.log(2 / (1 - half)) / (2 * rows))
            return min(self.radius(half, sampling=False) + widened, 1.0)
        alpha, rows = 1 - level, self.rows
        if self.count_noise is not None:
            rows -= float(self.count_noise.tail_radius(min(1.0, 2 * alpha / 5)))
            alpha *= 4 / 5
        reach = max(self.missed, 0.0) + float(self.noise.tail_radius(min(1.0, 2 * alpha))) / self.points
        return min(reach / rows, 1.0) if rows >= 1 else 1.0


@dataclass(frozen=True, slots=True)
class PlacedCell(Cell):
    """One entry that is read from a placement.

    Parameters
    ----------
    value : float
        The answer.
    band : Band
        How far the distribution function may be off.
    between : callable
        Which values of the answer a distribution function that is off by so much leaves possible.
    counted : bool
        Whether the number of rows is told with it.
    """

    value: float
    band: Band
    between: Callable[[float], Pair]
    counted: bool = False

    noise_variance: ClassVar[float] = math.nan

    @property
    def n(self) -> float | None:
        """Rows, public or as released."""
        return max(self.band.rows, 0.0) if self.counted else None

    @property
    def no_population(self) -> str:
        """Rows of one person are alike."""
        return CLUSTERED if self.band.clustered else ""

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return what the band of the check leaves possible, widened for the population by the sampling band."""
        return self.between(self.band.radius(level, sampling=sampling))


def about(value: float, spread: float, low: float, high: float) -> Callable[[float], Pair]:
    """Return how an answer in a public range moves that changes by `spread` where the distribution function changes by one."""
    return lambda radius: (max(value - spread * radius, low), min(value + spread * radius, high))


@dataclass(frozen=True, slots=True)
class Placed:
    """A released placement with its public cells: everything that is read from it."""

    setting: Setting
    release: Release

    def groups(self) -> list[tuple[tuple[int, ...], Band]]:
        """Points by cell, and how far their distribution function may be off, for each group."""
        part, size = self.release.part("placement"), cells_of(self.setting) + 1
        mechanism, rows = mechanism_of(part.law, KSExponential), self.setting.public_n
        law, points, noise = DiscreteLaplaceLaw(mechanism.check_scale), mechanism.points, None
        counts = [float(rows or 0)] * (len(part.values) // size)
        if rows is None:
            count = self.release.part("count")
            counts, noise = [float(value) for value in count.values], law_from_json(dict(count.law))
        found = []
        for place, n in enumerate(counts):
            *placed, missed = part.values[place * size : (place + 1) * size]
            found.append(
                (tuple(placed), Band(missed / points, law, points, n, noise, self.setting.clustered))
            )
        return found

    def value(self, code: int) -> float:
        """A code of the public grid in the unit of the answer."""
        number = self.setting.number()
        return float(number.offset + number.step * code)

    def at(self, placed: tuple[int, ...], level: float) -> float:
        """A quantile of one group: the points of a cell lie evenly on its values."""
        shares, asked, grid = _shares(placed), min(max(level, 0.0), 1.0), Grid.of(self.setting)
        cell = max(_first(shares[1:] >= asked), _first(np.array(placed) > 0))
        inside = (asked - shares[cell]) / (shares[cell + 1] - shares[cell])
        step = math.ceil(inside * grid.sizes[cell] - 1e-9) - 1
        return self.value(grid.firsts[cell] + min(max(step, 0), grid.sizes[cell] - 1))

    def between(self, placed: tuple[int, ...], level: float, radius: float) -> Pair:
        r"""The values between which every quantile of the data lies, where the band holds at the ends of the cells.

        Where :math:`F` is known at the ends of cells alone, within ``radius``, a quantile may be any value of the first cell by whose
        end :math:`F ≥ q` is possible, of the first by whose end :math:`F > q` is certain, and of those between.
        """
        shares, grid = _shares(placed)[1:], Grid.of(self.setting)
        first, last = _first(shares + radius >= level), _first(shares - radius > level)
        return self.value(grid.firsts[first]), self.value(grid.firsts[last] + grid.sizes[last] - 1)


def _shares(placed: tuple[int, ...]) -> Floats:
    """The distribution function of the points before each cell, and after the last."""
    return np.asarray(np.cumsum((0, *placed)) / sum(placed))


def _first(true: Truths) -> int:
    """The first place of which something is true; the last place where it is true of none, for nothing lies beyond."""
    return int(np.argmax(true)) if true.any() else true.size - 1


def _points(points: Iterable[object], setting: Setting) -> tuple[Fraction, ...]:
    """Return points of the declared range as they are written, below its last value, where the share is known to be 1."""
    number, listed = setting.number(), tuple(points)
    good = all(not isinstance(at, bool) and isinstance(at, Real) and math.isfinite(at) for at in listed)
    if not listed or not good:
        raise PlanError("cdf() takes a number or a list of numbers, for example .cdf(50) or .cdf([25, 50]).")
    given = tuple(Fraction(str(at)) for at in listed)
    if not all(number.lowest <= at < number.highest for at in given):
        low, high = float(number.lowest), float(number.highest)
        raise PlanError(
            f"cdf() takes points from {digits.given(low)} to below {digits.given(high)}, as declared."
        )
    return given


def _beyond(below: float, above: float, radius: float) -> Pair:
    """The shares below that before a cell and above that after it, by a radius."""
    return max(below - radius, 0.0), min(above + radius, 1.0)


def _cdf_at(setting: Setting, points: Any) -> Read:
    """The distribution function at given points of the declared range, below its last value."""
    several = isinstance(points, list | tuple | np.ndarray)
    given = _points(points if several else (points,), setting)
    number, grid = setting.number(), Grid.of(setting)
    codes = np.array((*grid.firsts, grid.firsts[-1] + grid.sizes[-1]))
    asked = [math.floor((point - number.offset) / number.step) + 1 for point in given]
    extra = (Axis("at most", "at most", tuple(map(float, given))),) if several else ()
    axes = (*setting.axes[:-1], *extra)
    shape = tuple(len(axis.keys) for axis in axes)

    def conclude(releases: Sequence[Release]) -> Result:
        cells = []
        for placed, band in Placed(setting, best(releases)).groups():
            shares = _shares(placed)
            for code in asked:
                first, last = np.searchsorted(codes, code, "right") - 1, np.searchsorted(codes, code, "left")
                ends = partial(_beyond, float(shares[first]), float(shares[last]))
                cells.append(PlacedCell(float(np.interp(code, codes, shares)), band, ends))
        return Result.of(cells, shape, (0.0, 1.0), None, NO_DRAWS, notes=NOTES)

    said = ", ".join(f"{float(point):g}" for point in given)
    return Read(f".cdf([{said}])" if several else f".cdf({said})", shape, axes, conclude)


def cdf(setting: Setting, points: object = None) -> Read:
    """The distribution function: the share of people with a value of at most each point.

    Parameters
    ----------
    points : number or list of numbers, optional
        Where; by default the upper end of each cell. Inside a cell the share is linear, and its interval is the band about the shares
        at both ends of the cell.
    """
    if points is not None:
        return _cdf_at(setting, points)

    def conclude(releases: Sequence[Release]) -> Result:
        made = Placed(setting, best(releases))
        cells = [
            PlacedCell(
                float(share), band, about(float(share), float(cell < len(placed) - 1), 0.0, 1.0), counted=True
            )
            for placed, band in made.groups()
            for cell, share in enumerate(np.cumsum(placed) / sum(placed))
        ]
        return Result.of(cells, setting.shape, (0.0, 1.0), None, NO_DRAWS, notes=NOTES)

    return Read(".cdf()", setting.shape, setting.axes, conclude)


def quantile(setting: Setting, q: Any = 0.5) -> Read:
    """Quantiles of the placement.

    Parameters
    ----------
    q : float or list of float
        Between 0 and 1.
    """
    several = isinstance(q, list | tuple | np.ndarray)
    levels = tuple(q) if several else (q,)
    check_levels(levels)
    domain = setting.number().bounds
    extra = (Axis("quantile", "quantile", tuple(float(at) for at in levels)),) if several else ()
    axes = (*setting.axes[:-1], *extra)
    shape = tuple(len(axis.keys) for axis in axes)

    def conclude(releases: Sequence[Release]) -> Result:
        made, cells = Placed(setting, best(releases)), []
        for placed, band in made.groups():
            cells += [
                PlacedCell(made.at(placed, at), band, partial(made.between, placed, at))
                for at in map(float, levels)
            ]
        return Result.of(cells, shape, domain, None, NO_DRAWS, notes=NOTES)

    shown = ", ".join(f"{float(at):g}" for at in levels)
    return Read(f".quantile([{shown}])" if several else f".quantile({shown})", shape, axes, conclude)


def median(setting: Setting) -> Read:
    """The median of the placement."""
    found = quantile(setting, 0.5)
    return Read(".median()", found.shape, found.axes, found.conclude)


def sample(setting: Setting, size: object = None) -> Read:
    """A synthetic sample in rising order: evenly spaced quantiles of the placement.

    As private as the release itself, at any size.

    Parameters
    ----------
    size : int, optional
        How many values, up to 100,000; by default n^(2/3) where the number of rows is public, else 100.
    """
    points = resolution(setting) if size is None else size
    if isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= MOST_SAMPLE:
        raise OptionError(f"size= is a whole number from 1 to {MOST_SAMPLE:,}.")
    axes = (*setting.axes[:-1], Axis("point", "point", tuple(range(1, points + 1))))
    shape = tuple(len(axis.keys) for axis in axes)

    def conclude(releases: Sequence[Release]) -> Result:
        made = Placed(setting, best(releases))
        cells = [
            Chosen(made.at(placed, (point + 0.5) / points), NO_POINT_INTERVAL)
            for placed, _ in made.groups()
            for point in range(points)
        ]
        return Result.of(cells, shape, setting.number().bounds, None, NO_DRAWS)

    return Read(f".sample({'' if size is None else size})", shape, axes, conclude)


READINGS: Mapping[str, ReadingFunction] = MappingProxyType(
    {"cdf": cdf, "quantile": quantile, "median": median, "sample": sample}
)
NOTES = {"privacy": BAND, "confidence": f"{BAND}, and Massart's sampling band"}


def tick(value: Fraction) -> str:
    """A public number as it is shown."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
