"""Wrong versions of the tree: what it costs, how it is made consistent, and what its intervals leave out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpnb.inference.tree import ConsistentTree, Prefixes
from dpnb.planner.question import Question
from dpnb.statistics import tree, tree_shares
from dpnb.statistics._base import Setting
from dpnb.statistics.noise import amount, with_amount
from dpnb.statistics.tree_fit import Fitted
from dpnb.trusted.curator.engines import batching
from dpnb.trusted.measurements.sums import SWITCH, WITHIN, Frame
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, schema, worst_loss
from tests.curator.engines import test_nested_keys as nested
from tests.fuzz.wrong import kinds_without
from tests.inference import test_tree as least_squares
from tests.mutants.table import Mutant, replaced, together
from tests.statistics import test_tree as trees
from tests.statistics.test_sensitivity import FEW, ROWS, UNITS

ROW, ADDED = UNITS["change one row"], UNITS["add or remove one row"]


def costs_at_most_one(name: str, unit: PrivacyUnit, kind: str = "epsilon") -> Callable[[Any], None]:
    """Asked for a loss of 1, a tree costs no tiny neighbours more than 1 under the noise that pricing chose."""

    def check(_: Any) -> None:
        found = priced(
            Question("tiny", "tree", **trees.QUESTIONS[name]), schema(unit, measure=kind), kind=kind
        )
        assert worst_loss(found, unit, ROWS if unit.max_rows == 1 else FEW) <= 1

    return check


def one_level_pays(real: Any) -> Any:
    """Noise as if a row were in one node of one level."""

    def split(setting: Any, share: Any, summands: Any) -> Any:
        found = real(setting, share, summands)
        return [(with_amount(size, amount(size) / len(found)), costs) for size, costs in found]

    return split


def root_for_nothing(real: Any) -> Any:
    """The root with noise of scale one, beside levels that spend everything."""

    def split(setting: Any, share: Any, summands: Any) -> Any:
        levels = [replace(one, share=Fraction(1, len(summands) - 1)) for one in summands[:-1]]
        return [*real(setting, share, levels), (DiscreteLaplace(Fraction(1)), Fraction(1))]

    return split


def always_alone(real: Any) -> Any:
    """The roots of two groups are taken for one root."""
    return lambda frame, keys: (WITHIN,) if keys == min(frame.several, key=len) else real(frame, keys)


def equals_least_squares(_: Any) -> None:
    """The two passes are GLS, for an awkward number of leaves."""
    for public in (True, False):
        least_squares.test_two_passes_equal_generalised_least_squares(11, public)
        least_squares.test_variances_of_all_ranges_are_exact(11, public)


def halves(_: Any) -> Any:
    """A node's own count and its children's weigh the same."""
    return property(lambda t: [np.full_like(total, 0.5) for total in t._below[1]])


def even_shares(_: Any) -> Any:
    """Both children take half of the correction, a child without a sibling too."""
    return property(lambda t: [np.full(size, 0.5) for size in t.sizes[1:]])


def apart(_: Any) -> Any:
    """Two prefix sums are taken to share the root's error alone."""

    def covariances(one: Prefixes, other: Prefixes) -> Any:
        total = one.slope * other.slope * one.tree.root_variance
        same = one is other
        for level, (mine, theirs) in enumerate(zip(one.steps, other.steps, strict=True)):
            total = total + (mine * theirs * one.tree.spread(level, one.parents[level]) if same else 0.0)
        return np.asarray(total)

    return covariances


def bands_cover(epsilon: int) -> Callable[[Any], None]:
    """Simultaneous bands hold the curve often enough, in 60 studies."""

    def check(_: Any) -> None:
        held = trees.bands("add-remove", ("epsilon", epsilon), 400, 60)
        assert all(trees.enough(found, 60) for found in held.values()), held

    return check


def each_alone(_: Any) -> Any:
    """A band with the critical value of one point."""
    return lambda found, level, statistic: found.critical(1 - level)


def no_sampling(real: Any) -> Any:
    """The size is taken for endless: no row of the population was left out."""

    def noise_band(found: Fitted, level: float) -> Any:
        radius, _ = real(found, level)
        return radius, np.full(found.sizes.shape, 1e12)

    return noise_band


def less_noise(real: Any) -> Any:
    """The variance of two prefix sums without what they do not share."""
    return property(lambda prefixes: 0.5 * real.fget(prefixes))


MUTANTS = {
    "a tree priced as one level": Mutant(
        "A row is in one node on every level, and only one of them is paid.",
        replaced(tree, "split", one_level_pays),
        costs_at_most_one("tree", ADDED),
    ),
    "a root that costs nothing under add-remove": Mutant(
        "The root is free under change-one alone: a row that comes or goes moves it together with all levels.",
        replaced(tree, "split", root_for_nothing),
        costs_at_most_one("tree", ADDED),
    ),
    "a row that stays in its leaf": Mutant(
        "Under change-one a value that changes moves two nodes on each level, not none.",
        together(
            kinds_without(SWITCH),
            replaced(Setting, "changes_in_one_cell", lambda _: property(lambda setting: False)),
        ),
        costs_at_most_one("filtered tree", ROW),
    ),
    "the roots of groups taken for one": Mutant(
        "A row that changes its group moves two roots; priced as if it stayed within one.",
        replaced(Frame, "ways", always_alone),
        costs_at_most_one("tree by group", ROW, "rho"),
    ),
    "a tree whose weights are one half": Mutant(
        "The first pass weighs a node's own count like its children's: no longer the best estimate.",
        replaced(ConsistentTree, "_own", halves),
        equals_least_squares,
    ),
    "a correction that is halved for an only child": Mutant(
        "The second pass gives each child half of what is missing, also where there is one child.",
        replaced(ConsistentTree, "_shares", even_shares),
        equals_least_squares,
    ),
    "prefix sums that share the root alone": Mutant(
        "The covariance of two places forgets the path that they share: ranges get wrong variances.",
        replaced(Prefixes, "covariances", apart),
        equals_least_squares,
    ),
    "a tree whose noise is half as variable": Mutant(
        "Intervals from half of the variance cover too seldom.",
        replaced(Prefixes, "variances", less_noise),
        equals_least_squares,
    ),
    "a band that holds each point alone": Mutant(
        "The largest of many errors exceeds what one of them does.",
        replaced(Fitted, "supremum", each_alone),
        bands_cover(1),
    ),
    "a band for the population without sampling error": Mutant(
        "What the sample leaves open is forgotten.",
        replaced(tree_shares, "_noise_band", no_sampling),
        bands_cover(50),
    ),
    "a coarse key read off a finer one that holds some rows": Mutant(
        "A grouping whose codes are cut off serves a key that needs the rows beyond.",
        replaced(
            batching, "_over", lambda _: lambda code, axes, exact, known: batching.substitute(code, axes)
        ),
        lambda _: nested.test_a_key_of_part_of_another_key_that_leaves_rows_out_keeps_them(),
    ),
}
