"""A noised matrix of cross moments, and what is read from it free: the matrix itself, means, covariances and correlations.

Everything here is a function of released integers and public constants. Intervals push seeded draws of the known noise through
the same formulas: what an exact matrix may have been, seen from the released one. Where the noised number of rows is not clear
of its noise the whole range is shown; a covariance matrix that the noise made indefinite is projected, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpnb.errors import SchemaError, Unavailable
from dpnb.inference import NoiseSum, student_inflation
from dpnb.release import Axis, Release
from dpnb.release.pushing import DrawGenerator
from dpnb.release.reading import Read
from dpnb.schema import nearest
from dpnb.statistics._base import Setting
from dpnb.statistics.frobenius import Block, blocks, sides, two_valued
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Part, combine
from dpnb.statistics.vector import VectorResult, effective_sizes

DRAWS = 4_000
_UPPER = 1.645
_HIDDEN = 0.25
_EXACT_ONLY = "Moments describe this dataset. Read .mean(…), .covariance() or .ols(…) for the population."

Matrices = np.ndarray
"""Shape ``(…, 1 + columns, 1 + columns)``: sums of z z' with the constant first, columns in half ranges."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """A noised matrix with the laws of its noise.

    Parameters
    ----------
    names : tuple of str
        The columns.
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
    """

    names: tuple[str, ...]
    centres: np.ndarray
    halves: np.ndarray
    blocks: tuple[Block, ...]
    parts: Mapping[str, Part]
    rows: int | None
    ids: tuple[str, ...]
    clustered: bool
    counts: tuple[int, ...]

    @classmethod
    def of(cls, setting: Setting, releases: Sequence[Release]) -> Crossed:
        """Read the releases of a question."""
        found = sides(setting)
        return cls(
            setting.names,
            np.array([float(side.centre) for side in found]),
            np.array([float(side.unit * side.half) for side in found]),
            blocks(setting),
            combine(releases),
            setting.public_n,
            tuple(sorted({release.id for release in releases})),
            setting.unit.max_rows > 1,
            two_valued(setting),
        )

    def _scattered(self, pick: Callable[[Part], Any], lead: tuple[int, ...] = ()) -> Matrices:
        size = len(self.names) + 1
        found = np.zeros((*lead, size, size))
        for block in self.blocks:
            i, j = np.array(block.entries).T
            values = np.asarray(pick(self.parts[block.name])) / block.unit
            found[..., i, j] = values
            found[..., j, i] = values
        return found

    def _counted(self, found: Matrices) -> Matrices:
        """Put the row count where squares sum to it."""
        for place in self.counts:
            found[..., place, place] = found[..., 0, 0]
        return found

    @cached_property
    def matrix(self) -> Matrices:
        """The noised matrix."""
        found = self._scattered(lambda part: part.values)
        if self.rows is not None:
            found[0, 0] = self.rows
        return self._counted(found)

    @cached_property
    def variances(self) -> Matrices:
        """The variance of the noise on each entry."""
        size = len(self.names) + 1
        found = np.zeros((size, size))
        for block in self.blocks:
            i, j = np.array(block.entries).T
            found[i, j] = found[j, i] = self.parts[block.name].noise.total_variance / block.unit**2
        return self._counted(found)

    def noise(self, count: int, rng: Any) -> Matrices:
        """Draws of the noise, shape ``(count, …)``; the same for every reading of these releases."""
        return self._counted(self._scattered(lambda part: part.noise_draws(count, rng), (count,)))

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
        return place_of(name, self.names)

    def of_sums(self, matrices: Matrices) -> tuple[np.ndarray, np.ndarray]:
        """Return means and covariances (divisor n) of matrices, in half ranges."""
        n = np.maximum(matrices[..., 0, 0], 1.0)[..., None]
        means = np.clip(matrices[..., 0, 1:] / n, -1, 1)
        return means, matrices[..., 1:, 1:] / n[..., None] - means[..., :, None] * means[..., None, :]

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances in half ranges, the second-order bias of the covariances taken off."""
        means, covariances = self.of_sums(self.matrix)
        bias = np.diag(self.variances[0, 1:]) + self.variances[0, 0] * np.outer(means, means)
        return means, covariances + bias / self.count**2

    @cached_property
    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """How far exact means and covariances may lie from the released ones: draws, in half ranges."""
        means, covariances = self.of_sums(self.matrix - self.noise(DRAWS, self.generator()))
        here, there = self.of_sums(self.matrix)
        return means - here, covariances - there


def place_of(name: object, names: Sequence[str]) -> int:
    """Return where a column is in the matrix, from 1, or refuse it with its nearest name."""
    if isinstance(name, str) and name in names:
        return list(names).index(name) + 1
    close = nearest(str(name), tuple(names))
    hint = f" Did you mean {close}?" if close else ""
    raise SchemaError(f"{name!r} is not in these moments.{hint} They hold {', '.join(names)}.")


# ---------------------------------------------------------------- the matrix itself


def matrix_outcome(setting: Setting, releases: Sequence[Release]) -> VectorResult:
    """Return the sums of products over the rows, in the columns' own units."""
    crossed = Crossed.of(setting, releases)
    turn = _turn(crossed)
    values = turn @ crossed.matrix @ turn.T
    shape = values.shape
    noise = _entry_noise(crossed, turn)
    spread = np.array([law.total_variance for law in noise])

    def ends(level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
        if kind == "confidence":
            raise Unavailable(_EXACT_ONLY)
        radius = np.array([law.radius(1 - level) for law in noise])
        return values.ravel() - radius, values.ravel() + radius

    def redraw(count: int, rng: Any, kind: str) -> np.ndarray:  # noqa: ARG001
        found = turn @ (crossed.matrix - crossed.noise(count, rng)) @ turn.T
        return np.asarray(found.reshape(count, -1))

    flags = ("arm too small",) if crossed.small else ()
    return VectorResult(
        values.ravel(),
        shape,
        (-math.inf, math.inf),
        ends,
        spread,
        sizes=np.full(values.size, max(crossed.size, 0.0)),
        cell_flags=(flags,) * values.size,
        redraw=redraw,
        notes={"privacy": "exact law of the noise"},
    )


def _turn(crossed: Crossed) -> np.ndarray:
    """The matrix that takes (1, z) to (1, x)."""
    found = np.diag(np.concatenate([[1.0], crossed.halves]))
    found[1:, 0] = crossed.centres
    return found


def _entry_noise(crossed: Crossed, turn: np.ndarray) -> list[NoiseSum]:
    """The law of the noise on each entry of the turned matrix."""
    size = len(turn)
    laws = {(i, j): NoiseSum() for i in range(size) for j in range(i, size)}
    for block in crossed.blocks:
        laws |= {entry: crossed.parts[block.name].noise.scaled(1 / block.unit) for entry in block.entries}
    made: dict[tuple[int, int], NoiseSum] = {}
    for a in range(size):
        for b in range(a, size):
            weights = np.outer(turn[a], turn[b])
            for place in crossed.counts:
                weights[0, 0] += weights[place, place]
                weights[place, place] = 0.0
            total = NoiseSum()
            for (i, j), law in laws.items():
                weight = weights[i, j] + (weights[j, i] if i != j else 0.0)
                if weight:
                    total = total + law.scaled(float(weight))
            made[a, b] = made[b, a] = total
    return [made[a, b] for a in range(size) for b in range(size)]


# ---------------------------------------------------------------- readings


def mean(setting: Setting, column: str) -> Read:
    """Read the mean of one column: free.

    Parameters
    ----------
    column : str
        One of the columns of the moments.
    """
    place = place_of(column, setting.names) - 1

    def conclude(releases: Sequence[Release]) -> VectorResult:
        crossed = Crossed.of(setting, releases)
        means, covariances = crossed.moments
        half, centre = crossed.halves[place], crossed.centres[place]
        sampling = _floor(covariances[place, place]) / crossed.count
        return Drawn(
            crossed,
            centre + half * means[place : place + 1],
            half * crossed.deviations[0][:, place : place + 1],
            None if crossed.clustered else np.array([half**2 * sampling]),
            (float(centre - half), float(centre + half)),
            (),
            lambda m: centre + half * crossed.of_sums(m)[0][:, place : place + 1],
            notes={"privacy": "draws of the noise", "confidence": "draws of the noise, normal sampling"},
        ).result()

    return Read(f".mean({_quoted(column)})", (), (), conclude)


def covariance(setting: Setting) -> Read:
    """Read the matrix of covariances (divisor n): free. Projected to a possible one where the noise made it impossible."""

    def conclude(releases: Sequence[Release]) -> VectorResult:
        crossed = Crossed.of(setting, releases)
        _, covariances = crossed.moments
        projected, moved = _projected(covariances)
        unit = np.outer(crossed.halves, crossed.halves)
        bound = None if crossed.clustered else (unit**2 * _row_bound(crossed)).ravel() / crossed.count
        return Drawn(
            crossed,
            (unit * projected).ravel(),
            (unit * crossed.deviations[1]).reshape(DRAWS, -1),
            bound,
            (-float(unit.max()), float(unit.max())),
            (len(unit), len(unit)),
            lambda m: (unit * np.clip(crossed.of_sums(m)[1], -1, 1)).reshape(len(m), -1),
            centre=(unit * covariances).ravel(),
            reach=unit.ravel(),
            flags=("projected",) if moved else (),
            notes={
                "privacy": "draws of the noise",
                "confidence": "conservative: the largest variance of a product that the bounds allow",
            },
        ).result()

    return Read(".covariance()", *_square(setting), conclude)


def correlation(setting: Setting) -> Read:
    """Read the matrix of Pearson correlations: free. 0 and flagged where the noise leaves a variance undefined."""

    def conclude(releases: Sequence[Release]) -> VectorResult:
        crossed = Crossed.of(setting, releases)
        _, covariances = crossed.moments
        found, undefined = _correlations(covariances)
        with np.errstate(all="ignore"):
            drawn, _ = _correlations(covariances + crossed.deviations[1])
        hidden = _hidden(crossed)
        lost = undefined | hidden[:, None] | hidden[None, :]
        np.fill_diagonal(lost, val=False)
        names = np.where(undefined, "undefined", np.where(lost, "spread hidden", ""))
        projected, moved = _projected(found)
        shown = np.where(undefined, 0.0, np.clip(projected if moved else found, -1, 1))
        np.fill_diagonal(shown, 1.0)
        sampling = None if crossed.clustered else _correlation_sampling(setting, crossed, found).ravel()
        return Drawn(
            crossed,
            shown.ravel(),
            (drawn - found).reshape(DRAWS, -1),
            sampling,
            (-1.0, 1.0),
            found.shape,
            lambda m: _correlations(crossed.of_sums(m)[1])[0].reshape(len(m), -1),
            centre=np.clip(found, -1, 1).ravel(),
            lost=lost.ravel(),
            cell_flags=tuple(map(str, names.ravel())),
            flags=("projected",) if moved else (),
            notes={
                "privacy": "draws of the noise",
                "confidence": "supposes about bivariate normal columns; of columns of two values the largest variance allowed",
            },
        ).result()

    return Read(".correlation()", *_square(setting), conclude)


def _square(setting: Setting) -> tuple[tuple[int, int], tuple[Axis, Axis]]:
    keys = setting.names
    return (len(keys), len(keys)), (Axis("row", "column", keys), Axis("column", "and", keys))


def _quoted(text: str) -> str:
    return f'"{text}"'


def _symmetric(matrices: np.ndarray) -> np.ndarray:
    lower = np.tril(matrices)
    return np.asarray(lower + np.swapaxes(np.tril(matrices, -1), -1, -2))


def _floor(value: Any) -> Any:
    return np.maximum(value, 0.0)


def _projected(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the nearest matrix without negative eigenvalues, and whether there were any."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= -1e-12 * max(abs(values[-1]), 1e-300):
        return matrix, False
    return (vectors * _floor(values)) @ vectors.T, True


def _correlations(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return correlations, 0 where a variance is not positive, and where that is."""
    spread = np.diagonal(covariances, axis1=-2, axis2=-1)
    good = (spread[..., :, None] > 0) & (spread[..., None, :] > 0)
    root = np.sqrt(_floor(spread))
    product = root[..., :, None] * root[..., None, :]
    found = np.where(good, covariances / np.where(product > 0, product, 1.0), 0.0)
    size = covariances.shape[-1]
    found[..., np.arange(size), np.arange(size)] = 1.0
    return np.clip(found, -1.0, 1.0), ~good


def _correlation_sampling(setting: Setting, crossed: Crossed, found: np.ndarray) -> np.ndarray:
    """Variances of correlations from sampling: of about normal columns, and at most for columns of two values."""
    normal = (1 - found**2) ** 2 / max(crossed.count - 3, 1.0)
    spread = np.maximum(np.diagonal(crossed.moments[1]), 1e-12)
    most = np.minimum(_row_bound(crossed) / np.outer(spread, spread), crossed.count) / crossed.count
    two = np.array([number.binary for number in setting.numbers])
    some = two[:, None] | two[None, :]
    np.fill_diagonal(some, val=False)
    return np.asarray(np.where(some, np.maximum(normal, most), normal))


def _hidden(crossed: Crossed) -> np.ndarray:
    """Whether the noise on each variance is more than a quarter of it."""
    spread = np.diagonal(crossed.moments[1])
    noise = crossed.deviations[1][:, np.arange(len(spread)), np.arange(len(spread))].std(axis=0)
    return np.asarray(noise > _HIDDEN * spread)


def _row_bound(crossed: Crossed) -> np.ndarray:
    """The largest variance of ``(z_j - m_j)(z_k - m_k)`` that the bounds and the noised variances allow."""
    means, covariances = crossed.moments
    noise = crossed.deviations[1][:, np.arange(len(means)), np.arange(len(means))].std(axis=0)
    up = np.minimum(_floor(np.diagonal(covariances)) + _UPPER * noise, 1 - means**2)
    reach = (1 + np.abs(means)) ** 2
    return np.asarray(np.maximum(np.minimum(np.outer(reach, up), np.outer(up, reach)) - covariances**2, 0.0))


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is read from a matrix, with intervals that are symmetric quantiles of seeded draws about the released value.

    Parameters
    ----------
    crossed : Crossed
        The matrix.
    values : ndarray, shape (entries,)
        What is shown.
    deviations : ndarray, shape (draws, entries)
        How far the exact values may lie from ``centre``.
    sampling : ndarray, optional
        Variance from sampling; none where rows are not people.
    domain, shape : tuple
        Public range, and shape of the answer.
    exact : callable
        The reading of exact matrices, shape ``(count, entries)``.
    notes : dict
        How each kind of interval was made.
    centre : ndarray, optional
        The middle of the intervals, where it is not what is shown.
    reach : ndarray, optional
        The public range of each entry, either way from 0.
    lost : ndarray of bool, optional
        Entries of which the whole range is shown.
    cell_flags, flags : tuple of str
        Warnings of each entry, and of all.
    """

    crossed: Crossed
    values: np.ndarray
    deviations: np.ndarray
    sampling: np.ndarray | None
    domain: tuple[float, float]
    shape: tuple[int, ...]
    exact: Callable[[Matrices], np.ndarray]
    notes: dict[str, str]
    centre: np.ndarray | None = None
    reach: np.ndarray | None = None
    lost: np.ndarray | None = None
    cell_flags: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        if self.reach is not None:
            return -self.reach, self.reach
        return np.full(self.values.shape, self.domain[0]), np.full(self.values.shape, self.domain[1])

    def _spread(self, level: float, kind: str) -> np.ndarray:
        if kind == "privacy":
            return self.deviations
        if self.sampling is None:
            raise Unavailable(CLUSTERED)
        normal = self._normal(self.crossed.generator(), self.deviations.shape)
        inflated = np.sqrt(self.sampling * student_inflation(self.crossed.count, level))
        return np.asarray(self.deviations + inflated * normal)

    def _ends(self, level: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
        low, high = self._range
        whole = np.full(self.values.shape, self.crossed.small) | (False if self.lost is None else self.lost)
        middle = self.values if self.centre is None else self.centre
        radius = np.quantile(np.abs(self._spread(level, kind)), level, axis=0)
        bottom, top = np.clip(middle - radius, low, high), np.clip(middle + radius, low, high)
        return (
            np.where(whole, low, np.minimum(bottom, self.values)),
            np.where(whole, high, np.maximum(top, self.values)),
        )

    def _normal(self, rng: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Normal draws for sampling, the same on both sides of a symmetric matrix."""
        found = rng.of("sampling").standard_normal(shape)
        if len(self.shape) == 2:
            found = _symmetric(found.reshape(-1, *self.shape)).reshape(shape)
        return np.asarray(found)

    def _redraw(self, count: int, rng: Any, kind: str) -> np.ndarray:
        found = self.exact(self.crossed.matrix - self.crossed.noise(count, rng))
        if kind == "confidence" and self.sampling is not None:
            found = found + np.sqrt(self.sampling) * self._normal(rng, found.shape)
        return np.asarray(found)

    def result(self) -> VectorResult:
        """Return what an analyst sees."""
        low, high = self._range
        noise = np.minimum(self.deviations.var(axis=0), ((high - low) / 2) ** 2)
        common = (("arm too small",) if self.crossed.small else ()) + self.flags
        listed = self.cell_flags or ("",) * self.values.size
        sizes = np.full(self.values.size, max(self.crossed.size, 0.0))
        return VectorResult(
            np.clip(self.values, low, high),
            self.shape,
            self.domain,
            self._ends,
            noise,
            sampling=self.sampling,
            sizes=sizes,
            effective=None if self.sampling is None else effective_sizes(sizes, self.sampling, noise),
            cell_flags=tuple((*common, flag) if flag else common for flag in listed),
            redraw=self._redraw,
            notes=self.notes,
        )
