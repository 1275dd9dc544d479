"""A quantile whose rank error is as large as its group is flagged and muted: it may be any value between the bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb.cards.released import estimate_card
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import rank_radius
from dpnb.planner.expression import Compare, Const
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.questions import B, G, X, asked, released, schema

N = 300
MEDIAN = {"target": X, "options": (("q", 0.5),)}


def median(epsilon, unit=None, **more):
    """A released median, and its priced question."""
    where = schema(unit or PrivacyUnit("change-one", rows=N))
    rng = np.random.default_rng(3)
    rows = {"x": rng.integers(0, 101, N).tolist(), "y": [0.0] * N, "b": [1] * N, "g": ["u"] * N}
    item = asked({**MEDIAN, **more}, "quantile", where, "epsilon", epsilon)
    return item, released(item, rows, where, SeededBits(1))


@pytest.mark.parametrize("epsilon", ["0.01", "0.08", "0.11", "1"])
def test_a_rank_error_beyond_what_groups_hold_is_flagged(epsilon):
    """Three groups of 300 people have 100 on average, 50 to either side of the median: flagged where the rank error is at least that."""
    item, found = median(epsilon, by=(G,))
    radius = rank_radius(item.parts[0].mechanism, 0.05)
    unclear = radius >= 50
    assert found.flags == (("rank unclear",) if unclear else ())
    assert ("more than a group of average size has" in item.preview.words) == unclear
    html = estimate_card(found).html
    assert ('class="num soft"' in html) == unclear
    assert ("by more rows than there are" in html) == unclear


def test_one_median_of_everybody_is_held_to_their_number():
    """150 people lie to either side; a filter leaves at most as many."""
    assert (
        median("0.01")[1].flags
        == median("0.01", where=Compare("==", B, Const(1)))[1].flags
        == ("rank unclear",)
    )
    assert median("0.2")[1].flags == ()
    assert "value soft" in estimate_card(median("0.01")[1]).html
    assert "value soft" not in estimate_card(median("0.2")[1]).html


@pytest.mark.parametrize("q", ["0.99", "0.01"])
def test_a_rank_past_the_last_row_is_flagged(q):
    """Three rows of 300 lie beyond this level: where the rank may miss by more, all values from there to the bound answer alike."""
    asked_of = {"options": (("q", Fraction(q)),)}
    item, found = median("1", **asked_of)
    assert 3 <= rank_radius(item.parts[0].mechanism, 0.05) < 297
    assert found.flags == ("past the rows",)
    assert "every value from there to the bound has the same rank" in estimate_card(found).html
    assert median("40", **asked_of)[1].flags == ()


def test_where_no_number_is_public_a_point_alone_says_of_how_few_it_is_noise():
    """Under add-remove a group may hold any number of rows: no flag, and the card says so; bought limits of no rows are the bounds."""
    item, found = median("0.01", unit=PrivacyUnit("add-remove"))
    assert found.flags == ()
    fewest = math.ceil(2 * rank_radius(item.parts[0].mechanism, 0.05))
    assert f"with fewer than about {fewest:,} rows it is mostly noise" in estimate_card(found).html
    nobody = {"where": Compare("==", B, Const(0)), "options": (("q", 0.5), ("ci", True))}
    limits = median("1", unit=PrivacyUnit("add-remove"), **nobody)[1].interval(0.95, "privacy")
    assert (limits.low, limits.high) == (0, 100)


def test_an_entry_that_is_taken_out_stands_back_too():
    """A flag belongs to its entry."""
    _, found = median("0.01", by=(G,))
    assert "value soft" in estimate_card(found["u"]).html
