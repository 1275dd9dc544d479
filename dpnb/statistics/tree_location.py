r"""Mean, quantiles and mode, read off a tree.

*Mean.* The middles of the leaves, weighted: a ratio whose residual :math:`Σ E_j (x_j - m)` is linear in the released counts, so its
variance is exact and its law a known sum (Fieller's test). The spread of one row is read off the same leaves.

*Quantiles.* The q-quantile of the rows lies in leaf J only if :math:`P(J) ≤ qN ≤ P(J+1)` without noise. Leaf J is rejected where
:math:`P(J)-qN` is too high or :math:`P(J+1)-qN` too low, each at half the error; the true leaf is rejected with no more than
the whole error, whatever the other leaves do, so the leaves that remain cover and no simultaneous band is needed. For the
population the same two tests hold with the binomial variance at q.

*Mode.* The leaves whose count could be the largest within a simultaneous bound on the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import student_inflation
from dpnb.inference.ratio_interval import accepted_ratio
from dpnb.inference.spread import normal_quantile
from dpnb.inference.tree import prefix_sums, rising
from dpnb.statistics.leaves import Leaves
from dpnb.statistics.outcome import Kind
from dpnb.statistics.tree_fit import Fitted
from dpnb.statistics.tree_shares import NOTES, SLACK, over, sampling_known, small
from dpnb.statistics.vector import VectorResult, effective_sizes

_UNCLEAR, _UPPER = 2.0, 1.645
# ---------------------------------------------------------------- mean


def mean_result(found: Fitted) -> VectorResult:
    """Return the mean of each group."""
    leaves = found.leaves
    step, centre = float(leaves.number.step), (leaves.grid - 1) / 2
    weights, domain = leaves.middles - centre, (float(leaves.number.lowest), float(leaves.number.highest))
    half = centre
    middle = (domain[0] + domain[1]) / 2

    def read(counts: np.ndarray) -> np.ndarray:
        mean = counts @ weights / np.maximum(found.size_of(counts), 1.0)
        return np.asarray(middle + step * np.clip(mean, -half, half))[..., None]

    size = found.sizes
    means = (read(found.counts)[..., 0] - middle) / step
    spread = _mean_spread(found, weights)
    noise = np.array([spread(m)[0] for m in means]) / np.maximum(size, 1.0) ** 2
    rows = [_row_variance(found, weights, group, means[group]) for group in range(size.size)]
    variance = np.array([v for v, _ in rows])
    alone = found.setting.unit.max_rows == 1
    sampling = variance / np.maximum(size, 1.0)
    bias = (leaves.width - 1) / 2

    def ends(level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        if kind == "confidence":
            sampling_known(found)
        lows, highs = np.empty(size.size), np.empty(size.size)
        for group, mean in enumerate(means):
            _, polynomial, weight = spread(mean)
            factor = found.exact_critical(weight, 1 - level) ** 2
            q0, q1, q2 = (factor * q for q in polynomial)
            if kind == "confidence":
                z = normal_quantile(0.5 + level / 2) ** 2 * student_inflation(float(size[group]), level)
                q0 += z * max(float(size[group]), 1.0) * variance[group]
            total = float(found.counts[group] @ weights)
            low, high = accepted_ratio(total, size[group], (q0, q1, q2), 0.0, (-half, half))
            lows[group], highs[group] = max(float(low) - bias, -half), min(float(high) + bias, half)
        return middle + step * lows, middle + step * highs

    flags = [
        (*(("arm too small",) if n < 3 * found.size_sd else ()), *(() if clear else ("spread unclear",)))
        for n, (_, clear) in zip(size, rows, strict=True)
    ]
    sizes = np.maximum(size, 0.0)
    return VectorResult(
        middle + step * means,
        (),
        domain,
        ends,
        noise * step**2,
        sampling * step**2 if alone else None,
        sizes,
        effective_sizes(sizes, sampling, noise) if alone else None,
        tuple(flags),
        found.redraw(read),
        notes=NOTES,
    )


def _mean_spread(found: Fitted, weights: np.ndarray) -> Callable[[float], tuple[float, Any, np.ndarray]]:
    """Return, for a mean m, the variance of ``Σ leaf · (middle - m)``, it as a polynomial in m, and the weights."""
    ones = np.ones(found.leaves.count)
    total, cross, size = (
        found.covariance(a, b) for a, b in ((weights, weights), (weights, ones), (ones, ones))
    )

    def at(mean: float) -> tuple[float, Any, np.ndarray]:
        return total - 2 * mean * cross + mean**2 * size, (total, -2 * cross, size), weights - mean * ones

    return at


def _row_variance(found: Fitted, weights: np.ndarray, group: int, mean: float) -> tuple[float, bool]:
    """Return the variance of one row on the grid, not below what noise could hide, and whether it is clear of noise."""
    squares, rows = (weights - mean) ** 2, max(float(found.sizes[group]), 1.0)
    within = (found.leaves.width**2 - 1) / 12
    ceiling = max(((found.leaves.grid - 1) / 2) ** 2 - mean**2, 0.0)
    estimate = float(found.counts[group] @ squares) / rows + within
    noise = math.sqrt(found.covariance(squares, squares)) / rows
    if estimate > _UNCLEAR * noise:
        return min(estimate, ceiling), True
    return min(max(estimate, 0.0) + _UPPER * noise, ceiling), False


# ---------------------------------------------------------------- quantiles and mode


def quantile_results(found: Fitted, levels: tuple[Fraction, ...]) -> VectorResult:
    """Return some quantiles of each group."""
    qs, leaves = [float(q) for q in levels], found.leaves

    def read(counts: np.ndarray) -> np.ndarray:
        curve, size = rising(prefix_sums(counts)), found.size_of(counts)
        return np.stack([_crossing(leaves, curve, q * size) for q in qs], axis=-1)

    values = read(found.counts)
    law = found.prefixes(np.arange(leaves.count + 1))

    def ends(level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        if kind == "confidence":
            sampling_known(found)
        pairs = [_remaining(found, law, q, level, kind, values[:, at]) for at, q in enumerate(qs)]
        return tuple(np.stack([pair[i] for pair in pairs], axis=-1).ravel() for i in (0, 1))  # type: ignore[return-value]

    sizes = np.repeat(np.maximum(found.sizes, 0.0), len(qs))
    domain = (float(leaves.number.lowest), float(leaves.number.highest))
    return VectorResult(
        values.ravel(),
        (),
        domain,
        ends,
        np.full(values.size, math.nan),
        sizes=sizes,
        effective=_rank_sizes(found, law, values, qs) if found.setting.unit.max_rows == 1 else None,
        cell_flags=small(found, len(qs)),
        redraw=found.redraw(read),
        notes=NOTES,
    )


def _crossing(leaves: Leaves, rising: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the value at which a rising curve of rows reaches a target; inside a wide leaf, in proportion."""
    leaf = np.minimum((rising[..., 1:] < target[..., None]).sum(axis=-1), leaves.count - 1)
    before = np.take_along_axis(rising, leaf[..., None], -1)[..., 0]
    behind = np.take_along_axis(rising, leaf[..., None] + 1, -1)[..., 0]
    gap = behind - before
    part = np.clip((target - before) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    return np.asarray(leaves.first(leaf) + part * (leaves.last(leaf) - leaves.first(leaf)))


def _remaining(
    found: Fitted, law: Any, q: float, level: float, kind: Kind, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of the leaves that are not rejected, for each group."""
    alpha, root, size = 1 - level, found.structure.root_variance, found.sizes[:, None]
    noise = np.maximum(law.variances - 2 * q * law.slope * root + q * q * root, 0.0)
    square = found.critical(alpha) ** 2 * noise
    if kind == "confidence":
        square = square + normal_quantile(1 - alpha / 2) ** 2 * np.maximum(size, 1.0) * q * (1 - q)
    radius = np.sqrt(square) + SLACK
    gap = prefix_sums(found.counts) - q * size
    kept = (gap[:, :-1] <= radius[..., :-1]) & (gap[:, 1:] >= -radius[..., 1:])
    first, last = kept.argmax(axis=1), kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
    some, leaves = kept.any(axis=1), found.leaves
    low = np.where(some, np.minimum(leaves.first(first), values), values)
    high = np.where(some, np.maximum(leaves.last(last), values), values)
    return low, high


def _rank_sizes(found: Fitted, law: Any, values: np.ndarray, qs: Sequence[float]) -> np.ndarray:
    """Return effective sizes in ranks: sampling moves the rank of a quantile by n q (1 - q), noise by its variance there."""
    leaves, root = found.leaves, found.structure.root_variance
    code = np.rint((values - float(leaves.number.lowest)) / float(leaves.number.step)).astype(np.int64)
    edge = np.clip(code // leaves.width, 0, leaves.count)
    q, sizes = np.array(qs)[None, :], np.maximum(found.sizes, 0.0)[:, None]
    noise = law.variances[edge] - 2 * q * law.slope[edge] * root + q * q * root
    return effective_sizes(
        np.broadcast_to(sizes, values.shape), sizes * q * (1 - q), np.maximum(noise, 0.0)
    ).ravel()


def mode_result(found: Fitted) -> VectorResult:
    """Return the middle of the leaf with the largest count, for each group."""
    leaves = found.leaves
    middles = leaves.value(leaves.middles)

    def read(counts: np.ndarray) -> np.ndarray:
        return np.asarray(middles[counts.argmax(axis=-1)])[..., None]

    def ends(level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        if kind == "confidence":
            raise Unavailable(
                "A mode has no confidence interval: which bin is most frequent in the population is not a smooth "
                'question. Use .interval(kind="privacy"), or .density() with its intervals.'
            )
        sd = np.sqrt(found.structure.leaf_variances)
        reach = found.supremum(level, lambda errors: over(np.abs(errors), sd).max(axis=-1)) * sd
        kept = found.counts + reach >= (found.counts - reach).max(axis=-1, keepdims=True)
        first, last = kept.argmax(axis=1), kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
        return leaves.first(first), leaves.last(last)

    values = read(found.counts).ravel()
    domain = (float(leaves.number.lowest), float(leaves.number.highest))
    return VectorResult(
        values,
        (),
        domain,
        ends,
        np.full(values.size, math.nan),
        sizes=np.maximum(found.sizes, 0.0),
        cell_flags=small(found, 1),
        redraw=found.redraw(read),
        notes={"privacy": "all bins that the noise lets be the largest"},
    )
