r"""A binary tree of noised counts made consistent: the two passes that equal generalised least squares, and exact variances.

Level 0 is the root, level h the leaves; a node's count is the sum of its two children's, and every node was noised apart. The
best linear unbiased estimate of all counts is found bottom-up and then top-down, with V the noise variance of a level:

.. math:: B = wY + (1-w)ΣB_{children},\quad w = \frac{v}{V+v},\quad v = ΣV^B_{children},\quad V^B = \frac{Vv}{V+v},

.. math:: E_{child} = B_{child} + \frac{V^B_{child}}{v}\Big(E_{parent} - ΣB_{children}\Big).

*Why it is least squares.* For Gaussian noise and a flat prior on the leaves the first pass integrates a subtree out, given its
count: :math:`B ± V^B` is what it says of that count. Given the parent, two children are known up to one number whose variance is
:math:`η² = V^B_aV^B_b/v`; the second pass is its conditional mean. The posterior mean of a Gaussian model is the GLS estimate.
So, given its parent, a left child is :math:`κ·parent + N(0, η²)` with :math:`κ = V^B_a/v`, independently over parents: every
variance below follows from walking one path, and no matrix is formed.

The number of leaves need not be a power of two: a missing right child is a count that is known to be zero. A level whose
variance is 0 (a public root) is taken as exact. What never changes: only noised counts and public variances enter.

References
----------
Hay, Rastogi, Miklau & Suciu, *Boosting the accuracy of differentially private histograms through consistency* (2010);
Honaker, *Efficient use of differentially private binary trees* (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def level_sizes(leaves: int) -> tuple[int, ...]:
    """Return how many nodes each level has, root first, for a number of leaves.

    Examples
    --------
    >>> level_sizes(5)
    (1, 2, 3, 5)
    """
    sizes = [leaves]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    return tuple(reversed(sizes))


@dataclass(frozen=True)
class ConsistentTree:
    """What two passes do to a tree of this shape and this noise.

    Parameters
    ----------
    leaves : int
        Number of leaves, at least one.
    variances : tuple of float
        Noise variance of one node on each level, root first; 0 only for a public root.

    Examples
    --------
    >>> tree = ConsistentTree(2, (0.0, 4.0))
    >>> tree.fit([np.array([10.0]), np.array([7.0, 5.0])]).tolist()
    [6.0, 4.0]
    """

    leaves: int
    variances: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.variances) != len(self.sizes):
            raise ValueError(f"a tree of {self.leaves} leaves has {len(self.sizes)} levels")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Nodes of each level, root first."""
        return level_sizes(self.leaves)

    @property
    def depth(self) -> int:
        """Number of levels below the root."""
        return len(self.sizes) - 1

    @cached_property
    def _below(self) -> tuple[list[Floats], list[Floats]]:
        """Variance of every node from its own subtree, and of the sum of its children's."""
        bottom = [np.full(self.sizes[-1], self.variances[-1])]
        sums: list[Floats] = []
        for variance in self.variances[-2::-1]:
            sums.insert(0, pair_sums(bottom[0]))
            bottom.insert(0, variance * sums[0] / (variance + sums[0]))
        return bottom, sums

    @cached_property
    def _shares(self) -> list[Floats]:
        """For levels 1…h: which part of its parent's correction a node takes."""
        bottom, sums = self._below
        return [
            bottom[level] / np.repeat(sums[level - 1], 2)[: self.sizes[level]]
            for level in range(1, self.depth + 1)
        ]

    @cached_property
    def _own(self) -> list[Floats]:
        """For levels 0…h-1: the weight of a node's own noised count beside its children's."""
        return [
            total / (variance + total)
            for variance, total in zip(self.variances, self._below[1], strict=False)
        ]

    @cached_property
    def _spreads(self) -> list[Floats]:
        """For levels 0…h-1: η², the variance of the left child given the node."""
        bottom, sums = self._below
        found = []
        for level, total in enumerate(sums):
            children = paired(bottom[level + 1])
            found.append(children[..., 0] * children[..., 1] / total)
        return found

    @property
    def root_variance(self) -> float:
        """Variance of the consistent root."""
        return float(self._below[0][0][0])

    @cached_property
    def node_variances(self) -> list[Floats]:
        """Variance of every consistent node, one array for each level, root first."""
        found = [self._below[0][0]]
        for level in range(1, self.depth + 1):
            spread = np.repeat(self._spreads[level - 1], 2)[: self.sizes[level]]
            above = np.repeat(found[-1], 2)[: self.sizes[level]]
            found.append(spread + self._shares[level - 1] ** 2 * above)
        return found

    @property
    def leaf_variances(self) -> Floats:
        """Variance of every consistent leaf."""
        return self.node_variances[-1]

    def contrast_variances(self, level: int, widths: Floats) -> Floats:
        """Return, for each node of a level, the variance of ``left · width of right - right · width of left``.

        Parameters
        ----------
        level : int
            A level with children.
        widths : ndarray
            Widths of the children.
        """
        pairs, share = paired(widths), self._shares[level][::2]
        whole = pairs.sum(axis=-1)
        slope = share * whole - pairs[..., 0]
        return np.asarray(slope**2 * self.node_variances[level] + whole**2 * self._spreads[level])

    def fit(self, levels: Sequence[Floats]) -> Floats:
        """Return the consistent leaves, shape ``(…, leaves)``.

        Parameters
        ----------
        levels : sequence of ndarray, shape (…, size of the level)
            Noised counts, root first (the exact root where it is public).
        """
        bottom = [np.asarray(levels[-1], dtype=float)]
        sums: list[Floats] = []
        for level in range(self.depth - 1, -1, -1):
            sums.insert(0, pair_sums(bottom[0]))
            bottom.insert(0, sums[0] + self._own[level] * (levels[level] - sums[0]))
        found = bottom[0]
        for level in range(1, self.depth + 1):
            gap = np.repeat(found - sums[level - 1], 2, axis=-1)[..., : self.sizes[level]]
            gap *= self._shares[level - 1]
            gap += bottom[level]
            found = gap
        return found

    def coefficients(self, weights: Floats) -> list[Floats]:
        """Return what each noised count adds to ``Σ weights · leaf``: one array for each level, root first.

        Parameters
        ----------
        weights : ndarray, shape (…, leaves)
            A linear function of the consistent leaves.
        """
        carried = np.asarray(weights, dtype=float)
        kept: list[Floats] = []
        for level in range(self.depth, 0, -1):
            up = pair_sums(carried * self._shares[level - 1])
            kept.insert(0, carried - np.repeat(up, 2, axis=-1)[..., : self.sizes[level]])
            carried = up
        found, passed = [], carried
        for level, own in enumerate(self._own):
            found.append(own * passed)
            passed = kept[level] + np.repeat((1 - own) * passed, 2, axis=-1)[..., : self.sizes[level + 1]]
        return [*found, passed]

    def prefixes(self, points: NDArray[np.int64]) -> Prefixes:
        """Return the errors of ``P(j) = Σ leaves before j`` for some places ``0 ≤ j ≤ leaves``."""
        asked = np.asarray(points, dtype=np.int64)
        whole = asked >= self.leaves
        node = np.minimum(asked, self.leaves - 1)
        slope = np.zeros(asked.shape)
        steps: list[Floats] = []
        parents: list[NDArray[np.int64]] = []
        for level in range(self.depth - 1, -1, -1):
            right = (node & 1).astype(bool)
            node = node >> 1
            left_slope = np.where(right, 1.0, slope)
            right_slope = np.where(right, slope, 0.0)
            share = self._shares[level][2 * node]
            steps.insert(0, np.where(whole, 0.0, left_slope - right_slope))
            parents.insert(0, node)
            slope = left_slope * share + right_slope * (1 - share)
        return Prefixes(self, np.where(whole, 1.0, slope), steps, parents)

    def spread(self, level: int, nodes: NDArray[np.int64]) -> Floats:
        """Return η² of some nodes."""
        return np.asarray(self._spreads[level][nodes])


@dataclass(frozen=True)
class Prefixes:
    """The joint law of some prefix sums: each is ``slope · root + Σ steps · N(0, η²)`` along one path."""

    tree: ConsistentTree
    slope: Floats
    steps: list[Floats]
    parents: list[NDArray[np.int64]]

    @property
    def variances(self) -> Floats:
        """Variance of each prefix sum."""
        return self.covariances(self)

    def covariances(self, other: Prefixes) -> Floats:
        """Return the covariances of these prefix sums with others, place by place (shapes broadcast)."""
        total = self.slope * other.slope * self.tree.root_variance
        for level, (mine, theirs) in enumerate(zip(self.steps, other.steps, strict=True)):
            here, there = self.parents[level], other.parents[level]
            shared = mine * theirs * self.tree.spread(level, here)
            total = total + np.where(here == there, shared, 0.0)
        return np.asarray(total)


def paired(values: Floats) -> Floats:
    """Return values two by two, a missing last one as zero: shape ``(…, pairs, 2)``."""
    size = values.shape[-1]
    if size % 2:
        values = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
    return values.reshape((*values.shape[:-1], (size + 1) // 2, 2))


def pair_sums(values: Floats) -> Floats:
    """Return the sums of neighbours two by two."""
    pairs = paired(values)
    return np.asarray(pairs[..., 0] + pairs[..., 1])


def prefix_sums(counts: Floats) -> Floats:
    """Return the rows before each leaf, shape ``(…, leaves + 1)``."""
    start = np.zeros((*counts.shape[:-1], 1))
    return np.concatenate([start, np.cumsum(counts, axis=-1)], axis=-1)


def rising(prefix: Floats) -> Floats:
    """Return a curve that never falls: half-way between the running maximum and the running minimum from the right."""
    up = np.maximum.accumulate(prefix, axis=-1)
    down = np.flip(np.minimum.accumulate(np.flip(prefix, -1), axis=-1), -1)
    return np.asarray((up + down) / 2)
