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
from typing import ClassVar

from dpnb.inference.digits import rounded
from dpnb.inference.ratio_interval import critical
from dpnb.inference.tree import ConsistentTree
from dpnb.statistics import tree_readings as read
from dpnb.statistics._base import ONE, Axis, Options, PriceRow, Pricing, Setting, Target
from dpnb.statistics.declaration import Statistic
from dpnb.statistics.leaves import Leaves, leaves_of
from dpnb.statistics.noise import Noise, Summand, amount, price_row, split
from dpnb.statistics.result import Pair, ReadingFunction, Result
from dpnb.statistics.tree_fit import ROOT, Fitted, fitted, level_name
from dpnb.statistics.tree_shares import leaf_counts
from dpnb.trusted.aggregate.algebra import Total, cells_of
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
    defaults: ClassVar[Options] = {"levels": None}
    reference: ClassVar[str] = "Hay, Rastogi, Miklau & Suciu 2010; Honaker 2015"
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType(
        {
            "count": read.count,
            "share": read.share,
            "cdf": read.cdf,
            "mean": read.mean,
            "median": read.median,
            "quantile": read.quantile,
            "iqr": read.iqr,
            "trimmed_mean": read.trimmed_mean,
            "skewness": read.skewness,
            "gini": read.gini,
            "mode": read.mode,
            "density": read.density,
        }
    )

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The leaves."""
        return (leaves_of(setting).axis(setting.subject),)

    def domain(self, setting: Setting) -> Pair:
        """From zero to the public number of rows, where there is one."""
        return setting.row_range

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One count for each node, all levels with equal noise; the root where it is private, for nothing where a change keeps it."""
        leaves = leaves_of(setting)
        rooted = setting.public_n is None
        paid = leaves.depth + (rooted and not setting.changes_in_one_cell)
        levels = [_level(setting, leaves, level, Fraction(1, paid)) for level in range(leaves.depth, 0, -1)]
        counted = [*levels, *([Summand(ROOT, setting.total(ONE), "number of rows")] if rooted else [])]
        found = split(setting, share, counted)
        parts = tuple(
            Measurement(one.name, one.request, noise, cells_of(one.request.keys))
            for one, (noise, _) in zip(counted, found, strict=True)
        )
        return Pricing(parts, _rows(setting, found[: leaves.depth], found[leaves.depth :]))

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


def _level(setting: Setting, leaves: Leaves, level: int, share: Fraction) -> Summand:
    """Return the counts of one level below the root: a row is in one of its nodes."""
    request = Total(ONE, setting.where, (*setting.keys, leaves.key(level)))
    return Summand(level_name(level), request, f"level {level}", share)


def _rows(
    setting: Setting, levels: Sequence[tuple[Noise, Fraction]], root: Sequence[tuple[Noise, Fraction]]
) -> tuple[PriceRow, ...]:
    """Return the price list: one line for all levels, one for a private root."""
    row = price_row(f"counts of {setting.subject} on {len(levels)} levels", *levels[-1])
    cost = sum((costs / amount(noise) for noise, costs in levels), Fraction(0))
    moved = row.sensitivity.replace("moves it", "moves each level")
    rows = [replace(row, sensitivity=moved, cost=f"{row.cost.partition(' ')[0]} {rounded(float(cost))}")]
    for noise, costs in root:
        found = price_row("number of rows", noise, costs)
        rows.append(replace(found, cost="free beside the levels") if setting.changes_in_one_cell else found)
    return tuple(rows)


def priced_structure(setting: Setting, pricing: Pricing) -> tuple[ConsistentTree, bool]:
    """Return the consistent tree that this noise gives, and whether the noise is Laplace."""
    leaves = leaves_of(setting)
    names = [ROOT, *(level_name(level) for level in range(1, leaves.depth + 1))]
    noise = pricing.noise
    variances = tuple(float(noise[name].total_variance) if name in noise else 0.0 for name in names)
    return structure_of(leaves.count, variances), isinstance(pricing.parts[0].mechanism, DiscreteLaplace)


@lru_cache(maxsize=8)
def structure_of(leaves: int, variances: tuple[float, ...]) -> ConsistentTree:
    """Return the consistent tree of some leaves and noise."""
    return ConsistentTree(leaves, variances)


def widest_prefix(structure: ConsistentTree) -> float:
    """Return the largest variance of the rows up to a value."""
    import numpy as np

    return float(structure.prefixes(np.arange(structure.leaves + 1)).variances.max())
