"""Enumeration audits: on tiny neighbours the exact log-ratio of the whole output law never exceeds the claim."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb.inference.selection_law import probabilities
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.derived_loss import score_factor
from tests.mechanisms.enumeration import (
    counted,
    gap,
    log_law,
    multisets,
    removed,
    sparse_log_law,
    tight_pair,
    worst,
)

QUANTILES = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1))
EPSILONS = (Fraction(1, 20), Fraction(1), Fraction(6), Fraction(80))


def audit(
    points: int, size: int, adjacency: str, quantiles=QUANTILES, offsets=(-1, 0, 2)
) -> dict[str, float]:
    """The worst log-ratio for each claim."""
    return {
        str(epsilon): max(
            worst(QuantileSelection(epsilon, q, offset, points - 1), size, adjacency)
            for q in quantiles
            for offset in offsets
        )
        for epsilon in EPSILONS
    }


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_quantile_selection_keeps_its_claim_on_all_tiny_neighbours(adjacency, capsys):
    """All multisets of up to four values on five points, four quantiles, three offsets: the log-ratio is at most ε."""
    found = audit(5, 4, adjacency)
    with capsys.disabled():
        print(
            f"\n  {adjacency}: worst log-ratio "
            + ", ".join(f"{value:.6f} for ε {claim}" for claim, value in found.items())
        )
    assert all(value <= float(Fraction(claim)) for claim, value in found.items())
    assert found["1"] > 0.5


@pytest.mark.soak
@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
def test_quantile_selection_keeps_its_claim_on_more_tiny_neighbours(adjacency):
    """All multisets of up to six values on seven points."""
    found = audit(7, 6, adjacency, QUANTILES, (0, 1))
    assert all(value <= float(Fraction(claim)) for claim, value in found.items())


def tight(count: int) -> list[tuple[float, float]]:
    return [
        tight_pair(
            lambda e, q, steps: QuantileSelection(e, q, 0, steps), Fraction(1, 2) + Fraction(step, 997)
        )
        for step in range(count)
    ]


def test_rounding_near_the_floor_is_paid_for(capsys):
    """On pairs made to attain ε with weights near their floor, the loss stays below ε, and within 5·10⁻⁶ of it."""
    found = tight(40)
    nearest = max(loss - claim for claim, loss in found)
    with capsys.disabled():
        print(f"\n  tight pairs: loss - ε at most {nearest:.3e}")
    assert -5e-6 < nearest <= 0


@pytest.mark.soak
def test_rounding_near_the_floor_is_paid_for_at_length():
    """A thousand such pairs."""
    assert max(loss - claim for claim, loss in tight(1000)) <= 0


def two_rows_gone(mechanism: QuantileSelection) -> float:
    """The worst log-ratio when one unit's two rows leave."""
    laws = {rows: log_law(mechanism, rows) for n in range(5) for rows in multisets(5, n)}
    return max(
        gap(law, laws[less]) for rows, law in laws.items() for one in removed(rows) for less in removed(one)
    )


def test_a_unit_with_two_rows_is_paid_by_factor_two():
    """Removing two rows of one unit from a cell loses at most ε when the factor is 2, and more when it is 1."""
    quantiles = [(q, offset) for q in QUANTILES for offset in (0, 2)]
    assert max(two_rows_gone(QuantileSelection(Fraction(2), q, at, 4, 2)) for q, at in quantiles) <= 2
    assert max(two_rows_gone(QuantileSelection(Fraction(2), q, at, 4)) for q, at in quantiles) > 2


def test_every_point_is_possible_for_any_data():
    """No output rules out any dataset, however large ε is."""
    mechanism = QuantileSelection(Fraction(5000), Fraction(1, 2), 0, 6)
    assert all(min(probabilities(mechanism, counted(rows))) > 0 for n in range(5) for rows in multisets(7, n))


ADDED = PrivacyUnit("add-remove")
CHANGED = PrivacyUnit("change-one", rows=5)
LEVELS = (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 4), Fraction(1))


def sharp_pair(q: Fraction, epsilon: Fraction, factor: Fraction) -> float:
    """The loss of a pair made to attain ε: one row more at an end of a long grid.

    Eight rows lie together near the end, the target two below or above their quantile: nearly all of the grid is on their other
    side and gets worse by max(q, 1 - q), the few points between them and the new row better by as much.
    """
    steps = 2**40
    at, end, offset = (steps - 10, steps, -2) if q >= Fraction(1, 2) else (10, 0, 2)
    mechanism = QuantileSelection(epsilon, q, offset, steps, factor)
    one = sparse_log_law(mechanism, (at,) * 8)
    two = sparse_log_law(mechanism, tuple(sorted((*[at] * 8, end))))
    return max(abs(one(point) - two(point)) for point in (0, 5, steps // 2, steps - 5, steps))


@pytest.mark.parametrize("q", LEVELS, ids=str)
def test_an_added_row_costs_what_is_claimed_and_no_less(q):
    """Under add-remove the scores move by max(q, 1 - q): the pair that attains it stays below ε, and exceeds it at 90 % of the factor."""
    epsilon, factor = Fraction(1), score_factor(q, ADDED, 1)
    assert factor == max(q, 1 - q)
    assert 0.99 < sharp_pair(q, epsilon, factor) <= 1 < sharp_pair(q, epsilon, factor * Fraction(9, 10))


@pytest.mark.parametrize("q", LEVELS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)], ids=str)
def test_the_sharper_factors_keep_their_claim_on_all_tiny_neighbours(q, epsilon):
    """All multisets of up to four values on five points: one row more or less, one changed, and one that changes its cell."""
    for offset in (0, -2, 1):
        added = QuantileSelection(epsilon, q, offset, 4, score_factor(q, ADDED, 3))
        changed = QuantileSelection(epsilon, q, offset, 4, score_factor(q, CHANGED, 1))
        moved = QuantileSelection(epsilon, q, offset, 4, score_factor(q, CHANGED, 3))
        assert worst(added, 4, "add-remove") <= epsilon
        assert worst(changed, 3, "change-one") <= epsilon
        assert worst(moved, 3, "change-one") <= epsilon
        assert 2 * worst(moved, 4, "add-remove") <= epsilon


@pytest.mark.parametrize("q", LEVELS, ids=str)
def test_a_sharper_selection_is_of_bounded_range(q):
    """Log-ratios of neighbouring laws vary by at most ε over the grid, so that ε²/8 is its ρ: on all tiny neighbours."""
    mechanism = QuantileSelection(Fraction(2), q, 0, 4, score_factor(q, ADDED, 1))
    laws = {rows: log_law(mechanism, rows) for n in range(5) for rows in multisets(5, n)}
    ranges = [np.ptp(law - laws[less]) for rows, law in laws.items() for less in removed(rows)]
    assert 0.9 < max(ranges) <= 2


def test_units_and_groups_multiply_the_factor():
    """Rows of a unit count each; a median over groups is no dearer than without, a maximum twice as dear."""
    units = PrivacyUnit("add-remove", unit="who", max_rows=3)
    assert score_factor(Fraction(1, 2), units, 4) == Fraction(3, 2)
    assert [score_factor(Fraction(1, 2), CHANGED, cells) for cells in (1, 2)] == [1, 1]
    assert [score_factor(Fraction(1), CHANGED, cells) for cells in (1, 2)] == [1, 2]
    two = [score_factor(q, units, 1) for q in (Fraction(1, 2), Fraction(1))]
    for q, factor in zip((Fraction(1, 2), Fraction(1)), two, strict=True):
        three = QuantileSelection(Fraction(2), q, 0, 4, factor * Fraction(2, 3))
        assert two_rows_gone(three) <= 2


@pytest.mark.parametrize("q", LEVELS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)], ids=str)
def test_flipped_quantiles_keep_their_claim_on_all_tiny_neighbours(q, epsilon):
    """All multisets of up to four values on five points: one row more or less, one changed, and one that changes its cell."""
    for offset in (0, -2, 1):
        added = QuantileFlip(epsilon, q, offset, 4, score_factor(q, ADDED, 3))
        changed = QuantileFlip(epsilon, q, offset, 4, score_factor(q, CHANGED, 1))
        moved = QuantileFlip(epsilon, q, offset, 4, score_factor(q, CHANGED, 3))
        assert worst(added, 4, "add-remove") <= epsilon * (1 + 1e-9)
        assert worst(changed, 3, "change-one") <= epsilon * (1 + 1e-9)
        assert worst(moved, 3, "change-one") <= epsilon * (1 + 1e-9)
        assert 2 * worst(moved, 4, "add-remove") <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("q", LEVELS, ids=str)
def test_a_flip_needs_twice_the_factor_of_its_scores(q):
    """Scores move both ways: where a row is added half the rate is needed, and a rate of ε over the single factor costs more."""
    assert worst(QuantileFlip(Fraction(4), q, 0, 4, score_factor(q, ADDED, 1)), 4, "add-remove") > 3.2
    single = QuantileFlip(Fraction(8), q, 0, 4, score_factor(q, ADDED, 1))
    assert worst(single, 4, "add-remove") > 4
