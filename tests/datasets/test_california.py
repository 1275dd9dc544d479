"""The ages of California's adults are the census's own counts, spread within its groups."""

from itertools import pairwise

import numpy as np

from dpnb.datasets import adult_ages
from dpnb.datasets.public_studies import GROUPS


def test_groups_add_up_to_the_adults_that_the_census_counted():
    """The groups add up to the 24,621,819 adults and the 3,595,658 people of 65 and more that the same table states."""
    assert sum(people for *_, people in GROUPS) == 24_621_819
    assert sum(people for first, _, people in GROUPS if first >= 65) == 3_595_658
    assert all(last + 1 == first for (_, last, _), (first, _, _) in pairwise(GROUPS))


def test_ages_hold_every_group_in_its_share():
    """About one age for every thousand adults, group by group, and nobody outside 18 to 94."""
    ages = adult_ages()
    assert (ages.min(), ages.max()) == (18, 94)
    for first, last, people in GROUPS:
        held = np.count_nonzero((ages >= first) & (ages <= last))
        assert abs(1000 * held - people) <= 500 * (1 + last - first)
