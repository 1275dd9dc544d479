"""Wrong readings of tables: coverage of shares and margins, and the level of tests, show that their errors are not what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpnb.inference import NoiseSum
from dpnb.statistics import crosstab, shares
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


MUTANTS = {
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
