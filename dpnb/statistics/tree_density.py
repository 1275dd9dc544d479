"""The density, read off a tree: noise is smoothed where counts are not clear of it, intervals are those of the bins themselves.

A node is split into its halves only where both count more than three standard deviations, or differ by more than three; what is
not split is level. The interval of a bin is that of its share before smoothing, so that it covers whatever the smoothing did.
"""

from __future__ import annotations

import numpy as np

from dpnb.inference.tree import pair_sums, paired
from dpnb.statistics.leaves import Places
from dpnb.statistics.outcome import Kind
from dpnb.statistics.result import Result
from dpnb.statistics.tree_fit import Fitted
from dpnb.statistics.tree_shares import NOTES, share_result

CLEAR = 3.0


def density_result(found: Fitted, level: int) -> Result:
    """Return the density in the nodes of a level, for each group."""
    leaves = found.leaves
    up = 2 ** (leaves.depth - level)
    edges = np.minimum(np.arange(leaves.sizes[level] + 1) * up, leaves.count)
    step = float(leaves.number.step)
    width = np.diff(np.minimum(edges * leaves.width, leaves.grid)) * step

    def read(counts: np.ndarray) -> np.ndarray:
        mass = np.maximum(_smoothed(found, counts, level), 0.0) * width
        total = mass.sum(axis=-1, keepdims=True)
        even = width / width.sum()
        return np.asarray(np.where(total > 0, mass / np.where(total > 0, total, 1.0), even) / width)

    low = Places(edges[:-1], edges[:-1], np.zeros(width.size))
    high = Places(edges[1:], edges[1:], np.zeros(width.size))
    shares = share_result(found, low, high)
    values = read(found.counts).ravel()
    wide = np.tile(width, found.setting.cells)

    def ends(at: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        lowest, highest = shares.ends(at, kind)
        return np.minimum(lowest / wide, values), np.maximum(highest / wide, values)

    sampling = None if shares.sampling is None else shares.sampling / wide**2
    return Result(
        values,
        (),
        (0.0, float(1 / width.min())),
        ends,
        shares.noise / wide**2,
        sampling,
        shares.sizes,
        shares.effective,
        shares.cell_flags,
        found.redraw(read),
        notes={kind: f"{note}; of the bin before smoothing" for kind, note in NOTES.items()},
        across=leaves.edges(level),
    )


def _smoothed(found: Fitted, counts: np.ndarray, level: int) -> np.ndarray:
    """Return rows per unit of width in the nodes of a level; a node is split only where its halves are clear of noise.

    It is split where both halves count more than three standard deviations, or differ by more than three.
    """
    tree, leaves = found.structure, found.leaves
    nodes, widths = [counts], [leaves.held(np.arange(leaves.count)).astype(float)]
    for _ in range(leaves.depth):
        nodes.insert(0, pair_sums(nodes[0]))
        widths.insert(0, pair_sums(widths[0]))
    value = nodes[0] / widths[0]
    split = np.ones(value.shape, dtype=bool)
    for above in range(level):
        child, wide = nodes[above + 1], widths[above + 1]
        pairs, across = paired(child), paired(wide)
        sd = np.sqrt(paired(tree.node_variances[above + 1]))
        both = (pairs > CLEAR * sd).all(axis=-1) | (across[..., 1] == 0)
        gap = np.abs(pairs[..., 0] * across[..., 1] - pairs[..., 1] * across[..., 0])
        differ = gap > CLEAR * np.sqrt(tree.contrast_variances(above, wide))
        split = split & (both | differ)
        size = child.shape[-1]
        inherited = np.repeat(value, 2, axis=-1)[..., :size]
        split = np.repeat(split, 2, axis=-1)[..., :size]
        value = np.where(split, child / wide, inherited)
    return np.asarray(value / float(leaves.number.step))
