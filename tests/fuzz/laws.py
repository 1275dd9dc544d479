"""What a pair of neighbouring tables costs under a mechanism: from the exact output laws, and from nothing that prices.

For two tables D and D' a mechanism's output laws P and P' have the largest log-ratio ``pure`` (the ε that this pair needs) and the
Rényi divergences of some orders (the ρ that it needs is the largest D_α/α). All are computed in both directions, for many pairs at
once, from the definitions of the laws. Independent parts add; so do the parts of an adaptive composition, outcome by outcome.

References
----------
Bun & Steinke (2016), definition 1.1; Canonne, Kamath & Steinke (2020), proposition 5: D_α of a discrete Gaussian is α·s²/2σ² for
a whole shift s and whole α, and its Kullback-Leibler divergence s²/2σ².
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import numpy as np

from dpnb.inference.selection_law import placements, probabilities
from dpnb.trusted.mechanisms import (
    KSExponential,
    LocatedSums,
    Mechanism,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.mechanisms.located_sums import radii

ORDERS = np.array([1.0, 1.25, 2.0, 4.0, 16.0, 64.0])
"""Orders at which divergences are compared; 1 is Kullback-Leibler."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Cost:
    """What pairs of tables cost: ``pure[direction, pair]`` and ``renyi[direction, order, pair]``."""

    pure: Array
    renyi: Array

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.pure + other.pure, self.renyi + other.renyi)

    @property
    def epsilon(self) -> Array:
        """The ε that each pair needs."""
        return np.asarray(self.pure.max(axis=0))

    @property
    def rho(self) -> Array:
        """The ρ that each pair needs."""
        return np.asarray((self.renyi / ORDERS[:, None]).max(axis=(0, 1)))


def nothing(pairs: int) -> Cost:
    """The cost of no release."""
    return Cost(np.zeros((2, pairs)), np.zeros((2, len(ORDERS), pairs)))


def laplace_divergences(shift: Array, scale: float) -> Array:
    """Divergences of a discrete Laplace law from its copy moved by whole numbers: shape ``(orders, *shift.shape)``.

    With p = e^(-1/b) and t = s/b, e^((α-1)·D_α)·(1+p) = e^((α-1)t) + e^(-αt) + (1-p)·Σ_{0<j<s} e^((α-1)t - (2α-1)j/b); at α = 1 the
    divergence is (s - 2p(1-p^s)/(1-p²))/b.
    """
    s = np.abs(np.asarray(shift, dtype=float))
    t, p, gap = s / scale, np.exp(-1 / scale), -np.expm1(-1 / scale)
    found = [t - 2 * p * -np.expm1(-t) / (-np.expm1(-2 / scale)) / scale]
    for alpha in ORDERS[1:]:
        k = 2 * alpha - 1
        middle = gap * (np.exp(-k / scale) - np.exp(-k * t)) / -np.expm1(-k / scale)
        found.append(t + np.log((1 + np.exp(-k * t) + middle) / (1 + p)) / (alpha - 1))
    return np.where(s == 0, 0.0, np.maximum(np.stack(found), 0.0))


def laplace(gaps: Array, scale: Fraction) -> Cost:
    """The cost of discrete Laplace noise on vectors that differ by ``gaps[pair, entry]``."""
    pure = np.abs(gaps.astype(float)).sum(axis=1) / float(scale)
    return _both(pure, _spread(gaps, lambda found: laplace_divergences(found, float(scale))))


def gaussian(gaps: Array, variance: Fraction) -> Cost:
    """The cost of discrete Gaussian noise: no ε suffices."""
    squares = (gaps.astype(float) ** 2).sum(axis=1) / (2 * float(variance))
    return _both(np.where(squares > 0, np.inf, 0.0), ORDERS[:, None] * squares)


def _spread(gaps: Array, divergence: Any) -> Array:
    """Divergences summed over entries, computed where entries differ."""
    total = np.zeros((len(ORDERS), len(gaps)))
    pair, entry = np.nonzero(gaps)
    for order, found in enumerate(divergence(gaps[pair, entry].astype(float))):
        total[order] = np.bincount(pair, weights=found, minlength=len(gaps))
    return total


def _both(pure: Array, renyi: Array) -> Cost:
    """The cost of laws that are mirror images: the same in either direction."""
    return Cost(np.stack([pure, pure]), np.stack([renyi, renyi]))


def outcomes(one: Array, two: Array, pure: Any = 0.0, renyi: Any = None) -> Cost:
    """The cost of finite laws given as logarithms, shape ``(pair, group, outcome)``; groups are independent.

    What else is released after an outcome may cost ``pure`` and ``renyi[order]`` more, in the same shape: adaptive composition.
    """
    directions = [_one_way(a, b, pure, renyi) for a, b in ((one, two), (two, one))]
    return Cost(np.stack([found[0] for found in directions]), np.stack([found[1] for found in directions]))


def _one_way(one: Array, two: Array, pure: Any, renyi: Any) -> tuple[Array, Array]:
    ratio = one - two
    found = [(np.exp(one) * (ratio + (0.0 if renyi is None else renyi[0]))).sum(axis=-1)]
    for order, alpha in enumerate(ORDERS[1:], 1):
        more = 0.0 if renyi is None else (alpha - 1) * renyi[order]
        found.append(_log_sum(alpha * one + (1 - alpha) * two + more) / (alpha - 1))
    return (ratio + pure).max(axis=-1).sum(axis=-1), np.maximum(np.stack(found), 0.0).sum(axis=-1)


def _log_sum(logs: Array) -> Array:
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=-1)) + top[..., 0])


def quantile_law(mechanism: QuantileSelection, tallies: Array) -> Array:
    """Log-probability of every grid index, for tallies of the grid in the last axis.

    By the definition: the score of v is -max(#{x < v} - t, t - #{x ≤ v}) with t = q·n + offset, the first term left out at the
    lowest index and the second at the highest; weights are the mechanism's integers, or points are taken in random order.
    """
    unit, n = mechanism.q.denominator, tallies.sum(axis=-1, keepdims=True)
    upto = np.cumsum(tallies, axis=-1)
    target = mechanism.q.numerator * n + mechanism.offset * unit
    above, below = (upto - tallies) * unit - target, target - upto * unit
    above[..., 0] = below[..., -1] = -(2**62)
    miss = np.maximum(above, below)
    if isinstance(mechanism, QuantileFlip):
        return _first_taken(mechanism, -miss)
    weights = weights_of(mechanism, miss - miss.min(axis=-1, keepdims=True))
    return np.asarray(np.log(weights) - np.log(weights.sum(axis=-1, keepdims=True)))


def weights_of(mechanism: QuantileSelection, penalties: Array) -> Array:
    """The mechanism's integer weights, over their largest."""
    distinct, place = np.unique(penalties, return_inverse=True)
    listed = np.array([mechanism.weight(int(penalty)) / 2**64 for penalty in distinct.tolist()])
    return np.asarray(listed[place.reshape(penalties.shape)])


def pick_law(mechanism: PermuteAndFlip, scores: Array) -> Array:
    """Log-probability of every ordered choice of ``picks`` places, for exact scores in the last axis.

    Values are visited in random order, i being taken with probability p_i = e^(-rate·(best - score)): at a uniform moment t, if
    none was taken before, P(i) = p_i∫∏_{j≠i}(1 - p_j t)dt; the next pick is among those that are left.
    """
    size, every = mechanism.size, []
    for chosen in permutations(range(size), mechanism.picks):
        logs, left = np.zeros(scores.shape[:-1]), list(range(size))
        for place in chosen:
            logs = logs + _first_taken(mechanism, scores[..., left])[..., left.index(place)]
            left.remove(place)
        every.append(logs)
    return np.stack(every, axis=-1)


def _first_taken(mechanism: PermuteAndFlip | QuantileFlip, scores: Array) -> Array:
    behind = (scores.max(axis=-1, keepdims=True) - scores).astype(float) * float(mechanism.rate)
    nodes, weights = np.polynomial.legendre.leggauss(scores.shape[-1] // 2 + 1)
    missed = 1.0 - np.exp(-behind)[..., None] * (nodes + 1) / 2
    found = []
    for place in range(scores.shape[-1]):
        others = np.delete(missed, place, axis=-2).prod(axis=-2)
        found.append(-behind[..., place] + np.log(others @ weights / 2))
    return np.stack(found, axis=-1)


def declared_law(mechanism: Mechanism, counts: Array) -> Array:
    """Log-probability of every outcome for a mechanism without an oracle here: the law that its contract holds its exact sampler to."""
    distinct, place = np.unique(counts.reshape(-1, counts.shape[-1]), axis=0, return_inverse=True)
    listed = np.log([np.asarray(probabilities(mechanism, row), dtype=float) for row in distinct.tolist()])
    return np.asarray(listed[place.ravel()].reshape(*counts.shape[:-1], -1))


def placed(mechanism: KSExponential, one: Array, two: Array) -> Cost:
    """The cost of placing points by counts of shape ``(pair, group, cell)``, and of measuring how far they are from the data."""
    steps = np.array(list(placements(mechanism.points, len(mechanism.places))))
    base = (steps * np.log(np.array(mechanism.places, dtype=float))).sum(axis=1) - _log_factorials(steps)
    far = [_distances(mechanism.points, counts, steps) for counts in (one, two)]
    rate = float(mechanism.epsilon) / (2 * mechanism.points * mechanism.factor)
    laws = [base - rate * d for d in far]
    laws = [law - _log_sum(law)[..., None] for law in laws]
    if not mechanism.check:
        return outcomes(*laws)
    scale = mechanism.points * mechanism.factor / float(mechanism.check)
    return outcomes(*laws, np.abs(far[0] - far[1]) / scale, laplace_divergences(far[0] - far[1], scale))


def _log_factorials(steps: Array) -> Array:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, steps.max() + 2)))])
    return np.asarray(logs[steps].sum(axis=1))


def _distances(points: int, counts: Array, steps: Array) -> Array:
    """D = max_j |k N_j - n S_j| of every placement."""
    rows, size = np.cumsum(counts, axis=-1), counts.sum(axis=-1)
    gaps = points * rows[..., None, :] - size[..., None, None] * np.cumsum(steps, axis=-1)
    return np.asarray(np.abs(gaps).max(axis=-1))


def located(mechanism: LocatedSums, one: Array, two: Array) -> Cost:
    """The cost of sums in a private range, by tallies of shape ``(pair, group, value)``: every middle and every radius."""
    found = [_range_law(mechanism, tallies) for tallies in (one, two)]
    sums, scales = _sums_of(mechanism)
    gaps = (one - two).astype(float) @ sums  # (pair, group, outcome·sum)
    gaps = gaps.reshape(*one.shape[:-1], len(scales), -1)
    cost = (np.abs(gaps) / scales).sum(axis=-1)
    renyi = np.zeros((len(ORDERS), *cost.shape))
    for outcome, row in enumerate(scales):
        for column, scale in enumerate(row):
            renyi[..., outcome] += laplace_divergences(gaps[..., outcome, column], float(scale))
    return outcomes(*found, cost, renyi)


def _range_law(mechanism: LocatedSums, tallies: Array) -> Array:
    sizes = np.array(radii(mechanism.steps))
    values, logs = np.arange(mechanism.steps + 1), []
    middles = quantile_law(mechanism.middle, tallies)
    for middle in values.tolist():
        place = np.searchsorted(sizes, np.abs(values - middle), "left")
        near = tallies @ (place[:, None] == np.arange(len(sizes))).astype(np.int64)
        logs.append(middles[..., middle, None] + quantile_law(mechanism.radius, near))
    return np.concatenate(logs, axis=-1)


@lru_cache(maxsize=64)
def _sums_of(mechanism: LocatedSums) -> tuple[Array, Array]:
    """What a row of each value adds to the sums of each outcome, and the scales of their noise."""
    values, columns, scales = np.arange(mechanism.steps + 1), [], []
    for middle in values.tolist():
        for place in range(len(radii(mechanism.steps))):
            chosen = mechanism.range_of(middle, place)
            y = chosen.centred(values)
            found = [y, chosen.squares(y), chosen.outside(values), np.ones_like(values)]
            laws = mechanism.scales(chosen)
            columns.append(np.stack(found[: len(laws)], axis=-1))
            scales.append([float(scale) for scale in laws])
    return np.concatenate(columns, axis=-1).astype(float), np.array(scales)


def shown(mechanism: Thresholding, epsilon: Fraction, one: Array, two: Array) -> Array:
    """The δ that each pair needs beside ε, for counts of shape ``(pair, value)``: by all outcomes of the values that changed."""
    found = []
    for mine, other in zip(one.tolist(), two.tolist(), strict=True):
        moved = tuple(sorted((a, b) for a, b in zip(mine, other, strict=True) if a != b))
        back = tuple(sorted((b, a) for a, b in moved))
        found.append(max(_hockey_stick(mechanism, epsilon, moved), _hockey_stick(mechanism, epsilon, back)))
    return np.array(found)


def shown_with_sums(
    mechanism: ThresholdedSums, counts: tuple[Array, Array], sums: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The largest log-ratio of what both tables can show of each pair, and the chance that one shows a label that only it has.

    Counts have the shape ``(pair, label)``, sums ``(pair, label, number)``. Labels are independent, and so are the noises of one.
    """
    (one, two), scales = counts, np.array([float(scale) for scale in mechanism.sums])
    both = (one > 0) & (two > 0)
    moved = np.abs(one - two) / float(mechanism.scale)
    moved = moved + (np.abs(sums[0] - sums[1]).astype(float) / scales).sum(axis=2)
    epsilon = np.where(both, moved, 0.0).sum(axis=1)
    chances = [_chance_of_more(mechanism, mine, other) for mine, other in ((one, two), (two, one))]
    return epsilon, np.maximum(*chances)


def _chance_of_more(mechanism: ThresholdedSums, mine: Array, other: Array) -> Array:
    """The chance that a label is shown which only the first of two tables has."""
    alone = np.where((mine > 0) & (other == 0), mine, 0)
    shown = np.array(
        [[_tail(mechanism, mechanism.threshold - int(n)) if n else 0.0 for n in row] for row in alone]
    )
    return -np.expm1(np.log1p(-shown).sum(axis=1))


@lru_cache(maxsize=20_000)
def _hockey_stick(mechanism: Thresholding, epsilon: Fraction, moved: tuple[tuple[int, int], ...]) -> float:
    """Σ max(0, P - e^ε·P') over all outcomes of independent values."""
    limit, total = float(epsilon) + 1e-11, 0.0
    for atoms in product(*(_value_atoms(mechanism, a, b) for a, b in moved)):
        chance, ratio = np.prod([p for p, _ in atoms]), sum(r for _, r in atoms)
        if ratio > limit:
            total += float(chance * -np.expm1(float(epsilon) - ratio))
    return total


@lru_cache(maxsize=20_000)
def _value_atoms(mechanism: Thresholding, mine: int, other: int) -> tuple[tuple[float, float], ...]:
    """(P, log P/P') of one value's outcomes: hidden, every noised count to the last at which the ratio moves, all above it."""
    cut = max(mechanism.threshold, mine, other)
    edges = [(y, y) for y in range(mechanism.threshold, cut)] + [(cut, None)]
    pairs = [[_interval(mechanism, count, low, high) for count in (mine, other)] for low, high in edges]
    hidden = [_hidden(mechanism, count) for count in (mine, other)]
    return tuple(
        (p, np.inf if q == 0 else float(np.log(p) - np.log(q))) for p, q in [*pairs, hidden] if p > 0
    )


def _interval(mechanism: Thresholding, count: int, low: int, high: int | None) -> float:
    """The probability that a value of so many rows is shown with the noised count low, or with that or more."""
    if count == 0:
        return 0.0
    b = float(mechanism.scale)
    single = float(-np.expm1(-1 / b) * np.exp(-abs(low - count) / b) / (1 + np.exp(-1 / b)))
    return _tail(mechanism, low - count) if high is None else single


def _hidden(mechanism: Thresholding, count: int) -> float:
    return 1.0 if count == 0 else _tail(mechanism, count - mechanism.threshold + 1)


def _tail(mechanism: Thresholding | ThresholdedSums, reach: int) -> float:
    """P(Z ≥ reach) = p^reach/(1+p) above 0; by symmetry below."""
    b = float(mechanism.scale)
    if reach > 0:
        return float(np.exp(-reach / b) / (1 + np.exp(-1 / b)))
    return 1.0 - float(np.exp((reach - 1) / b) / (1 + np.exp(-1 / b)))
