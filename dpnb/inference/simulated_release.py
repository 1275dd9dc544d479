"""What a mechanism would release, simulated: with a seeded generator, for arrays and never for protected data.

The laws are those of the exact samplers (:mod:`dpnb.trusted.mechanisms`); tests bind each pair to one law.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.inference import fast_noise
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import (
    AdditiveMechanism,
    Counts,
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    Mechanism,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.mechanisms.exponential import FLOOR, Blocks, Terrain
from dpnb.trusted.noise.bits import Words
from dpnb.trusted.releases import ReleasedPart


class GeneratorBits:
    """Words of a numpy generator, for exact samplers in a simulation; never for protected data.

    Parameters
    ----------
    rng : Generator
        Where words come from.
    """

    __slots__ = ("_rng",)

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def words(self, count: int) -> Words:
        """Return `count` words of the generator."""
        return self._rng.integers(0, 2**64, count, dtype=np.uint64)


def add_noise(mechanism: object, values: Any, rng: np.random.Generator) -> NDArray[Any]:
    """Add simulated noise to an array of any shape; integer arrays stay integer."""
    if isinstance(mechanism, DiscreteLaplace):
        noise = fast_noise.discrete_laplace(float(mechanism.scale), np.shape(values), rng)
    elif isinstance(mechanism, DiscreteGaussian):
        noise = fast_noise.discrete_gaussian(float(mechanism.variance), np.shape(values), rng)
    else:
        raise TypeError(f"{type(mechanism).__name__} adds no noise to entries")
    return np.asarray(values) + noise


@singledispatch
def choose(mechanism: object, *_: object) -> NDArray[np.int64]:
    """Return simulated choices from `counts` of one cell, by `rng`, `reps` of them: a point of a grid, places of a list, or a placement."""
    raise TypeError(f"{type(mechanism).__name__} chooses nothing")


@choose.register
def _(mechanism: QuantileSelection, counts: Counts, rng: np.random.Generator, reps: int) -> NDArray[np.int64]:
    terrain = Terrain.of(counts, mechanism.q, mechanism.offset, mechanism.steps)
    rings = mechanism.rings(terrain)
    sizes, tops = np.array(rings.sizes(), dtype=np.float64), np.array(rings.ceilings, dtype=np.float64)
    sums = np.cumsum(sizes * tops)
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < reps:
        ring = np.minimum(np.searchsorted(sums, rng.random(reps) * sums[-1], side="right"), sums.size - 1)
        points = points_of(rings, ring, np.floor(rng.random(reps) * sizes[ring]).astype(np.int64))
        fall = np.exp(-float(mechanism.rate) * penalties_of(terrain, points))
        weight = np.maximum(float(FLOOR), 2.0**mechanism.scale_bits * fall)
        drawn = np.append(drawn, points[rng.random(reps) * tops[ring] < weight])
    return drawn[:reps]


@choose.register
def _(mechanism: QuantileFlip, counts: Counts, rng: np.random.Generator, reps: int) -> NDArray[np.int64]:
    """As a noisy maximum with exponential noise, which has the same law: of each run of equal scores the largest noise at once."""
    terrain = Terrain.of(counts, mechanism.q, mechanism.offset, mechanism.steps)
    ends = np.unique(np.concatenate([[0], terrain.values, terrain.values + 1, [1, mechanism.steps]]))
    firsts = ends[ends <= mechanism.steps]
    sizes = np.diff(np.append(firsts, mechanism.steps + 1))
    fall = float(mechanism.rate) * penalties_of(terrain, firsts)
    drawn = np.empty(reps, dtype=np.int64)
    for study in range(reps):
        noise = -np.log(-np.expm1(np.log(rng.random(sizes.size)) / sizes))
        run = int(np.argmax(noise - fall))
        drawn[study] = firsts[run] + rng.integers(sizes[run])
    return drawn


def penalties_of(terrain: Terrain, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what :meth:`Terrain.penalty` does, for arrays and in floating point."""
    counts = np.append(0, terrain.upto).astype(np.float64) * terrain.unit
    below = counts[np.searchsorted(terrain.values, points, "left")]
    upto = counts[np.searchsorted(terrain.values, points, "right")]
    high, low = below - float(terrain.target), float(terrain.target) - upto
    first, last = points == 0, points == terrain.steps
    miss = np.maximum(np.where(first, low, high), np.where(last, high, low))
    return np.asarray(np.where(first & last, 0.0, miss) + float(terrain.deepest))


def points_of(blocks: Blocks, rings: NDArray[np.intp], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what :meth:`Blocks.point` does, for arrays."""
    lows = np.array(blocks.lows, dtype=np.int64)
    inner_lows = np.array([blocks.highs[0] + 1, *blocks.lows[:-1]], dtype=np.int64)
    holes = np.array([0, *(np.array(blocks.highs) - np.array(blocks.lows) + 1)[:-1]], dtype=np.int64)
    straight = lows[rings] + places
    return np.where(straight < inner_lows[rings], straight, straight + holes[rings])


@choose.register
def _(mechanism: PermuteAndFlip, counts: object, rng: np.random.Generator, reps: int) -> NDArray[np.int64]:
    """As a noisy maximum; shape ``(reps, picks)``."""
    scores = np.asarray(counts, dtype=float) * float(mechanism.rate)
    picked = np.empty((reps, mechanism.picks), dtype=np.int64)
    left = np.ones((reps, mechanism.size), dtype=bool)
    for place in range(mechanism.picks):
        noisy = np.where(left, scores + rng.standard_exponential((reps, mechanism.size)), -np.inf)
        picked[:, place] = noisy.argmax(axis=1)
        left[np.arange(reps), picked[:, place]] = False
    return picked


@choose.register
def _(mechanism: KSExponential, counts: Any, rng: np.random.Generator, reps: int) -> NDArray[np.int64]:
    """The same sampler on a seeded generator's words; shape ``(reps, cells)``."""
    sampler, words = mechanism.sampler(counts), GeneratorBits(rng)
    return np.array([sampler.draw(words) for _ in range(reps)], dtype=np.int64)


@singledispatch
def release_part(mechanism: Mechanism, exact: object, rng: np.random.Generator) -> tuple[int, ...]:
    """Return the private integers of a whole part, simulated: the exact sampler on a generator's words, where none is faster."""
    return mechanism.noised(exact, GeneratorBits(rng))


@release_part.register
def _(mechanism: AdditiveMechanism, exact: object, rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(add_noise(mechanism, np.asarray(exact, dtype=np.int64), rng).tolist())


@release_part.register
def _(mechanism: QuantileSelection, exact: Sequence[Counts], rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(choose(mechanism, counts, rng, 1)[0]) for counts in exact)


@release_part.register
def _(mechanism: PermuteAndFlip, exact: object, rng: np.random.Generator) -> tuple[int, ...]:
    cells = np.asarray(exact).reshape(-1, mechanism.size)
    return tuple(int(index) for cell in cells for index in choose(mechanism, cell, rng, 1)[0])


@release_part.register
def _(mechanism: Thresholding, exact: Any, rng: np.random.Generator) -> tuple[int, ...]:
    return mechanism.shown(
        exact,
        lambda scale, many: fast_noise.discrete_laplace(float(scale), many, rng).tolist(),
    )


def state_of(rng: np.random.Generator) -> str:
    """Return a name of a generator's state: what is drawn next depends on it and the mechanism alone."""
    return hashlib.sha256(repr(rng.bit_generator.state).encode()).hexdigest()


def simulated_draws(measurements: Iterable[Measurement], state: str, study: int = 0) -> tuple[str, ...]:
    """Return the ids of the draws of some measurements: given here alone, by what decides the noise and by nothing that stands beside it.

    Intervals are seeded by the ids of draws, and answers of one id are one draw: parts that share an id would have one noise. Another state,
    study, place or mechanism, so another loss, is another draw; the same ones are the same draw, whichever losses are simulated with it.

    Parameters
    ----------
    measurements : iterable of Measurement
    state : str
        :func:`state_of` the generator before anything was drawn.
    study : int
        Which of the studies that were drawn from it together.
    """
    said = (repr((state, study, at, one.mechanism.record)) for at, one in enumerate(measurements))
    return tuple(hashlib.sha256(each.encode()).hexdigest()[:16] for each in said)


def released_parts(
    measurements: Sequence[Measurement], exact: Iterable[object], rng: np.random.Generator
) -> tuple[ReleasedPart, ...]:
    """Return what a curator releases of some measurements, simulated: each a draw of its own, with an id of its own."""
    ids = simulated_draws(measurements, state_of(rng))
    return tuple(
        ReleasedPart(part.name, part.mechanism.record, release_part(part.mechanism, found, rng), draw)
        for part, found, draw in zip(measurements, exact, ids, strict=True)
    )
