r"""How two keys go together, read off their contingency table: Spearman's rank correlation and Cramér's V. Free.

*Spearman.* With shares :math:`p_{ij}` of the table, the mid-rank of row :math:`i` is :math:`r_i = \sum_{h<i} p_{h·} + p_{i·}/2 - 1/2`, that of a column
likewise, and :math:`ρ = \sum p_{ij} r_i c_j / \sqrt{\sum p_{i·} r_i^2 \sum p_{·j} c_j^2}`: the correlation of ranks where ties have their middle, as
they have in a table. Keys count in their declared order, bins in theirs. Of finer values than the bins it is the correlation of the bins.

*Cramér.* :math:`V^2 = \sum (p_{ij} - p_{i·} p_{·j})^2 / (p_{i·} p_{·j}) / (m - 1)` with :math:`m` the smaller number of values. Errors only add to it:
what they add on average, in draws, is taken off.

Both intervals are the symmetric quantile of draws about their mean: of the known noise, and of noise and multinomial sampling, with Student's
factor; for Cramér's V they are those of :math:`V^2`. Where the ranks of a key, or for Cramér the share of one of its values, are not clear of
their noise, the interval is the whole range.

References
----------
Spearman (1904); Kendall & Gibbons, *Rank Correlation Methods* (1990), chapter 3, for ties; Cramér, *Mathematical Methods of Statistics* (1946),
21.9; Bergsma, *A bias-correction for Cramér's V and Tschuprow's T* (2013).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

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
from dpnb.statistics.result import Kind, Pair, Read, Result
from dpnb.statistics.shares import multinomial_errors
from dpnb.trusted.releases import Release

UNCLEAR = "undefined"
_CLEAR = 3


def spearman(setting: Setting) -> Read:
    """Read Spearman's rank correlation of the last two keys, in their declared order; of a table of three keys, one for each value of the first."""
    return _read(setting, ".spearman()", RankCorrelation)


def cramers_v(setting: Setting) -> Read:
    """Read Cramér's V of the last two keys: 0 where they are independent, 1 where one tells the other; of three keys, one for each value of the first."""
    return _read(setting, ".cramers_v()", CramersV)


def _read(setting: Setting, text: str, kind: type[Association]) -> Read:
    groups = setting.axes[:-2]
    shape = tuple(len(axis.keys) for axis in groups)

    def conclude(releases: Sequence[Release]) -> Result:
        part = combine(releases)["count"]
        return kind(setting, part, DrawGenerator(draws_of(releases))).result(shape)

    return Read(text, shape, groups, conclude)


def ranked(table: Floats) -> tuple[Floats, Floats]:
    """Return the rank correlation of tables of counts, and the smaller variance of both keys' ranks; shape ``(…, rows, columns)``."""
    p = table / _size(table)
    rows, columns = p.sum(axis=-1), p.sum(axis=-2)
    r, c = (np.cumsum(one, axis=-1) - one / 2 - 0.5 for one in (rows, columns))
    both = np.einsum("...ij,...i,...j->...", p, r, c)
    spreads = [np.sum(share * rank**2, axis=-1) for share, rank in ((rows, r), (columns, c))]
    good = np.minimum(*spreads) > 0
    found = both / np.sqrt(np.where(good, spreads[0] * spreads[1], 1.0))
    return np.clip(np.where(good, found, 0.0), -1.0, 1.0), np.minimum(*spreads)


def squared_v(table: Floats) -> Floats:
    """Return the square of Cramér's V of tables of counts, as it is, without a correction; a value counts as one row at least."""
    size = _size(table)
    p = table / size
    rows, columns = (np.maximum(p.sum(axis=axis, keepdims=True), 1 / size) for axis in (-1, -2))
    most = min(table.shape[-2:]) - 1
    return np.asarray(((p - rows * columns) ** 2 / (rows * columns)).sum(axis=(-1, -2)) / most)


def _size(table: Floats) -> Floats:
    return np.asarray(np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0))


@dataclass(frozen=True, eq=False)
class Association(ABC):
    """A measure of association in a released table, one for each group.

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

    domain: ClassVar[Pair]
    biased: ClassVar[bool] = False
    """Whether errors add to the measure on average."""

    @abstractmethod
    def of(self, tables: Floats) -> Floats:
        """Return the measure of tables, shape ``(…, rows, columns)``."""

    @abstractmethod
    def blurred(self) -> Truths:
        """Return for which groups the noise alone could have made the keys."""

    @staticmethod
    def told(measure: Floats) -> Floats:
        """Return what is told of the measure."""
        return measure

    def tables(self, counts: Floats) -> Floats:
        """Return counts as tables of two keys, shape ``(…, groups, rows, columns)``."""
        return counts.reshape(*counts.shape[:-1], -1, *self.setting.shape[-2:])

    @cached_property
    def released(self) -> Floats:
        """The released tables, shape ``(groups, rows, columns)``."""
        return self.tables(self.part.values)

    @cached_property
    def sizes(self) -> Floats:
        """Rows in each."""
        return np.asarray(np.maximum(self.released.sum(axis=(-1, -2)), 0.0))

    @cached_property
    def noise(self) -> Floats:
        """Draws of the noise, shape ``(draws, cells)``."""
        return self.part.noise_draws(DRAWS, self.rng)

    @cached_property
    def unclear(self) -> Truths:
        """Where nothing is known."""
        few = self.sizes < _CLEAR * self.part.noise.sd * math.sqrt(math.prod(self.setting.shape[-2:]))
        return np.asarray(few | self.blurred())

    def _errors(self, noise: Floats, rng: DrawGenerator, kind: Kind) -> Floats:
        """Return what noise, and sampling, take off and add to the measure, shape ``(draws, groups)``."""
        counts = self.part.values - noise
        if kind == "confidence":
            if self.setting.clustered:
                raise Unavailable(CLUSTERED)
            tables = np.maximum(self.released, 0.0).reshape(self.sizes.size, -1)
            rows = np.maximum(tables.sum(axis=-1, keepdims=True), 1.0)
            normal = rng.of("sampling").standard_normal((len(counts), *tables.shape))
            errors = np.sqrt(rows) * multinomial_errors(tables / rows, normal)
            counts = counts + errors.reshape(counts.shape)
        return np.asarray(self.of(self.tables(counts)) - self.of(self.released))

    def _bias(self, errors: Floats) -> Floats:
        return np.asarray(errors.mean(axis=0) if self.biased else np.zeros(self.sizes.size))

    @cached_property
    def measure(self) -> Floats:
        """The measure of this dataset, less what the noise adds to it."""
        found = self.of(self.released)
        return found - self._bias(self._errors(self.noise, self.rng, "privacy")) if self.biased else found

    def _ends(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
        errors = self._errors(self.noise, self.rng, kind)
        bias = self._bias(errors)
        away = errors - bias
        if kind == "confidence":
            sizes = np.maximum(self.sizes, 2.0)
            away = away * np.sqrt(np.array([student_inflation(float(n), level) for n in sizes]))
        low, high = around_draws(self.of(self.released) - bias, away, level)
        low, high = self.told(np.minimum(low, self.measure)), self.told(np.maximum(high, self.measure))
        least, most = self.domain
        return (
            np.where(self.unclear, least, np.clip(low, least, most)),
            np.where(self.unclear, most, np.clip(high, least, most)),
        )

    def _redraw(self, count: int, rng: DrawGenerator, kind: Kind) -> Floats:
        errors = self._errors(self.part.noise_draws(count, rng), rng, kind)
        return np.clip(self.told(self.of(self.released) + errors - 2 * self._bias(errors)), *self.domain)

    def result(self, shape: tuple[int, ...]) -> Result:
        """Return the measure of each group with both intervals."""
        values = np.clip(self.told(self.measure), *self.domain)
        return Result(
            values,
            shape,
            self.domain,
            self._ends,
            drawn_variances(self._redraw(DRAWS, self.rng, "privacy") - values),
            sizes=self.sizes,
            cell_flags=tuple((UNCLEAR,) if lost else () for lost in self.unclear),
            redraw=self._redraw,
            notes={"privacy": "draws of the noise", "confidence": "draws of noise and sampling"},
            drawn=True,
        )


class RankCorrelation(Association):
    """Spearman's rank correlation."""

    domain: ClassVar[Pair] = (-1.0, 1.0)

    def of(self, tables: Floats) -> Floats:
        """Return the correlation of mid-ranks."""
        return ranked(tables)[0]

    def blurred(self) -> Truths:
        """Return where the spread of a key's ranks is not clear of its noise."""
        spread = ranked(self.released)[1]
        noised = ranked(self.tables(self.part.values - self.noise))[1]
        return ~np.asarray(is_clear(spread, np.sqrt(np.mean((noised - spread) ** 2, axis=0))))


class CramersV(Association):
    """Cramér's V; its square is what errors are drawn of."""

    domain: ClassVar[Pair] = (0.0, 1.0)
    biased: ClassVar[bool] = True

    def of(self, tables: Floats) -> Floats:
        """Return the square of V."""
        return squared_v(tables)

    def blurred(self) -> Truths:
        """Return where the rows of a value are not clear of their noise."""
        rare = [
            self.released.sum(axis=axis).min(axis=-1)
            < _CLEAR * self.part.noise.sd * math.sqrt(self.setting.shape[axis])
            for axis in (-1, -2)
        ]
        return np.asarray(rare[0] | rare[1])

    @staticmethod
    def told(measure: Floats) -> Floats:
        """Return V, 0 where errors explain all."""
        return np.sqrt(np.maximum(measure, 0.0))
