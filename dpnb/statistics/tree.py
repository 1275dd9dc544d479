r"""A binary tree of counts in one release: from it every range, the distribution, mean, median, quantiles, mode and density are free.

The leaves are equal public intervals of the number's range; a node of level l counts the rows in :math:`2^{h-l}` leaves, and all
levels are noised together. A range is then a sum of few nodes instead of many leaves, so its error grows with the number of
levels and not with its length. The released counts contradict each other; :mod:`dpnb.inference.tree` reconciles them.

*Sensitivity.* A row is in one node on every level. One that enters or leaves moves h+1 counts by one; one that changes its value
moves two counts on each of the levels 1…h and leaves the root alone (with groups, the roots of two trees too). So with equal
noise on h levels, L1 is 2h and squared L2 is 2h under change-one, h+1 under add-remove where the root is released too. Under
change-one the root is public, or where a filter or a missing value makes it private, free beside the levels: a row that enters
costs half of a row that moves, on levels 1…h (PRIVACY 12). A unit with k rows is k such moves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from dpnb.inference.digits import rounded
from dpnb.inference.law import law_of
from dpnb.inference.ratio_interval import critical
from dpnb.inference.tree import ConsistentTree
from dpnb.statistics import tree_readings as read
from dpnb.statistics._base import ONE, PriceRow, Pricing, Setting, Target, calibrated, price_row
from dpnb.statistics.axis import Axis
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.leaves import Leaves, leaves_of
from dpnb.statistics.outcome import Pair
from dpnb.statistics.reading import ReadingFunction
from dpnb.statistics.released import law_as_sum
from dpnb.statistics.result import Result
from dpnb.statistics.sensitivity import Component, Moves
from dpnb.statistics.tree_fit import ROOT, Fitted, fitted, level_name
from dpnb.statistics.tree_shares import leaf_counts
from dpnb.trusted.aggregate.algebra import Total
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release


class Tree(Statistic):
    """Counts on every level of a binary tree over a number."""

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "tree of counts"
    target: ClassVar[Target] = "number"
    of_dates: ClassVar[bool] = True
    by_rank: ClassVar[bool] = True
    defaults: ClassVar[Mapping[str, Any]] = {"levels": None}
    reference: ClassVar[str] = "Hay, Rastogi, Miklau & Suciu 2010; Honaker 2015"
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType(
        {
            "count": read.count,
            "share": read.share,
            "cdf": read.cdf,
            "mean": read.mean,
            "median": read.median,
            "quantile": read.quantile,
            "mode": read.mode,
            "density": read.density,
        }
    )

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The leaves."""
        return (leaves_of(setting).axis(setting.subject),)

    def domain(self, setting: Setting) -> Pair:
        """From zero to the public number of rows, where there is one."""
        rows = setting.unit.rows
        return 0.0, math.inf if rows is None else float(rows)

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One count for each node, all levels with equal noise; the root where it is private."""
        leaves, moves = leaves_of(setting), moves_of(setting)
        levels = [level_component(level) for level in range(leaves.depth, 0, -1)]
        root = None if setting.public_n is not None else root_component(setting)
        paid = leaves.depth + (root is not None and not free_root(setting))
        shares = {level.name: Fraction(1, paid) for level in levels}
        mechanisms, event = calibrated(moves, share, levels, shares, root)
        parts = [_part(setting, leaves, leaves.depth - at, c.name, mechanisms) for at, c in enumerate(levels)]
        if root is not None:
            parts.append(_part(setting, leaves, 0, ROOT, mechanisms))
        return Pricing(tuple(parts), (event,), _rows(setting, leaves, moves, share, mechanisms))

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """The radius of the noise on one leaf."""
        structure, laplace = priced_structure(setting, pricing)
        return critical(0.05, laplace=laplace) * math.sqrt(structure.leaf_variances.max()) + 0.5

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows for a leaf, and at most for the rows up to any value."""
        structure, laplace = priced_structure(setting, pricing)
        widest = critical(0.05, laplace=laplace) * math.sqrt(widest_prefix(structure)) + 0.5
        leaf = self.half_width(setting, pricing, n) or 0.0
        return f"± {rounded(leaf)} rows in each leaf, at most ± {rounded(widest)} rows up to any value"

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the consistent counts of the leaves; everything else is a reading."""
        found: Fitted = fitted(setting, releases)
        return leaf_counts(found, self.domain(setting))


def moves_of(setting: Setting) -> Moves:
    """Return what one unit can do: under change-one a row can always move from one leaf to another."""
    return Moves.of(setting.unit, private=setting.private, cells=max(setting.cells, 2))


def level_component(level: int) -> Component:
    """Return one level below the root: a row is in one of its nodes, and changes nothing by staying there."""
    return Component(level_name(level), ONE, 1, 0, f"level {level}")


def root_component(setting: Setting) -> Component:
    """Return the root: one entry that every row is in, or one for each group."""
    return Component(ROOT, ONE, 1, 0, "number of rows", alone=setting.cells == 1)


def free_root(setting: Setting) -> bool:
    """Tell whether the root costs nothing beside the levels: under change-one, where there is one root."""
    return setting.unit.adjacency == "change-one" and setting.cells == 1


def _part(
    setting: Setting, leaves: Leaves, level: int, name: str, mechanisms: Mapping[str, Any]
) -> Measurement:
    key = () if level == 0 else (leaves.key(level),)
    request = Total(ONE, setting.where, (*setting.keys, *key))
    return Measurement(name, request, mechanisms[name], setting.cells * leaves.sizes[level])


def _rows(
    setting: Setting, leaves: Leaves, moves: Moves, share: Share, mechanisms: Mapping[str, Any]
) -> tuple[PriceRow, ...]:
    """Return the price list: one line for all levels, one for a private root."""
    one = replace(level_component(1), words=f"counts of {setting.subject} on {leaves.depth} levels")
    row = price_row(moves, one, mechanisms[one.name], free=False)
    names, root = [level_name(level) for level in range(1, leaves.depth + 1)], mechanisms.get(ROOT)
    cost = sum(Fraction(row_cost(moves, one, mechanisms[name])) for name in names)
    symbol = "ε" if share.kind == "epsilon" else "ρ"
    moved = f"one person moves each level by at most {row.sensitivity.rpartition('at most ')[2]}"
    rows = [PriceRow(row.name, row.mechanism, moved, row.scale, f"{symbol} {rounded(float(cost))}")]
    if root is not None:
        found = price_row(moves, root_component(setting), root, free=False)
        paid = "free beside the levels" if free_root(setting) else found.cost
        rows.append(replace(found, cost=paid))
    return tuple(rows)


def row_cost(moves: Moves, part: Component, mechanism: Any) -> Fraction:
    """Return what one level costs alone."""
    if isinstance(mechanism, DiscreteLaplace):
        return moves.epsilon([(part, mechanism.scale)])
    return moves.rho([(part, mechanism.variance)])


def priced_structure(setting: Setting, pricing: Pricing) -> tuple[ConsistentTree, bool]:
    """Return the consistent tree that this noise gives, and whether the noise is Laplace."""
    leaves = leaves_of(setting)
    laws = {part.name: law_of(part.mechanism) for part in pricing.parts}
    noise = {name: law_as_sum(law).total_variance for name, law in laws.items()}
    names = [ROOT, *(level_name(level) for level in range(1, leaves.depth + 1))]
    variances = tuple(float(noise.get(name, 0.0)) for name in names)
    return structure_of(leaves.count, variances), isinstance(pricing.parts[0].mechanism, DiscreteLaplace)


@lru_cache(maxsize=8)
def structure_of(leaves: int, variances: tuple[float, ...]) -> ConsistentTree:
    """Return the consistent tree of some leaves and noise."""
    return ConsistentTree(leaves, variances)


def widest_prefix(structure: ConsistentTree) -> float:
    """Return the largest variance of the rows up to a value."""
    import numpy as np

    return float(structure.prefixes(np.arange(structure.leaves + 1)).variances.max())
