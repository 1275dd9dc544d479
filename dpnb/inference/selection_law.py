"""What comes out of a mechanism that selects: the whole law of its output, and how far it misses and how it is calibrated.

For plans, teaching and audits; the exact samplers are in :mod:`dpnb.trusted.mechanisms`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.trusted.errors import LossError
from dpnb.trusted.mechanisms import (
    Counts,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.mechanisms._base import above_zero
from dpnb.trusted.mechanisms.exponential import Terrain
from dpnb.trusted.mechanisms.ks_exponential import distance

_AUDITED = 64
_MOST_STEP = Fraction(500)
"""More ε than this buys nothing: the noise is zero but for one time in 10²⁰⁰."""


@singledispatch
def probabilities(mechanism: object, *_: object) -> Any:
    """Return the law of the whole output for the counts of one cell: Fractions or floats, in the order of the outputs."""
    raise TypeError(f"{type(mechanism).__name__} selects nothing")


@probabilities.register
def _(mechanism: QuantileSelection, counts: Counts) -> tuple[Fraction, ...]:
    """The exact probability of every grid index, on small grids."""
    terrain = Terrain.of(counts, mechanism.q, mechanism.offset, mechanism.steps)
    weights = [mechanism.weight(terrain.penalty(point)) for point in range(mechanism.steps + 1)]
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


@probabilities.register
def _(
    mechanism: PermuteAndFlip, counts: Sequence[int], among: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """The law of the next pick in one cell, of the indices that are left (``among``; all, if not given), in floating point."""
    left = list(range(mechanism.size)) if among is None else list(among)
    best = max(int(counts[index]) for index in left)
    found = np.zeros(mechanism.size)
    found[left] = _flipped([mechanism.rate * (best - int(counts[index])) for index in left])
    return found


def _flipped(gaps: Sequence[Fraction]) -> NDArray[np.float64]:
    """The law of permute-and-flip over candidates that are taken with probability e^-gap, in floating point.

    In continuous time a value is visited at a uniform moment t, and is the answer if it is taken and none before it was:
    :math:`P(i) = p_i∫_0^1∏_{j≠i}(1-p_jt) dt`, a polynomial that Gauss-Legendre nodes integrate exactly.
    """
    taken = np.exp(-np.array([float(gap) for gap in gaps]))
    nodes, weights = np.polynomial.legendre.leggauss(taken.size // 2 + 1)
    missed = 1.0 - taken[:, None] * (nodes + 1)[None, :] / 2
    others = np.prod(missed, axis=0) / missed  # no node lies at 1, so that none is missed for certain
    return np.asarray(taken * (others @ weights) / 2)


@probabilities.register
def _(mechanism: QuantileFlip, counts: Counts) -> NDArray[np.float64]:
    """The probability of every grid index, on small grids, in floating point."""
    terrain = Terrain.of(counts, mechanism.q, mechanism.offset, mechanism.steps)
    return _flipped([mechanism.rate * terrain.penalty(point) for point in range(mechanism.steps + 1)])


@probabilities.register
def _(mechanism: KSExponential, counts: Sequence[int]) -> NDArray[np.float64]:
    """The law of one group over all :func:`placements`, in floating point, of few points and cells."""
    sums = list(accumulate(int(count) for count in counts))
    cells = len(mechanism.places)
    logs = np.array([_log_weight(mechanism, sums, steps) for steps in placements(mechanism.points, cells)])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _log_weight(mechanism: KSExponential, sums: Sequence[int], steps: Sequence[int]) -> float:
    base = sum(d * math.log(v) - math.lgamma(d + 1) for d, v in zip(steps, mechanism.places, strict=True))
    return base - float(mechanism.rate * distance(sums, steps))


def placements(points: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Return every way to place points into cells."""
    if cells == 1:
        yield (points,)
        return
    for here in range(points + 1):
        for rest in placements(points - here, cells - 1):
            yield (here, *rest)


@probabilities.register
def _(mechanism: LocatedSums, counts: Counts) -> tuple[Fraction, ...]:
    """The exact law of middle and place of the radius, middle by middle: the selections' whole law, on small grids."""
    found: list[Fraction] = []
    for middle, chance in enumerate(probabilities(mechanism.middle, counts)):
        found += [
            chance * other for other in probabilities(mechanism.radius, mechanism.places(counts, middle))
        ]
    return tuple(found)


@probabilities.register
def _(mechanism: Thresholding, counts: Sequence[int]) -> NDArray[np.float64]:
    """The law for a few counts: each hidden, or shown with one of its noised counts; the last stands for all above it."""
    found = np.ones(1)
    for count in counts:
        found = np.multiply.outer(found, _shown_or_not(mechanism, int(count))).ravel()
    return found


def _shown_or_not(mechanism: Thresholding, count: int) -> NDArray[np.float64]:
    noise = DiscreteLaplaceLaw(mechanism.scale)
    reach = noise.tail_radius(1e-12) + 2 * mechanism.threshold
    shown = np.arange(mechanism.threshold, mechanism.threshold + reach)
    if count == 0:
        return np.concatenate([[1.0], np.zeros(reach + 1)])
    hidden = float(noise.cdf(mechanism.threshold - 1 - count))
    above = float(noise.sf(mechanism.threshold + reach - 1 - count))
    return np.concatenate([[hidden], noise.pmf(shown - count), [above]])


@probabilities.register
def _(mechanism: ThresholdedSums, totals: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The law for a few counts with their sums: each hidden, or shown with all its numbers.

    The last of each noised number, and of sums the first too, stands for itself and all beyond.
    """
    found, counted = np.ones(1), Thresholding(mechanism.scale, mechanism.threshold, mechanism.rows)
    for count, *sums in totals:
        hidden, *shown = probabilities(counted, (count,))
        law = np.asarray(shown)
        for scale, total in zip(mechanism.sums, sums, strict=True):
            noise = DiscreteLaplaceLaw(scale)
            inner = np.arange(-(reach := noise.tail_radius(1e-12) + _AUDITED), reach + 1) - total
            ends = [float(noise.cdf(inner[0] - 1))], [float(noise.sf(inner[-1]))]
            law = np.multiply.outer(law, np.concatenate([ends[0], noise.pmf(inner), ends[1]])).ravel()
        found = np.multiply.outer(found, np.concatenate([[hidden], law])).ravel()
    return found


def rank_radius(mechanism: QuantileSelection, beta: float) -> float:
    """Return r such that the rank of the selected point misses the best by more than r with probability at most `beta`.

    Zero where the grid has one point. Infinite for the exponential mechanism below 2⁻³⁹, where the floor of the weights could matter.
    """
    if not mechanism.steps:
        return 0.0
    if isinstance(
        mechanism, QuantileFlip
    ):  # each of the others is visited before the best one half of the time
        return max(0.0, 2.0 * math.log(mechanism.steps / (2 * beta)) / float(mechanism.inner))
    room = beta - 2.0**-40
    if room <= 2.0**-40:
        return math.inf
    return max(0.0, 2.0 * math.log((mechanism.steps + 1) / room) / float(mechanism.inner))


def count_radius(mechanism: PermuteAndFlip, beta: float) -> float:
    """Return how many rows a pick may have fewer than the best left, except with probability `beta`."""
    return math.log(max(mechanism.size - 1, 1) / beta) / float(mechanism.rate)


def selection(
    epsilon: Fraction, q: Fraction, steps: int, factor: Fraction, beta: float | None = None
) -> QuantileSelection:
    """Return a selection at the quantile q; with `beta`, so far below the last rank that it is beyond it with at most that probability."""
    found = QuantileSelection(epsilon, q, 0, steps, factor)
    if beta is None:
        return found
    return QuantileSelection(epsilon, q, -math.ceil(rank_radius(found, beta)), steps, factor)


def calibrated_threshold(epsilon: Fraction, delta: Fraction, rows: int, unit: Fraction | int) -> Thresholding:
    """Return the mechanism of the smallest threshold that costs (ε, δ) at most, for a unit of so many rows.

    Parameters
    ----------
    epsilon, delta : Fraction
        What may be spent.
    rows : int
        Most rows of a unit.
    unit : Fraction
        The ε that a scale of one costs: by the wing, from the schema.
    """
    above_zero(delta, "delta")
    if delta >= 1:
        raise LossError("delta must be below 1. Write for example delta=1e-8.")
    scale = max(unit / above_zero(epsilon, "epsilon"), rows / _MOST_STEP)
    low, high = rows + 1, rows + 2
    while Thresholding(scale, high, rows).delta > delta:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        good = Thresholding(scale, middle, rows).delta <= delta
        low, high = (low, middle) if good else (middle + 1, high)
    return Thresholding(scale, low, rows)
