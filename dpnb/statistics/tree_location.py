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
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import effective_size, student_inflation
from dpnb.inference.elementwise import Floats, Integers, Number, Truths
from dpnb.inference.ratio_interval import accepted_ratio
from dpnb.inference.spread import likely_variance, normal_quantile
from dpnb.inference.tree import prefix_sums, rising
from dpnb.statistics.leaves import Leaves
from dpnb.statistics.result import Kind, Pair, Result
from dpnb.statistics.tree_fit import Fitted
from dpnb.statistics.tree_shares import NOTES, SLACK, over, sampling_known, small

# ---------------------------------------------------------------- mean


@dataclass(frozen=True, eq=False)
class Means:
    """The mean of every group on the grid, measured from the middle of the range: ``value = centre + step · mean``."""

    found: Fitted

    @cached_property
    def half(self) -> float:
        """Half of the range, in grid steps."""
        return (self.found.leaves.grid - 1) / 2

    @cached_property
    def weights(self) -> Floats:
        """What a row in each leaf adds to the sum."""
        return np.asarray(self.found.leaves.middles - self.half)

    def value(self, means: Number) -> Floats:
        """Return means in the unit of the column."""
        return self.found.leaves.value(np.asarray(means) + self.half)

    def read(self, counts: Floats) -> Floats:
        """Return the means of some leaves in the unit of the column, ``(…, groups, 1)``."""
        mean = counts @ self.weights / np.maximum(self.found.size_of(counts), 1.0)
        return np.asarray(self.value(np.clip(mean, -self.half, self.half))[..., None])

    @cached_property
    def rows(self) -> Floats:
        """Number of rows of each group, at least one."""
        return np.asarray(np.maximum(self.found.sizes, 1.0))

    @cached_property
    def means(self) -> Floats:
        """The mean of each group, inside the range."""
        return np.asarray(np.clip(self.found.counts @ self.weights / self.rows, -self.half, self.half))

    @cached_property
    def spread(self) -> tuple[float, float, float]:
        """The variance of the noise of ``Σ leaf · (middle - m)`` as a polynomial in m."""
        ones = np.ones(self.found.leaves.count)
        total = self.found.covariance(self.weights, self.weights)
        return total, -2 * self.found.covariance(self.weights, ones), self.found.covariance(ones, ones)

    @cached_property
    def noise(self) -> Floats:
        """Variance of each mean from the mechanism."""
        q0, q1, q2 = self.spread
        return np.asarray((q0 + q1 * self.means + q2 * self.means**2) / self.rows**2)

    @cached_property
    def row_variances(self) -> list[tuple[float, bool]]:
        """Variance of one row of each group, and whether it is clear of its noise."""
        return [self._row_variance(group) for group in range(self.means.size)]

    def _row_variance(self, group: int) -> tuple[float, bool]:
        """Return the variance of one row on the grid, not below what noise could hide, and whether it is clear of noise."""
        mean, leaves = float(self.means[group]), self.found.leaves
        squares, ceiling = (self.weights - mean) ** 2, max(self.half**2 - mean**2, 0.0)
        estimate = float(self.found.counts[group] @ squares / self.rows[group]) + (leaves.width**2 - 1) / 12
        noise = math.sqrt(self.found.covariance(squares, squares)) / float(self.rows[group])
        likely, clear = likely_variance(estimate, noise)
        return min(likely, ceiling), clear

    @cached_property
    def sampling(self) -> Floats:
        """Variance of each mean from sampling."""
        return np.asarray(np.array([variance for variance, _ in self.row_variances]) / self.rows)

    def interval(self, group: int, level: float, kind: Kind) -> Pair:
        """Return the accepted means of a group, wider by what the width of a leaf leaves open."""
        factor = self.found.exact_critical(self.weights - self.means[group], 1 - level) ** 2
        q0, q1, q2 = (factor * q for q in self.spread)
        rows, size = float(self.rows[group]), float(self.found.sizes[group])
        if kind == "confidence":
            z = normal_quantile(0.5 + level / 2) ** 2 * student_inflation(size, level)
            q0 += z * rows * self.row_variances[group][0]
        total, domain = float(self.found.counts[group] @ self.weights), (-self.half, self.half)
        low, high = accepted_ratio(total, size, (q0, q1, q2), 0.0, domain, lost=self.found.small[group])
        bias = (self.found.leaves.width - 1) / 2
        return max(float(low) - bias, -self.half), min(float(high) + bias, self.half)

    def ends(self, level: float, kind: Kind) -> tuple[Floats, Floats]:
        """Return both ends for every group, in the unit of the column."""
        if kind == "confidence":
            sampling_known(self.found)
        pairs = np.array([self.interval(group, level, kind) for group in range(self.means.size)])
        return self.value(pairs[:, 0]), self.value(pairs[:, 1])

    @property
    def flags(self) -> tuple[tuple[str, ...], ...]:
        """Warnings of each group."""
        sizes = small(self.found, 1) or ((),) * self.means.size
        unclear = [() if clear else ("spread unclear",) for _, clear in self.row_variances]
        return tuple((*one, *other) for one, other in zip(sizes, unclear, strict=True))


def mean_result(found: Fitted) -> Result:
    """Return the mean of each group."""
    means, leaves = Means(found), found.leaves
    unit, sizes = float(leaves.number.step) ** 2, np.maximum(found.sizes, 0.0)
    alone = not found.setting.clustered
    return Result(
        means.value(means.means),
        (),
        leaves.number.bounds,
        means.ends,
        means.noise * unit,
        means.sampling * unit if alone else None,
        sizes,
        effective_size(sizes, means.sampling, means.noise) if alone else None,
        means.flags,
        found.redraw(means.read),
        notes=NOTES,
    )


# ---------------------------------------------------------------- quantiles and mode


def quantile_results(found: Fitted, levels: tuple[Fraction, ...], selected: Floats | None = None) -> Result:
    """Return some quantiles of each group; their points read off the tree, or selected beside it, shape ``(groups, levels)``."""
    qs, leaves, read = [float(q) for q in levels], found.leaves, quantiles_of(found, levels)
    values = read(found.counts) if selected is None else selected

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            sampling_known(found)
        pairs = [remaining(found, q, level, kind, values[:, at]) for at, q in enumerate(qs)]
        return tuple(np.stack([pair[i] for pair in pairs], axis=-1).ravel() for i in (0, 1))  # type: ignore[return-value]

    sizes, clustered = np.repeat(np.maximum(found.sizes, 0.0), len(qs)), found.setting.clustered
    return Result(
        values.ravel(),
        (),
        leaves.number.bounds,
        ends,
        np.full(values.size, math.nan),
        sizes=sizes,
        effective=None if clustered or selected is not None else rank_sizes(found, values, qs).ravel(),
        cell_flags=small(found, len(qs)),
        redraw=found.redraw(read),
        notes=NOTES,
    )


def quantiles_of(found: Fitted, levels: Sequence[Fraction]) -> Callable[[Floats], Floats]:
    """Return how quantiles are read from leaves, shape ``(…, groups, leaves)``: an array of shape ``(…, groups, levels)``."""

    def read(counts: Floats) -> Floats:
        curve, size = rising(prefix_sums(counts)), found.size_of(counts)
        return np.stack([_crossing(found.leaves, curve, float(q) * size) for q in levels], axis=-1)

    return read


def _crossing(leaves: Leaves, rising: Floats, target: Floats) -> Floats:
    """Return the value at which a rising curve of rows reaches a target; inside a wide leaf, in proportion."""
    leaf = np.minimum((rising[..., 1:] < target[..., None]).sum(axis=-1), leaves.count - 1)
    before = np.take_along_axis(rising, leaf[..., None], -1)[..., 0]
    behind = np.take_along_axis(rising, leaf[..., None] + 1, -1)[..., 0]
    gap = behind - before
    part = np.clip((target - before) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    return np.asarray(leaves.first(leaf) + part * (leaves.last(leaf) - leaves.first(leaf)))


def remaining(found: Fitted, q: float, level: float, kind: Kind, values: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest value of the leaves that are not rejected, for each group, the value among them."""
    law = found.prefixes(np.arange(found.leaves.count + 1))
    alpha, root, size = 1 - level, found.structure.root_variance, found.sizes[..., None]
    noise = np.maximum(law.variances - 2 * q * law.slope * root + q * q * root, 0.0)
    square = found.critical(alpha) ** 2 * noise
    if kind == "confidence":
        square = square + normal_quantile(1 - alpha / 2) ** 2 * np.maximum(size, 1.0) * q * (1 - q)
    radius = np.sqrt(square) + SLACK
    gap = prefix_sums(found.counts) - q * size
    kept = (gap[..., :-1] <= radius[..., :-1]) & (gap[..., 1:] >= -radius[..., 1:]) | found.small[..., None]
    (first, last), some, leaves = _hull(kept), kept.any(axis=-1), found.leaves
    low = np.where(some, np.minimum(leaves.first(first), values), values)
    high = np.where(some, np.maximum(leaves.last(last), values), values)
    return low, high


def _hull(kept: Truths) -> tuple[Integers, Integers]:
    """Return the first and the last leaf that is kept, for each group."""
    return kept.argmax(axis=-1), kept.shape[-1] - 1 - kept[..., ::-1].argmax(axis=-1)


def rank_sizes(found: Fitted, values: Floats, qs: Sequence[float]) -> Floats:
    """Return effective sizes in ranks: sampling moves the rank of a quantile by n q (1 - q), noise by its variance there."""
    leaves, root = found.leaves, found.structure.root_variance
    law = found.prefixes(np.arange(leaves.count + 1))
    code = np.rint((values - float(leaves.number.lowest)) / float(leaves.number.step)).astype(np.int64)
    edge = np.clip(code // leaves.width, 0, leaves.count)
    q, sizes = np.array(qs), np.maximum(found.sizes, 0.0)[..., None]
    noise = law.variances[edge] - 2 * q * law.slope[edge] * root + q * q * root
    return np.asarray(
        effective_size(np.broadcast_to(sizes, values.shape), sizes * q * (1 - q), np.maximum(noise, 0.0))
    )


def mode_result(found: Fitted) -> Result:
    """Return the middle of the leaf with the largest count, for each group."""
    leaves = found.leaves
    middles = leaves.value(leaves.middles)

    def read(counts: Floats) -> Floats:
        return np.asarray(middles[counts.argmax(axis=-1)])[..., None]

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            raise Unavailable(
                "A mode has no confidence interval: which bin is most frequent in the population is not a smooth "
                'question. Use .interval(kind="privacy"), or .density() with its intervals.'
            )
        sd = np.sqrt(found.structure.leaf_variances)
        reach = found.supremum(level, lambda errors: over(np.abs(errors), sd).max(axis=-1)) * sd
        kept = found.counts + reach >= (found.counts - reach).max(axis=-1, keepdims=True)
        first, last = _hull(kept)
        return leaves.first(first), leaves.last(last)

    values = read(found.counts).ravel()
    return Result(
        values,
        (),
        leaves.number.bounds,
        ends,
        np.full(values.size, math.nan),
        sizes=np.maximum(found.sizes, 0.0),
        cell_flags=small(found, 1),
        redraw=found.redraw(read),
        notes={"privacy": "all bins that the noise lets be the largest"},
    )
