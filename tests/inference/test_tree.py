"""The two passes over a noisy tree are generalised least squares, and every variance they state is that of the GLS estimate."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.inference.tree import ConsistentTree, level_sizes, pair_sums

LEAVES = (1, 2, 3, 5, 8, 11, 32, 37)


def design(leaves: int) -> np.ndarray:
    """Which leaves each node sums, levels from the root down."""
    sizes = level_sizes(leaves)
    depth = len(sizes) - 1
    at = np.arange(leaves)
    rows = [(at >> (depth - level)) == node for level, size in enumerate(sizes) for node in range(size)]
    return np.array(rows, dtype=float)


def least_squares(leaves: int, variances: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The GLS map from noised nodes to leaves and its covariance; a public root is solved for, not weighted."""
    sizes = level_sizes(leaves)
    every = design(leaves)
    noise = np.concatenate([np.full(size, v) for size, v in zip(sizes, variances, strict=True)])
    if variances[0] > 0:
        weighted = every.T / noise
        covariance = np.linalg.inv(weighted @ every)
        return covariance @ weighted, covariance
    free = np.vstack([np.eye(leaves - 1), -np.ones(leaves - 1)]) if leaves > 1 else np.zeros((1, 0))
    last = np.zeros((leaves, 1))
    last[-1] = 1.0
    rest, seen = every[1:] @ free, every[1:] @ last
    weighted = rest.T / noise[1:]
    inner = np.linalg.inv(weighted @ rest) if leaves > 1 else np.zeros((0, 0))
    root = last - free @ inner @ weighted @ seen
    return np.hstack([root, free @ inner @ weighted]), free @ inner @ free.T


def noised(leaves: int, public: bool, seed: int) -> tuple[ConsistentTree, list[np.ndarray]]:
    """A tree with different noise on every level, and noised counts."""
    rng = np.random.default_rng(seed)
    sizes = level_sizes(leaves)
    variances = tuple(rng.uniform(1, 9, len(sizes)))
    if public:
        variances = (0.0, *variances[1:])
    return ConsistentTree(leaves, variances), [rng.normal(20, 10, size) for size in sizes]


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("leaves", LEAVES)
def test_two_passes_equal_generalised_least_squares(leaves: int, public: bool) -> None:
    """To 1e-10, for any number of leaves, unequal levels, and a public or a noised root."""
    tree, levels = noised(leaves, public, leaves)
    solve, covariance = least_squares(leaves, tree.variances)
    np.testing.assert_allclose(tree.fit(levels), solve @ np.concatenate(levels), atol=1e-10)
    np.testing.assert_allclose(tree.leaf_variances, np.diag(covariance), atol=1e-10)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("leaves", LEAVES)
def test_variances_of_all_ranges_are_exact(leaves: int, public: bool) -> None:
    """Covariances of all prefix sums, walked along paths, are those of the GLS estimate."""
    tree, _ = noised(leaves, public, 7)
    _, covariance = least_squares(leaves, tree.variances)
    sums = np.tril(np.ones((leaves + 1, leaves)), -1)
    one, other = np.indices((leaves + 1, leaves + 1))
    found = tree.prefixes(one).covariances(tree.prefixes(other))
    stated = sums @ covariance @ sums.T
    np.testing.assert_allclose(found, stated, atol=1e-10)
    variances = tree.prefixes(np.arange(leaves + 1)).variances
    np.testing.assert_allclose(variances, np.diag(stated), atol=1e-10)


@pytest.mark.parametrize("leaves", LEAVES)
def test_coefficients_rebuild_any_linear_function(leaves: int) -> None:
    """What each noised count adds to a weighted sum of leaves gives the sum and its variance."""
    tree, levels = noised(leaves, public=False, seed=3)
    weights = np.random.default_rng(leaves).normal(size=(2, leaves))
    used = tree.coefficients(weights)
    rebuilt = sum(u @ y for u, y in zip(used, levels, strict=True))
    np.testing.assert_allclose(rebuilt, weights @ tree.fit(levels), atol=1e-10)
    _, covariance = least_squares(leaves, tree.variances)
    variance = sum((u**2).sum(axis=-1) * v for u, v in zip(used, tree.variances, strict=True))
    np.testing.assert_allclose(variance, np.einsum("ij,jk,ik->i", weights, covariance, weights), atol=1e-10)


def test_the_children_of_a_consistent_node_add_up_and_many_trees_are_fitted_at_once() -> None:
    """Leading axes are other trees; the public root is met exactly."""
    tree, levels = noised(11, public=True, seed=1)
    both = tree.fit([np.stack([y, 2 * y]) for y in levels])
    np.testing.assert_allclose(both[0], tree.fit(levels))
    np.testing.assert_allclose(both.sum(axis=-1), [levels[0][0], 2 * levels[0][0]])


def test_node_and_contrast_variances_are_those_of_simulated_noise() -> None:
    """Every level's variances, and those of a comparison of two halves, hold in 40,000 draws."""
    tree, _ = noised(6, public=False, seed=5)
    rng = np.random.default_rng(2)
    noise = [rng.normal(0, np.sqrt(v), (40_000, s)) for s, v in zip(tree.sizes, tree.variances, strict=True)]
    found, widths = tree.fit(noise), np.ones(6)
    for level in range(tree.depth, 0, -1):
        np.testing.assert_allclose(found.var(axis=0), tree.node_variances[level], rtol=0.05)
        wide = np.concatenate([widths, np.zeros(len(widths) % 2)]).reshape(-1, 2)
        pairs = np.concatenate([found, np.zeros((40_000, found.shape[1] % 2))], axis=1).reshape(40_000, -1, 2)
        contrast = pairs[..., 0] * wide[:, 1] - pairs[..., 1] * wide[:, 0]
        stated = tree.contrast_variances(level - 1, widths)
        np.testing.assert_allclose(contrast.var(axis=0), stated, rtol=0.05, atol=1e-9)
        found, widths = pair_sums(found), pair_sums(widths)


def test_a_tree_of_another_number_of_levels_is_refused() -> None:
    """One variance for each level, no more and no fewer."""
    with pytest.raises(ValueError, match="3 levels"):
        ConsistentTree(4, (1.0, 1.0))
