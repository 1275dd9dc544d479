"""A noised matrix of cross moments: its values, the laws of its noise, and draws of what the exact matrix may have been.

Everything here is a function of released integers and public constants. What is read from the matrix is in
:mod:`dpnb.statistics.moment_readings` and :mod:`dpnb.statistics.regression`; it refuses nothing on any data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpnb.errors import SchemaError, Unavailable
from dpnb.inference import NoiseSum
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics._base import Setting
from dpnb.statistics.formula_terms import spelling
from dpnb.statistics.moment_integers import Block, blocks, pairs, radius_squared, sides, two_valued
from dpnb.statistics.released import Part, ReleasedParts, combine, draws_of
from dpnb.statistics.result import Result
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import nearest

DRAWS = 4_000
_EXACT_ONLY = "Moments describe this dataset. Read .mean(…), .covariance() or .ols(…) for the population."

Matrices = np.ndarray
"""Shape ``(…, 1 + columns, 1 + columns)``: sums of z z' with the constant first, columns in half ranges."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """A noised matrix with the laws of its noise.

    Parameters
    ----------
    names, terms : tuple of str
        The columns, and each as a term of a formula.
    centres, halves : ndarray
        ``value = centre + half · z``.
    blocks : tuple of Block
        Where each released integer belongs.
    parts : mapping
        The released vectors.
    rows : int, optional
        The number of rows where it is public.
    ids : tuple of str
        The releases, which seed all draws.
    clustered : bool
        Whether one person may have several rows.
    counts : tuple of int
        Places of two-valued columns, whose squares sum to the row count.
    moved : bool
        Whether rows far out were moved into a ball.
    pairs : tuple of (int, int)
        Places of every two columns whose products stand behind the columns, where all products of four moved ones are summed.
    """

    names: tuple[str, ...]
    terms: tuple[str, ...]
    centres: Floats
    halves: Floats
    blocks: tuple[Block, ...]
    parts: ReleasedParts
    rows: int | None
    ids: tuple[str, ...]
    clustered: bool
    counts: tuple[int, ...]
    moved: bool
    pairs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, setting: Setting, releases: Sequence[Release]) -> Crossed:
        """Read the releases of a question."""
        found, parts = sides(setting), combine(releases)
        return cls(
            setting.names,
            setting.terms,
            np.array([float(side.centre) for side in found]),
            np.array([float(side.unit * side.half) for side in found]),
            blocks(setting, parts),
            parts,
            setting.public_n,
            draws_of(releases),
            setting.clustered,
            two_valued(setting),
            radius_squared(setting) is not None,
            pairs(setting),
        )

    @cached_property
    def _places(self) -> list[tuple[Block, Floats, Floats, Floats]]:
        """For each block, which integer stands in which rows and columns."""
        found = []
        for block in self.blocks:
            places = [(at, *entry) for at, alike in enumerate(block.alike) for entry in alike]
            at, i, j = np.array(places).T
            found.append((block, at, i, j))
        return found

    def _scattered(
        self, pick: Callable[[Part], Floats], lead: tuple[int, ...] = (), *, squared: bool = False
    ) -> Matrices:
        size = len(self.names) + len(self.pairs) + 1
        found = np.zeros((*lead, size, size))
        for block, at, i, j in self._places:
            values = np.asarray(pick(self.parts[block.name]))[..., at] / block.unit ** (2 if squared else 1)
            found[..., i, j] = values
            found[..., j, i] = values
        return found

    def _own(self, found: Matrices) -> Matrices:
        """Leave out the products of two that stand behind the columns."""
        size = len(self.names) + 1
        return found[..., :size, :size]

    @cached_property
    def middles(self) -> tuple[int, ...]:
        """Places of the columns whose squares are summed from the middle: half of the number of rows is added to them."""
        return tuple(entry[0] for block in self.blocks if block.middle for entry in block.entries)

    def _counted(self, found: Matrices, part: float = 0.5) -> Matrices:
        """Put the row count where squares sum to it, and add a part of it where they are summed from the middle."""
        for place in self.counts:
            found[..., place, place] = found[..., 0, 0]
        for place in self.middles:
            found[..., place, place] += part * found[..., 0, 0]
        return found

    @cached_property
    def matrix(self) -> Matrices:
        """The noised matrix."""
        return self._own(self.whole)

    @cached_property
    def whole(self) -> Matrices:
        """The same, with the products of two columns as further columns."""
        found = self._scattered(lambda part: part.values)
        if self.rows is not None:
            found[0, 0] = self.rows
        return self._counted(found)

    @cached_property
    def variances(self) -> Matrices:
        """The variance of the noise on each entry."""
        return self._own(
            self._counted(
                self._scattered(
                    lambda part: np.full(np.shape(part.values)[-1], part.noise.total_variance), squared=True
                ),
                0.25,
            )
        )

    def form_sd(self, weights: Floats) -> float:
        """Return the standard deviation of the noise on a weighted sum of entries, of the matrix or of the whole."""
        total = 0.0
        for block, at, i, j in self._places:
            each = weights[i, j] + np.where(i == j, 0.0, weights[j, i])
            each = np.bincount(at, each, len(block.entries))
            if block.name == "count":  # the square of a two-valued column is the number of rows once more
                each = each + sum(weights[place, place] for place in self.counts)
                each = each + sum(weights[place, place] for place in self.middles) / 2
            total += float((each**2).sum()) * self.parts[block.name].noise.total_variance / block.unit**2
        return math.sqrt(total)

    def law(self, row: int, column: int) -> NoiseSum:
        """Return the law of the noise on one entry; none on a public row count."""
        entry = (0, 0) if row == column and row in self.counts else (min(row, column), max(row, column))
        block = next((one for one in self.blocks if any(entry in alike for alike in one.alike)), None)
        if block is None:
            return NoiseSum()
        law = self.parts[block.name].noise.scaled(1 / block.unit)
        return law + self.law(0, 0).scaled(0.5) if block.middle else law

    def noise(self, count: int, rng: DrawGenerator) -> Matrices:
        """Draws of the noise, shape ``(count, …)``; the same for every reading of these releases."""
        return self._own(self._counted(self._scattered(lambda part: part.noise_draws(count, rng), (count,))))

    def generator(self) -> DrawGenerator:
        """The generator of these releases."""
        return DrawGenerator(self.ids)

    @property
    def size(self) -> float:
        """The number of rows, as released."""
        return float(self.matrix[0, 0])

    @property
    def count(self) -> float:
        """The number of rows, at least one."""
        return max(self.size, 1.0)

    @property
    def small(self) -> bool:
        """Whether the number of rows is not clear of its noise."""
        return self.size < 3 * math.sqrt(self.variances[0, 0]) or self.size < 1

    def place(self, name: str) -> int:
        """Return where a column is in the matrix, from 1."""
        return place_of(name, self)

    def of_sums(self, matrices: Matrices) -> tuple[Floats, Floats]:
        """Return means and covariances (divisor n) of matrices, in half ranges."""
        n = np.maximum(matrices[..., 0, 0], 1.0)[..., None]
        means = np.clip(matrices[..., 0, 1:] / n, -1, 1)
        return means, matrices[..., 1:, 1:] / n[..., None] - means[..., :, None] * means[..., None, :]

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Means and covariances in half ranges, the second-order bias of the covariances taken off."""
        means, covariances = self.of_sums(self.matrix)
        bias = np.diag(self.variances[0, 1:]) + self.variances[0, 0] * np.outer(means, means)
        return means, covariances + bias / self.count**2

    @cached_property
    def deviations(self) -> tuple[Floats, Floats]:
        """How far exact means and covariances may lie from the released ones: draws, in half ranges."""
        means, covariances = self.of_sums(self.matrix - self.noise(DRAWS, self.generator()))
        here, there = self.of_sums(self.matrix)
        return means - here, covariances - there


class Named(Protocol):
    """Columns with their names, each also as a term of a formula."""

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""

    @property
    def terms(self) -> tuple[str, ...]:
        """What each is as a term, in one spelling."""


def place_of(name: object, columns: Named) -> int:
    """Return where a column is in the matrix, from 1, or refuse it with its nearest name."""
    names, wanted = columns.names, spelling(str(name))
    for known, asked in ((names, name), (columns.terms, wanted)):
        if asked in known:
            return list(known).index(str(asked)) + 1
    close = nearest(str(name), tuple(names))
    hint = f" Did you mean {close}?" if close else ""
    raise SchemaError(f"{name!r} is not in these moments.{hint} They hold {', '.join(names)}.")


# ---------------------------------------------------------------- the matrix itself


def matrix_outcome(setting: Setting, releases: Sequence[Release]) -> Result:
    """Return the sums of products over the rows, in the columns' own units."""
    crossed = Crossed.of(setting, releases)
    turn = _turn(crossed)
    values = turn @ crossed.matrix @ turn.T
    shape = values.shape
    noise = _entry_noise(crossed, turn)
    spread = np.array([law.total_variance for law in noise])

    def ends(level: float, kind: str) -> tuple[Floats, Floats]:
        if kind == "confidence":
            raise Unavailable(_EXACT_ONLY)
        radius = np.array([law.radius(1 - level) for law in noise])
        return values.ravel() - radius, values.ravel() + radius

    def redraw(count: int, rng: DrawGenerator, kind: str) -> Floats:  # noqa: ARG001
        found = turn @ (crossed.matrix - crossed.noise(count, rng)) @ turn.T
        return np.asarray(found.reshape(count, -1))

    return Result(
        values.ravel(),
        shape,
        (-math.inf, math.inf),
        ends,
        spread,
        sizes=np.full(values.size, max(crossed.size, 0.0)),
        cell_flags=((),) * values.size,
        redraw=redraw,
        notes={"privacy": "exact law of the noise"},
    )


def _turn(crossed: Crossed) -> Floats:
    """The matrix that takes (1, z) to (1, x)."""
    found = np.diag(np.concatenate([[1.0], crossed.halves]))
    found[1:, 0] = crossed.centres
    return found


def _entry_noise(crossed: Crossed, turn: Floats) -> list[NoiseSum]:
    """The law of the noise on each entry of the turned matrix."""
    size = len(turn)
    laws = {(i, j): NoiseSum() for i in range(size) for j in range(i, size)}
    for block in crossed.blocks:
        law = crossed.parts[block.name].noise.scaled(1 / block.unit)
        laws |= {entry: law for alike in block.alike for entry in alike if entry in laws}
    made: dict[tuple[int, int], NoiseSum] = {}
    for a in range(size):
        for b in range(a, size):
            weights = np.outer(turn[a], turn[b])
            for place in crossed.counts:
                weights[0, 0] += weights[place, place]
                weights[place, place] = 0.0
            for place in crossed.middles:
                weights[0, 0] += weights[place, place] / 2
            total = NoiseSum()
            for (i, j), law in laws.items():
                weight = weights[i, j] + (weights[j, i] if i != j else 0.0)
                if weight:
                    total = total + law.scaled(float(weight))
            made[a, b] = made[b, a] = total
    return [made[a, b] for a in range(size) for b in range(size)]
