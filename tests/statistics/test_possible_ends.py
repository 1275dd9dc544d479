"""The interval of a count whose noised value is impossible: never one point where noise was large, and it covers as before."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.statistics.count import LinearCell
from dpnb.statistics.released import law_as_sum

LAW = DiscreteLaplaceLaw(Fraction(10))
RADIUS = LAW.tail_radius(0.05)


def cell(value, high=1000.0):
    """A released count."""
    return LinearCell(value, 1.0, law_as_sum(LAW), LAW, 0.0, high)


@pytest.mark.parametrize("value", [-1.0, -RADIUS, -RADIUS - 7, -500.0])
def test_a_count_below_zero_is_as_uncertain_as_one_of_zero(value):
    """It ended at 0 on both sides where the noise was larger than its radius."""
    assert cell(value).privacy(0.95) == (0.0, RADIUS)
    assert cell(1000.0 - value).privacy(0.95) == (1000.0 - RADIUS, 1000.0)


def test_possible_values_have_the_interval_that_they_had():
    """The value ± the radius, cut to what is possible."""
    for value in (0.0, 3.0, 500.0, 999.0):
        assert cell(value).privacy(0.95) == (max(value - RADIUS, 0.0), min(value + RADIUS, 1000.0))


def test_it_covers_and_many_at_once_are_those_of_each():
    """Of a count of 2 at scale 10, where two in five noised counts are negative."""
    rng = np.random.default_rng(1)
    noise = rng.geometric(1 - np.exp(-0.1), 4000) - rng.geometric(1 - np.exp(-0.1), 4000)
    low, high = cell(2.0 + noise).privacy(0.95)
    assert np.mean((low <= 2) & (high >= 2)) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 4000)
    assert (high - low >= RADIUS).all()
    for place in range(5):
        assert cell(2.0 + noise[place]).privacy(0.95) == (low[place], high[place])
