r"""What the noised counts of a histogram say of its density, and as whole counts that add up.

``method="histogram"`` is the count over rows times width: unbiased, so an empty bin may come out below zero.
``method="perturbed"`` is Wasserman and Zhou's perturbed histogram: counts below zero become zero and the rest is scaled to one, which
makes it a density. Either way the interval of a bin is that of its share, before clipping: a candidate share φ is accepted where
:math:`|C - φN|` is within a critical value times its standard deviation, the binomial variance added for the population.
Where the number of rows is public the counts are first made to add up to it, which takes 1/m of the variance of m bins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference import effective_size
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truths, around
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.ratio_interval import accepted_ratio, critical
from dpnb.inference.spread import normal_quantile
from dpnb.statistics._base import Setting
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Part, combine
from dpnb.statistics.result import Kind, Pair, Read, ReadingFunction, Result
from dpnb.trusted.releases import Release

METHODS = ("histogram", "perturbed")
SLACK = 0.5
NOTES = {
    "privacy": "the error law of a count and its total, inverted",
    "confidence": "the same with sampling error",
}


def public_rows(setting: Setting) -> int | None:
    """Return the number of rows in all bins together, where it is public: no groups, and every row in some bin."""
    return None if setting.private or len(setting.keys) > 1 else setting.unit.rows


def widths_of(setting: Setting) -> Floats:
    """Return the widths of the bins.

    Raises
    ------
    PlanError
        For values that are no intervals of a number.
    """
    if len(setting.edges) < 2:
        raise PlanError(
            "A density needs a number and bins; for a category ask .value_counts() or .proportions()."
        )
    return np.diff(np.array([float(edge) for edge in setting.edges]))


@dataclass(frozen=True, eq=False)
class Binned:
    """The noised counts of one histogram for each group.

    Parameters
    ----------
    setting : Setting
        The question.
    part : Part
        The released vector.
    """

    setting: Setting
    part: Part

    @property
    def bins(self) -> int:
        """Number of bins."""
        return self.setting.keys[-1].size

    def adjusted(self, values: Floats) -> Floats:
        """Return counts ``(…, groups, bins)`` that add up to the public number of rows, where there is one."""
        counts = values.reshape((*values.shape[:-1], -1, self.bins))
        rows = public_rows(self.setting)
        if rows is None:
            return np.asarray(counts)
        return np.asarray(counts - (counts.sum(axis=-1, keepdims=True) - rows) / self.bins)

    @property
    def counts(self) -> Floats:
        """The counts of each group."""
        return self.adjusted(self.part.values)

    def moved(self, drawn: Floats) -> Floats:
        """Return draws of counts that are about to be cut at zero, moved with those below it: else all of them would be zero."""
        return np.asarray(drawn - np.minimum(self.counts, 0.0))

    def total(self, counts: Floats) -> Floats:
        """Return the number of rows of each group, ``(…, groups, 1)``."""
        return np.asarray(counts.sum(axis=-1, keepdims=True))

    @property
    def spread(self) -> tuple[float, float, float]:
        """Variance of a count, its covariance with the total, variance of the total."""
        variance = float(self.part.noise.total_variance)
        if public_rows(self.setting) is not None:
            return variance * (1 - 1 / self.bins), 0.0, 0.0
        return variance, variance, variance * self.bins

    @property
    def small(self) -> Truths:
        """Whether the size of a group is not clearly above zero, ``(groups, 1)``: intervals are then all of the shares."""
        return np.asarray(self.total(self.counts) < 3 * math.sqrt(self.spread[2]))

    def shares(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
        """Return the accepted share of every bin."""
        alpha, (own, joint, whole) = 1 - level, self.spread
        laplace = any(isinstance(source.law, DiscreteLaplaceLaw) for source in self.part.sources)
        noise, size = critical(alpha, laplace=laplace) ** 2, self.total(self.counts)
        sampling: Number = 0.0
        if kind == "confidence":
            if self.setting.clustered:
                raise Unavailable(CLUSTERED)
            sampling = normal_quantile(1 - alpha / 2) ** 2 * np.maximum(size, 0.0)
        spread = (noise * own, sampling - 2 * noise * joint, noise * whole - sampling)
        return accepted_ratio(self.counts, size, spread, SLACK, (0.0, 1.0), lost=self.small)


@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of one histogram for each group, by a method.

    Parameters
    ----------
    found : Binned
        The counts.
    method : str
        ``"histogram"`` or ``"perturbed"``.
    """

    found: Binned
    method: str

    @cached_property
    def widths(self) -> Floats:
        """Widths of the bins."""
        return widths_of(self.found.setting)

    def read(self, counts: Floats) -> Floats:
        """Return the densities of some counts, ``(…, groups, bins)``; level where there are no rows."""
        if self.method == "perturbed":
            counts = np.maximum(counts, 0.0)
        total = self.found.total(counts)
        even = self.widths / self.widths.sum()
        share = np.where(total > 0, counts / np.where(total > 0, total, 1.0), even)
        return np.asarray(share / self.widths)

    @cached_property
    def values(self) -> Floats:
        """The densities."""
        return self.read(self.found.counts)

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """Variance of every share from the noise, and from sampling."""
        share = np.clip(self.values * self.widths, 0.0, 1.0)
        size = np.maximum(self.found.total(self.found.counts), 1.0)
        own, joint, whole = self.found.spread
        noise = np.maximum(own - 2 * share * joint + share**2 * whole, 0.0) / size**2
        return noise, share * (1 - share) / size

    def ends(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
        """Return both ends of every bin; where counts were clipped the interval holds the value too."""
        low, high = (share / self.widths for share in self.found.shares(level, kind))
        if self.method == "perturbed":
            low, high = np.minimum(low, self.values), np.maximum(high, self.values)
        return low.ravel(), high.ravel()

    def redraw(self, count: int, rng: DrawGenerator, kind: Kind) -> Floats:
        """Return densities as they may be without noise, or in the population."""
        part = self.found.part
        drawn = self.found.adjusted(part.values - part.noise_draws(count, rng))
        if self.method == "perturbed":
            drawn = self.found.moved(drawn)
        return self.read(_sampled(drawn, rng) if kind == "confidence" else drawn).reshape(count, -1)


def density_result(setting: Setting, releases: Sequence[Release], method: str) -> Result:
    """Return the density of each bin."""
    found = Binned(setting, combine(releases)["count"])
    made, alone = Densities(found, method), not setting.clustered
    noise, sampling = made.variances
    sizes = np.broadcast_to(np.maximum(found.total(found.counts), 0.0), noise.shape).ravel()
    small = np.broadcast_to(found.small, noise.shape).ravel()
    return Result(
        made.values.ravel(),
        setting.shape,
        density_domain(setting),
        made.ends,
        (noise / made.widths**2).ravel(),
        (sampling / made.widths**2).ravel() if alone else None,
        sizes,
        effective_size(sizes, sampling.ravel(), noise.ravel()) if alone else None,
        tuple(("arm too small",) if flag else () for flag in small) if small.any() else (),
        made.redraw,
        notes=NOTES,
        across=np.array([float(edge) for edge in setting.edges]),
        along=setting.calendar,
    )


def _sampled(counts: Floats, rng: DrawGenerator) -> Floats:
    """Add the multinomial error of a sample of this size, by its normal law."""
    held = np.maximum(counts, 0.0)
    error = np.sqrt(held) * rng.of("sampling").standard_normal(counts.shape)
    share = held / np.maximum(held.sum(axis=-1, keepdims=True), 1.0)
    return np.asarray(counts + error - share * error.sum(axis=-1, keepdims=True))


def density_domain(setting: Setting) -> Pair:
    """Return the public range of a density: all rows in the narrowest bin."""
    return 0.0, float(1 / widths_of(setting).min())


# ---------------------------------------------------------------- readings of a histogram


def density(setting: Setting, method: str = "histogram") -> Read:
    """Read the density: counts over rows times width.

    Parameters
    ----------
    method : {"histogram", "perturbed"}
        Unbiased, or clipped at zero and scaled to one.
    """
    checked_method(method)
    widths_of(setting)
    text = ".density()" if method == METHODS[0] else f'.density(method="{method}")'
    return Read(text, setting.shape, setting.axes, lambda releases: density_result(setting, releases, method))


def rounded(setting: Setting) -> Read:
    """Read whole counts, none below zero, that add up to the number of rows (where it is private, the noised one)."""
    return Read(".rounded()", setting.shape, setting.axes, lambda releases: rounded_result(setting, releases))


def rounded_result(setting: Setting, releases: Sequence[Release]) -> Result:
    """Return whole counts that add up, with the intervals of the counts they come from."""
    found = Binned(setting, combine(releases)["count"])
    domain, variance = setting.row_range, found.spread[0]

    def read(counts: Floats, total: Floats) -> Floats:
        return largest_remainders(np.maximum(counts, 0.0), np.clip(np.rint(total), *domain))

    values = read(found.counts, found.total(found.counts))
    raw = found.counts.ravel()

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            raise Unavailable(NO_POPULATION)
        laplace = any(isinstance(source.law, DiscreteLaplaceLaw) for source in found.part.sources)
        radius = critical(1 - level, laplace=laplace) * math.sqrt(variance) + SLACK
        low, high = around(raw, radius, *domain)
        return np.minimum(low, values.ravel()), np.maximum(high, values.ravel())

    def redraw(count: int, rng: DrawGenerator, kind: Kind) -> Floats:  # noqa: ARG001
        drawn = found.adjusted(found.part.values - found.part.noise_draws(count, rng))
        return read(found.moved(drawn), found.total(drawn)).reshape(count, -1)

    notes = {"privacy": "the interval of the count before rounding"}
    noise = np.full(raw.size, variance)
    return Result(values.ravel(), setting.shape, domain, ends, noise, redraw=redraw, notes=notes)


def largest_remainders(weights: Floats, totals: Floats) -> Floats:
    """Return whole numbers in proportion to weights that add up to whole totals along the last axis.

    Parameters
    ----------
    weights : ndarray, shape (…, bins)
        None negative; where all are zero they count as equal.
    totals : ndarray, shape (…, 1)
        Whole numbers.

    Examples
    --------
    >>> largest_remainders(np.array([1.0, 1.0, 1.0]), np.array([5.0])).tolist()
    [2.0, 2.0, 1.0]
    """
    whole = weights.sum(axis=-1, keepdims=True)
    share = np.where(whole > 0, weights / np.where(whole > 0, whole, 1.0), 1 / weights.shape[-1])
    exact = share * totals
    base = np.floor(exact)
    left = totals - base.sum(axis=-1, keepdims=True)
    order = np.argsort(np.argsort(base - exact, axis=-1, kind="stable"), axis=-1, kind="stable")
    return np.asarray(base + (order < np.rint(left)))


def checked_method(method: object) -> str:
    """Return a method of a density, or refuse it."""
    if method not in METHODS:
        raise OptionError(
            'method= is "histogram" (unbiased), "perturbed" (a density) or "ks" (a small synthetic sample).'
        )
    return str(method)


HISTOGRAM_READINGS: Mapping[str, ReadingFunction] = MappingProxyType(
    {"density": density, "rounded": rounded, "homogeneity_test": None}
)
