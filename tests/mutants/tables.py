"""Wrong readings of tables: coverage of shares and margins, and the level of tests, show that their errors are not what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpnb.estimate import hypothesis
from dpnb.inference import NoiseSum, chi_square
from dpnb.statistics import crosstab, shares
from tests.estimate.test_z_test import test_a_test_rejects_exactly_what_its_interval_leaves_out
from tests.inference.test_chi_square import test_independence_keeps_its_level
from tests.mutants.table import Mutant, replaced
from tests.statistics.tables import asked
from tests.statistics.test_coverage import enough
from tests.statistics.test_crosstab import (
    hits,
    test_draws_of_shares_are_dependent_as_a_sample_is,
    test_margins_cover_and_add_up,
)


def without_folder(test: Callable[..., None], *args: Any) -> Callable[[Any], None]:
    """A test of the other rooms as a check."""
    return lambda _: test(*args)


def shares_cover(_: Any) -> None:
    """The privacy interval of a large share of many categories, with a private total, holds the dataset's share."""
    item = asked((8,), 300, ("epsilon", "0.5"), "add-remove", statistic="value_counts")
    held = hits(item, np.array([0.86] + 7 * [0.02]), 300, 60, lambda table: table)
    assert enough(int(held[0, 0]), 60)


def independent_sampling(real: Any) -> Any:
    """Sampling errors of shares drawn one by one."""
    return lambda found, count, rng, kind: super(shares.SharesResult, found).draws(count, rng, kind)


def total_without_noise(real: Any) -> Any:
    """Only the category's own noise, as if the noised total were exact."""
    return lambda cell, share: cell.unit


def null_tables_without_noise(real: Any) -> Any:
    """Simulate the null law of a multinomial table, as if nothing had been added to it."""
    silent = lambda count, rng: 0.0
    return lambda null, counts, noise, *rest: real(null, counts, silent, *rest)


def half_of(real: Any) -> Any:
    """Report a one-sided p-value as if it were two-sided."""
    return lambda *args: real(*args) / 2


MUTANTS = {
    "chi-square: null tables without noise": Mutant(
        "Compares a noised table with tables that carry no noise: it rejects far more often than stated.",
        replaced(chi_square, "_test", null_tables_without_noise),
        without_folder(test_independence_keeps_its_level, "even", 200, ("epsilon", 0.05), 200, True),
    ),
    "z test: half of the p-value": Mutant(
        "Reports half of the p-value, so that the test rejects what its own interval holds.",
        replaced(hypothesis, "largest_alpha", half_of),
        without_folder(test_a_test_rejects_exactly_what_its_interval_leaves_out, "proportion", "confidence"),
    ),
    "shares: the total carries no noise": Mutant(
        "Takes the noised total of a share for exact, so that large shares' intervals are too narrow or misplaced.",
        replaced(shares.ShareCell, "residual_noise", total_without_noise),
        shares_cover,
    ),
    "shares: independent sampling errors": Mutant(
        "Draws the sampling errors of shares one by one, though shares of one sample are negatively dependent.",
        replaced(shares.SharesResult, "draws", independent_sampling),
        without_folder(test_draws_of_shares_are_dependent_as_a_sample_is),
    ),
    "margins: the noise of one cell": Mutant(
        "Gives the total of several noised counts the noise of one of them.",
        replaced(
            crosstab,
            "several",
            lambda real: lambda unit, count: NoiseSum(unit.variance, unit.scales, unit.slack),
        ),
        without_folder(test_margins_cover_and_add_up, "change-one"),
    ),
}
