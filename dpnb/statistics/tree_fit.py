"""A released tree made consistent: leaves, sums of rows up to a place, their exact error laws, and draws of the noise.

Everything is a function of the noised counts and public facts. Shapes: groups first, leaves last.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import NoiseSum
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number, Truths
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.ratio_interval import critical
from dpnb.inference.tree import ConsistentTree, Prefixes, prefix_sums, rising
from dpnb.statistics._base import Setting
from dpnb.statistics.leaves import Leaves, leaves_of
from dpnb.statistics.released import Part, ReleasedParts, combine, fast_draws
from dpnb.statistics.result import Kind
from dpnb.trusted.releases import Release

ROOT = "root"
_CHUNK = 4_000_000
_MOST_DRAWN = 400_000_000
_SIMULATED = 999
_FEW = 199
_LARGEST = 6


def level_name(level: int) -> str:
    """Return the name of the part that holds a level."""
    return f"level {level}"


@dataclass(frozen=True, eq=False)
class Fitted:
    """One released tree for each group, consistent.

    Parameters
    ----------
    setting : Setting
        The question.
    leaves : Leaves
        Public leaves.
    structure : ConsistentTree
        The two passes and the variances.
    parts : mapping
        Released vectors by name.
    counts : ndarray, shape (groups, leaves)
        Consistent counts.
    """

    setting: Setting
    leaves: Leaves
    structure: ConsistentTree
    parts: ReleasedParts
    counts: Floats

    @property
    def public(self) -> bool:
        """Whether the number of rows is public."""
        return ROOT not in self.parts

    @property
    def laplace(self) -> bool:
        """Whether some of the noise is Laplace."""
        return any(
            isinstance(s.law, DiscreteLaplaceLaw) for part in self.parts.values() for s in part.sources
        )

    @property
    def sizes(self) -> Floats:
        """Number of rows of each group: public, or consistent."""
        return self.size_of(self.counts)

    def size_of(self, counts: Floats) -> Floats:
        """Return the number of rows behind some leaves, shape ``(…, groups)``."""
        if self.public:
            return np.full(counts.shape[:-1], float(self.setting.public_n or 0))
        return np.asarray(counts.sum(axis=-1))

    @property
    def size_sd(self) -> float:
        """Standard deviation of the noise on the number of rows."""
        return math.sqrt(self.structure.root_variance)

    @property
    def small(self) -> Truths:
        """Whether the size of each group is not clearly above zero: intervals are then the whole domain."""
        return np.asarray(self.sizes < 3 * self.size_sd)

    def prefixes(self, places: Number) -> Prefixes:
        """Return the error law of the rows before some leaves."""
        return self.structure.prefixes(np.asarray(places, dtype=np.int64))

    def critical(self, alpha: float) -> float:
        """Return how many standard deviations hold the noise with probability ``1 - alpha``, conservatively."""
        return critical(alpha, laplace=self.laplace)

    def exact_critical(self, weights: Floats, alpha: float) -> float:
        """Return the same for one linear function of the leaves, from the law of its error."""
        law = self.law(weights)
        return law.radius(alpha) / law.sd if law.total_variance else 0.0

    def law(self, weights: Floats) -> NoiseSum:
        """Return the law of the error of ``Σ weights · leaf``: its largest Laplace errors, the rest as Gaussian.

        The slack is half of the widest step by which a noised integer moves the sum.
        """
        gaussian, step = 0.0, 0.0
        scales = [np.zeros(0)]
        for part, u in zip(self._noisy(), self._used(self.structure.coefficients(weights)), strict=True):
            used, noise = np.abs(u[u != 0]), part.noise
            gaussian += float(np.sum(used**2)) * noise.variance
            scales += [used * b for b in noise.scales]
            step = max(step, float(used.max(initial=0.0)))
        ordered = np.sort(np.concatenate(scales))
        rest = float(2 * np.sum(ordered[:-_LARGEST] ** 2))
        return NoiseSum(gaussian + rest, tuple(ordered[-_LARGEST:].tolist()), step / 2)

    def covariance(self, one: Floats, other: Floats) -> float:
        """Return the covariance of two linear functions of the leaves."""
        mine, theirs = (self._used(self.structure.coefficients(w)) for w in (one, other))
        noise = [part.noise.total_variance for part in self._noisy()]
        return float(sum(np.sum(a * b) * v for a, b, v in zip(mine, theirs, noise, strict=True)))

    def _noisy(self) -> list[Part]:
        """Return the released levels, root first where it was released."""
        names = [level_name(level) for level in range(1, self.leaves.depth + 1)]
        return [self.parts[name] for name in ([] if self.public else [ROOT]) + names]

    def _used(self, levels: list[Floats]) -> list[Floats]:
        return levels[1:] if self.public else levels

    # ------------------------------------------------------------ draws

    def redraw(self, read: Callable[[Floats], Floats]) -> Callable[[int, DrawGenerator, Kind], Floats]:
        """Return draws of a reading: noise is taken off the release, sampling error of the leaves put on, and it is read again.

        Parameters
        ----------
        read : callable
            From leaves, shape ``(draws, groups, leaves)``, to entries, shape ``(draws, groups, entries)``.
        """

        def draws(count: int, rng: DrawGenerator, kind: Kind) -> Floats:
            nodes = sum(part.values.size for part in self.parts.values())
            if nodes * count > _MOST_DRAWN:
                raise Unavailable(
                    f"A tree of {nodes:,} nodes is too large to be carried through arithmetic: ask fewer levels=."
                )
            sampling = rng.of("sampling") if kind == "confidence" else None
            drawn = self._drawn(count, rng)
            found = [read(c if sampling is None else self._sampled(c, sampling)) for c in drawn]
            return np.concatenate(found).reshape(count, -1)

        return draws

    def _drawn(self, count: int, rng: DrawGenerator) -> Iterator[Floats]:
        """Return leaves as they may have been, in pieces; each draw has a stream of its own."""
        streams = {source.draw: rng.of(source.draw) for part in self._noisy() for source in part.sources}
        for rows in self._pieces(count):
            noise = []
            for part in self._noisy():
                drawn = sum(
                    s.weight * fast_draws(s.law, (rows, part.values.size), streams[s.draw])
                    for s in part.sources
                )
                noise.append(drawn.reshape(rows, self.setting.cells, -1))  # type: ignore[union-attr]
            yield self.counts - self.structure.fit(self._rooted(noise))

    def _rooted(self, noise: list[Floats]) -> list[Floats]:
        return [np.zeros((*noise[0].shape[:-1], 1)), *noise] if self.public else noise

    def _pieces(self, count: int) -> Iterator[int]:
        nodes = max(sum(part.values.size for part in self.parts.values()), 1)
        most = max(_CHUNK // nodes, 1)
        yield from (min(most, count - start) for start in range(0, count, most))

    def _sampled(self, counts: Floats, rng: DrawGenerator) -> Floats:
        """Add the multinomial error of a sample of this size, by its normal law, at the shares of the monotone curve."""
        curve = np.clip(rising(prefix_sums(self.counts)), 0.0, np.maximum(self.sizes, 0.0)[:, None])
        held = np.diff(curve, axis=-1)
        error = np.sqrt(held) * rng.standard_normal(counts.shape)
        share = held / np.maximum(held.sum(axis=-1, keepdims=True), 1.0)
        return np.asarray(counts + error - share * error.sum(axis=-1, keepdims=True))

    # ------------------------------------------------------------ simultaneous

    def supremum(self, level: float, statistic: Callable[[Floats], Floats]) -> float:
        """Return a bound on a statistic of the noise that holds with probability ``level``, exactly.

        The noise of this release is one more draw from the law that is simulated here: with B simulated values, the
        ``⌈(B+1)·level⌉``-th smallest is at least the value at hand with probability at least ``level`` (exchangeability).

        Parameters
        ----------
        level : float
            Probability.
        statistic : callable
            From the errors of the consistent leaves of one group, shape ``(draws, leaves)``, to numbers, shape ``(draws,)``.
        """
        nodes = sum(self.leaves.sizes)
        most = _FEW if nodes > 20_000 else _SIMULATED
        count = max(most, math.ceil(1 / (1 - level)) - 1)
        if count * nodes > _MOST_DRAWN:
            raise Unavailable(
                f"A simultaneous band at level {level:g} needs too many draws: ask a lower level."
            )
        rng = np.random.default_rng(_seed(self.parts))
        rows = max(_CHUNK // nodes, 1)
        pieces = [min(rows, count - start) for start in range(0, count, rows)]
        ordered = np.sort(np.concatenate([statistic(self._errors(piece, rng)) for piece in pieces]))
        return float(ordered[min(math.ceil((count + 1) * level), count) - 1])

    def _errors(self, rows: int, rng: np.random.Generator) -> Floats:
        noise = []
        for level, part in enumerate(self._noisy(), start=int(self.public)):
            shape = (rows, self.leaves.sizes[level])
            noise.append(
                sum((s.weight * fast_draws(s.law, shape, rng) for s in part.sources), np.zeros(shape))
            )
        return self.structure.fit(self._rooted(noise))


def _seed(parts: ReleasedParts) -> int:
    ids = sorted({source.draw for part in parts.values() for source in part.sources})
    return int.from_bytes(hashlib.sha256("|".join(ids).encode()).digest()[:8], "big")


def fitted(setting: Setting, releases: Sequence[Release]) -> Fitted:
    """Return the consistent tree of one or more releases of a question."""
    return fitted_from(setting, combine(releases))


def fitted_from(setting: Setting, parts: ReleasedParts) -> Fitted:
    """Return the consistent tree of released levels; those of many studies stand on leading axes."""
    leaves, lead = leaves_of(setting), next(iter(parts.values())).values.shape[:-1]
    levels, variances = [], []
    for level, size in enumerate(leaves.sizes):
        part = parts.get(ROOT if level == 0 else level_name(level))
        if part is None:
            levels.append(np.full((*lead, setting.cells, 1), float(setting.public_n or 0)))
            variances.append(0.0)
        else:
            levels.append(part.values.reshape(*lead, setting.cells, size))
            variances.append(float(part.noise.total_variance))
    structure = ConsistentTree(leaves.count, tuple(variances))
    return Fitted(setting, leaves, structure, parts, structure.fit(levels))
