"""Noised integers with their error laws: one release, or several of the same question combined.

Independent releases of the same exact integer are averaged with weights proportional to one over the noise variance; a
release that appears twice (the same draw) counts once. Only what was released enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dpnb.inference import NoiseSum, fast_noise
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Number
from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw, law_from_json, read_law
from dpnb.trusted.mechanisms import Mechanism
from dpnb.trusted.releases import Release, ReleasedPart

Made = TypeVar("Made", bound=Mechanism)
Law = DiscreteLaplaceLaw | DiscreteGaussianLaw


@dataclass(frozen=True, slots=True)
class Source:
    """One draw's share in a combined part: its weight and its law."""

    draw: str
    weight: float
    law: Law


@dataclass(frozen=True, slots=True)
class Part:
    """One released vector, combined over releases.

    Parameters
    ----------
    name : str
        Name of the part.
    values : ndarray of float64, shape (cells,)
        The (combined) noised integers. A single release keeps its integers in ``exact`` too.
    sources : tuple of Source
        Where the error comes from.
    """

    name: str
    values: Floats
    sources: tuple[Source, ...]

    @property
    def noise(self) -> NoiseSum:
        """The law of the error of one entry."""
        if self.single is not None:
            return law_as_sum(self.single)
        total = NoiseSum()
        for source in self.sources:
            total = total + law_as_sum(source.law).scaled(source.weight)
        return total

    @property
    def single(self) -> Law | None:
        """The one law behind the part, where nothing was combined."""
        return self.sources[0].law if len(self.sources) == 1 else None

    def noise_draws(self, count: int, rng: DrawGenerator) -> Floats:
        """Return draws of the error, shape ``(count, cells)``, one stream for each draw."""
        shape = (count, self.values.size)
        total = np.zeros(shape)
        for source in self.sources:
            total += source.weight * fast_draws(source.law, shape, rng.of(source.draw))
        return total


@dataclass(frozen=True, slots=True)
class SimulatedPart:
    """One vector as many studies released it, at several losses; for simulations, with the interface of :class:`Part`.

    Parameters
    ----------
    name : str
        Name of the part.
    values : ndarray of float64, shape (losses, studies, cells)
        Noised integers.
    laws : tuple of law
        The law of the noise at each loss; none where the values are exact.
    radii : tuple of float, optional
        Of a selection by rank: by how many rows it may miss its target at each loss (95 %).
    """

    name: str
    values: Floats
    laws: tuple[Law, ...]
    radii: tuple[float, ...] = ()

    @property
    def noise(self) -> NoiseSum:
        """The laws of the error, arrays of shape (losses, 1, 1)."""
        found = [law_as_sum(law) for law in self.laws]
        if not found:
            return NoiseSum()
        scales = [_column([law.scales[j] for law in found]) for j in range(len(found[0].scales))]
        variance: Number = 0.0 if scales else _column([law.variance for law in found])
        return NoiseSum(variance, tuple(scales), 0.5)

    @property
    def single(self) -> SimulatedPart:
        """The laws behind the part."""
        return self

    def tail_radius(self, alpha: float) -> Number:
        """Return the smallest integers x with P(|noise| > x) ≤ alpha, by the exact law of each loss."""
        return _column([float(law.tail_radius(alpha)) for law in self.laws]) if self.laws else 0.0


ReleasedParts = Mapping[str, Part]
Parts = Mapping[str, Part | SimulatedPart]
"""The parts of a release, or of many simulated ones, by name."""


def _column(values: Sequence[float]) -> Floats:
    return np.asarray(values, dtype=float)[:, None, None]


def law_as_sum(law: Law) -> NoiseSum:
    """Return a discrete law as a sum of continuous errors, half a grid step wider."""
    if isinstance(law, DiscreteLaplaceLaw):
        return NoiseSum(0.0, (float(law.scale),), 0.5)
    return NoiseSum(float(law.variance), (), 0.5)


def fast_draws(law: Law, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return simulated draws of a law, for intervals; never for a release."""
    size = int(np.prod(shape))
    if isinstance(law, DiscreteLaplaceLaw):
        return np.asarray(fast_noise.discrete_laplace(float(law.scale), size, rng), dtype=float).reshape(
            shape
        )
    return np.asarray(fast_noise.discrete_gaussian(float(law.variance), size, rng), dtype=float).reshape(
        shape
    )


def combine(releases: Sequence[Release]) -> dict[str, Part]:
    """Return the parts of one or more releases of the same question.

    Parameters
    ----------
    releases : sequence of Release
        At least one; parts that share a draw are the same noise and count once.
    """
    parts = {}
    for name in [part.name for part in releases[0].parts]:
        found = distinct(release.part(name) for release in releases)
        laws = [law_from_json(part.law) for part in found]
        weights = _weights(laws)
        vectors = [
            w * np.array([float(v) for v in part.values]) for w, part in zip(weights, found, strict=True)
        ]
        values = sum(vectors[1:], vectors[0])
        sources = tuple(
            Source(part.draw, weight, law) for weight, part, law in zip(weights, found, laws, strict=True)
        )
        parts[name] = Part(name, values, sources)
    return parts


def _weights(laws: Sequence[Law]) -> list[float]:
    """Return the weights that leave least noise: one over the variance of each, divided by their sum."""
    if len(laws) == 1:
        return [1.0]
    precision = [1 / max(law_as_sum(law).total_variance, 1e-12) for law in laws]
    return [p / sum(precision) for p in precision]


def distinct(parts: Iterable[ReleasedPart]) -> list[ReleasedPart]:
    """Return released vectors, each draw once."""
    return list({part.draw: part for part in parts}.values())


def draws_of(releases: Iterable[Release]) -> tuple[str, ...]:
    """Return the ids of all draws under some releases, sorted: what their noise is drawn from."""
    return tuple(sorted({part.draw for release in releases for part in release.parts}))


def best(releases: Sequence[Release]) -> Release:
    """Return the release that was paid most for: selections cannot be averaged."""
    return max(releases, key=lambda release: (release.loss.amount, release.id))


def mechanism_of(law: Mapping[str, str], kind: type[Made]) -> Made:
    """Return the mechanism that a released part names, of the kind that its statistic uses."""
    mechanism = read_law(law)
    assert isinstance(mechanism, kind)
    return mechanism
