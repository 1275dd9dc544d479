r"""Shares of several categories, from one vector of noised counts.

The share of category j among k is a ratio of released counts. For a candidate share p the residual :math:`\tilde c_j - p\tilde n`
has no signal left but noise, :math:`(1-p)e_j - p\sum_{i≠j}e_i`, whose law is known, and sampling error of variance
:math:`n p(1-p)`; the shares that this test accepts are the interval (Fieller, and Wilson for the sampling error). Where the total
is public the counts are first moved to it in equal parts, which makes each a little more exact, and the total is not estimated.
Shares of one table are dependent, in their noise and in sampling: draws keep both. Nothing here is released; a share is read from
counts, free. A share of people with several rows has no confidence interval, because rows of one person are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpnb.inference import NoiseSum, accepted_interval, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Integers, drawn_inside
from dpnb.statistics._base import Setting
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Part
from dpnb.statistics.result import Cell, Pair, Result

_PRIOR = 2.0
_SLACK = 0.5


@dataclass(frozen=True)
class ShareCell(Cell):
    """The share of one category among several, from noised counts.

    Parameters
    ----------
    count, size : float
        The category's noised count, and the noised (or public) total of its group.
    unit : NoiseSum
        The error of one count.
    categories : int
        How many categories share the total.
    public : bool
        Whether the total is public, and the counts were moved to it.
    clustered : bool
        Whether one person may have several rows.
    together : int
        For how many shares the level is meant at once; one for each alone.
    """

    count: float
    size: float
    unit: NoiseSum
    categories: int
    public: bool
    clustered: bool
    together: int = 1

    @property
    def rows(self) -> float:
        """The number of rows in the group, at least one."""
        return max(self.size, 1.0)

    @property
    def raw(self) -> float:
        """Count over total, before it is moved into the range of a share."""
        return self.count / self.rows

    @property
    def value(self) -> float:
        """The share, between 0 and 1."""
        return min(max(self.raw, 0.0), 1.0)

    @property
    def size_noise(self) -> NoiseSum:
        """The error of the total: none where it is public."""
        return NoiseSum() if self.public else several(self.unit, self.categories)

    def residual_noise(self, share: float) -> NoiseSum:
        """Return the law of ``count - share · size`` when ``share`` is the exact share."""
        pull = 1 / self.categories if self.public else share
        law = self.unit.scaled(1 - pull) + several(self.unit, self.categories - 1).scaled(pull)
        return replace(law, slack=min(law.slack, _SLACK))

    @property
    def noise_variance(self) -> float:
        """Variance of the share from the mechanism."""
        return float(self.residual_noise(self.value).total_variance) / self.rows**2

    @property
    def sampling_variance(self) -> float | None:
        """Variance of the share from sampling."""
        if self.clustered:
            return None
        share = min(max((self.count + _PRIOR) / (self.rows + 2 * _PRIOR), 0.0), 1.0)
        return share * (1 - share) / self.rows

    @property
    def n(self) -> float:
        """Rows in the group, as released."""
        return max(self.size, 0.0)

    @property
    def small(self) -> bool:
        """Whether the size is not clearly above zero: intervals are then all of the shares."""
        return self.size < 3 * self.size_noise.sd or self.size < 1

    @property
    def raised(self) -> dict[str, bool]:
        """Warnings from released numbers, and whether they are up."""
        return {"arm too small": self.small, "clamped": not 0 <= self.raw <= 1}

    def p_value(self, share: float, level: float, *, sampling: bool) -> float:
        """Return the p-value of a candidate share, with or without sampling error."""
        law = self.residual_noise(share)
        if sampling:
            law = law.plus_normal(self.rows * share * (1 - share) * student_inflation(self.rows, level))
        return float(law.tail(abs(self.value - share) * self.rows))

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        alpha = (1 - level) / self.together
        if self.small or (not self.public and self.size <= self.size_noise.radius(alpha)):
            return 0.0, 1.0
        return accepted_interval(
            lambda share: self.p_value(share, 1 - alpha, sampling=sampling), self.value, 0.0, 1.0, alpha
        )

    @property
    def no_population(self) -> str:
        """Why there is no confidence interval; empty where there is one."""
        return CLUSTERED if self.clustered else ""


def several(unit: NoiseSum, count: int) -> NoiseSum:
    """Return the law of the sum of so many independent errors; a sum of integers needs one half step of slack."""
    scales = tuple(b for b in unit.scales for _ in range(count))
    return NoiseSum(unit.variance * count, scales, _SLACK if count else 0.0)


@dataclass(frozen=True, eq=False)
class SharesResult(Result):
    """Shares of one table: their sampling errors are those of a multinomial sample in each group.

    Parameters
    ----------
    groups : tuple of (tuple of int)
        Places of the entries that add up to one, group by group.
    """

    groups: tuple[tuple[int, ...], ...] = ()

    def draws(self, count: int, rng: DrawGenerator, kind: str) -> Floats:
        """Return plausible shares of the dataset or of the population, dependent as they are."""
        if kind != "confidence":
            return super().draws(count, rng, kind)
        self.both(0.95, kind)  # raises the reason where there is no population
        assert self.redraw is not None
        assert self.sizes is not None
        shares = self.redraw(count, rng, "privacy")
        normal = rng.of("sampling").standard_normal(shares.shape)
        for places in self.groups:
            mine = list(places)
            size = max(float(self.sizes[mine[0]]), 1.0)
            p = np.clip(shares[:, mine], 0.0, 1.0)
            shares[:, mine] += multinomial_errors(p, normal[:, mine]) / np.sqrt(size)
        return np.asarray(np.clip(shares, 0.0, 1.0)).reshape((count, *self.shape))


def multinomial_errors(shares: Floats, normal: Floats) -> Floats:
    """Return the sampling errors of shares in a sample of one row, approximately: over the root of n they are those of n rows.

    Parameters
    ----------
    shares : ndarray, shape (…, categories)
        Not negative.
    normal : ndarray, shape (…, categories)
        Standard normal draws.
    """
    error = np.sqrt(shares) * normal
    return np.asarray(error - shares * error.sum(axis=-1, keepdims=True))


def shares_result(
    setting: Setting, part: Part, shape: tuple[int, ...], within: Sequence[int], *, simultaneous: bool = False
) -> SharesResult:
    """Return the shares of a table of counts.

    Parameters
    ----------
    setting : Setting
        The question of the counts.
    part : Part
        The released counts.
    shape : tuple of int
        Shape of the table.
    within : sequence of int
        Axes inside whose values the shares add up to one; none for shares of the whole table.
    simultaneous : bool
        Whether the level is meant for all shares at once (Bonferroni).
    """
    total = public_total(setting) if not within else None
    places = np.arange(part.values.size).reshape(shape)
    rest = [axis for axis in range(len(shape)) if axis not in within]
    grouped = places.transpose(*within, *rest).reshape(int(np.prod([shape[a] for a in within])), -1)
    counts, sizes = _against(part.values, grouped, total)
    together = part.values.size if simultaneous else 1
    clustered = setting.clustered
    cells = [
        ShareCell(float(c), float(n), part.noise, grouped.shape[1], total is not None, clustered, together)
        for c, n in zip(counts, sizes, strict=True)
    ]

    def redraw(count: int, rng: DrawGenerator) -> Floats:
        found, all_sizes = _against(part.values - part.noise_draws(count, rng), grouped, total)
        drawn, seen = found / np.maximum(all_sizes, 1.0), counts / np.maximum(sizes, 1.0)
        return np.asarray(drawn_inside(drawn, seen, 0.0, 1.0))

    said = f"; all {together} hold at once (Bonferroni)" if simultaneous else ""
    notes = {
        "privacy": "exact test of the noise" + said,
        "confidence": "exact test of noise and sampling" + said,
    }
    groups = tuple(tuple(int(i) for i in row) for row in grouped)
    return SharesResult.of(cells, shape, (0.0, 1.0), redraw, notes=notes, groups=groups)


def public_total(setting: Setting) -> float | None:
    """Return the number of rows in the whole table, where that is public: every row falls in one of its cells."""
    return None if setting.private or setting.unit.rows is None else float(setting.unit.rows)


def _against(values: Floats, grouped: Integers, total: float | None) -> tuple[Floats, Floats]:
    """Return counts and the total of the group of each; arrays may have leading axes."""
    sums = values[..., grouped].sum(axis=-1, keepdims=True)
    counts, sizes = values.astype(float).copy(), np.empty(values.shape)
    if total is not None:
        counts += (total - sums[..., 0]) / values.shape[-1]
        sums = np.full(sums.shape, total)
    sizes[..., grouped] = np.broadcast_to(sums, values[..., grouped].shape)
    return counts, sizes
