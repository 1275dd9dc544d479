r"""Spearman's rank correlation of two keys, read off their contingency table: free.

With shares :math:`p_{ij}` of the table, the mid-rank of row :math:`i` is :math:`r_i = \sum_{h<i} p_{h·} + p_{i·}/2 - 1/2`, that of a column
likewise, and :math:`ρ = \sum p_{ij} r_i c_j / \sqrt{\sum p_{i·} r_i^2 \sum p_{·j} c_j^2}`: the correlation of ranks where ties have their middle, as
they have in a table. Keys count in their declared order, bins in theirs. Of finer values than the bins it is the correlation of the bins.

Both intervals are the symmetric quantile of draws about the value: of the known noise, and of noise and multinomial sampling, with Student's
factor. Where the spread of the ranks of a key is not clear of its noise, the interval is all of [-1, 1].

References
----------
Spearman (1904); Kendall & Gibbons, *Rank Correlation Methods* (1990), chapter 3, for ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Truths
from dpnb.inference.spread import is_clear
from dpnb.statistics._base import Setting
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.regression import DRAWS, around_draws, drawn_variances
from dpnb.statistics.released import Part, combine, draws_of
from dpnb.statistics.result import Kind, Read, Result
from dpnb.trusted.releases import Release

UNCLEAR = "undefined"


def spearman(setting: Setting) -> Read:
    """Read Spearman's rank correlation of the last two keys, in their declared order; of a table of three keys, one for each value of the first."""
    groups = setting.axes[:-2]
    shape = tuple(len(axis.keys) for axis in groups)

    def conclude(releases: Sequence[Release]) -> Result:
        part = combine(releases)["count"]
        return RankCorrelation(setting, part, DrawGenerator(draws_of(releases))).result(shape)

    return Read(".spearman()", shape, groups, conclude)


def ranked(table: Floats) -> tuple[Floats, Floats]:
    """Return the rank correlation of tables of counts, and the smaller variance of both keys' ranks; shape ``(…, rows, columns)``."""
    size = np.maximum(table.sum(axis=(-1, -2)), 1.0)[..., None]
    p = table / size[..., None]
    rows, columns = p.sum(axis=-1), p.sum(axis=-2)
    r, c = (np.cumsum(one, axis=-1) - one / 2 - 0.5 for one in (rows, columns))
    both = np.einsum("...ij,...i,...j->...", p, r, c)
    spreads = [np.sum(share * rank**2, axis=-1) for share, rank in ((rows, r), (columns, c))]
    good = np.minimum(*spreads) > 0
    found = both / np.sqrt(np.where(good, spreads[0] * spreads[1], 1.0))
    return np.clip(np.where(good, found, 0.0), -1.0, 1.0), np.minimum(*spreads)


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """The rank correlations of a released table.

    Parameters
    ----------
    setting : Setting
        The question of the counts.
    part : Part
        The released counts.
    rng : DrawGenerator
        Belongs to the draws of the release.
    """

    setting: Setting
    part: Part
    rng: DrawGenerator

    def _tables(self, counts: Floats) -> Floats:
        """Return counts as tables of two keys, shape ``(…, groups, rows, columns)``."""
        return counts.reshape(*counts.shape[:-1], -1, *self.setting.shape[-2:])

    @cached_property
    def _found(self) -> tuple[Floats, Floats]:
        return ranked(self._tables(self.part.values))

    @cached_property
    def _sizes(self) -> Floats:
        return np.asarray(np.maximum(self._tables(self.part.values).sum(axis=(-1, -2)), 0.0))

    @cached_property
    def _unclear(self) -> Truths:
        """Where the noise alone could have made the spread of a key's ranks."""
        noised = ranked(self._tables(self.part.values - self._noise))[1]
        away = np.sqrt(np.mean((noised - self._found[1]) ** 2, axis=0))
        few = self._sizes < 3 * self.part.noise.sd * math.sqrt(math.prod(self.setting.shape[-2:]))
        return np.asarray(few | ~np.asarray(is_clear(self._found[1], away)))

    @cached_property
    def _noise(self) -> Floats:
        return self.part.noise_draws(DRAWS, self.rng)

    def _sampled(self, counts: Floats, rng: DrawGenerator) -> Floats:
        """Return multinomial sampling errors of tables, approximately normal, shape ``(draws, cells)``."""
        tables = np.maximum(self._tables(self.part.values), 0.0).reshape(self._sizes.size, -1)
        size = np.maximum(tables.sum(axis=-1, keepdims=True), 1.0)
        normal = np.sqrt(tables) * rng.standard_normal((len(counts), *tables.shape))
        error = normal - tables / size * normal.sum(axis=-1, keepdims=True)
        return np.asarray(error.reshape(len(counts), -1))

    def _without(self, noise: Floats, rng: DrawGenerator, kind: Kind) -> Floats:
        counts = self.part.values - noise
        if kind == "confidence":
            if self.setting.clustered:
                raise Unavailable(CLUSTERED)
            counts = counts + self._sampled(counts, rng.of("sampling"))
        return ranked(self._tables(counts))[0]

    def _ends(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
        value = self._found[0]
        away = self._without(self._noise, self.rng, kind) - value
        if kind == "confidence":
            sizes = np.maximum(self._sizes, 2.0)
            away = away * np.sqrt(np.array([student_inflation(float(n), level) for n in sizes]))
        low, high = around_draws(value, away, level)
        lost = self._unclear
        return np.where(lost, -1.0, np.maximum(low, -1.0)), np.where(lost, 1.0, np.minimum(high, 1.0))

    def result(self, shape: tuple[int, ...]) -> Result:
        """Return the correlation of each group with both intervals."""
        return Result(
            self._found[0],
            shape,
            (-1.0, 1.0),
            self._ends,
            drawn_variances(self._without(self._noise, self.rng, "privacy") - self._found[0]),
            sizes=self._sizes,
            cell_flags=tuple((UNCLEAR,) if lost else () for lost in self._unclear),
            redraw=lambda count, rng, kind: self._without(self.part.noise_draws(count, rng), rng, kind),
            notes={"privacy": "draws of the noise", "confidence": "draws of noise and sampling"},
            drawn=True,
        )
