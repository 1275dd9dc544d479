"""Enumeration audits: on tiny neighbours the exact log-ratio of the whole output law never exceeds the claim."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpnb.mechanisms import QuantileSelection
from tests.mechanisms.enumeration import counted, gap, log_law, multisets, removed, tight_pair, worst

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
    """On pairs made to attain ε with weights near their floor, the loss stays below ε, and within 3·10⁻⁶ of it."""
    found = tight(40)
    nearest = max(loss - claim for claim, loss in found)
    with capsys.disabled():
        print(f"\n  tight pairs: loss - ε at most {nearest:.3e}")
    assert -3e-6 < nearest <= 0


@pytest.mark.soak
def test_rounding_near_the_floor_is_paid_for_at_length():
    """A thousand such pairs."""
    assert max(loss - claim for claim, loss in tight(1000)) <= 0


def test_two_cells_under_change_one_are_paid_by_factor_two():
    """A row that moves from one cell to another loses in both; with factor 2 the two losses sum to at most ε."""
    for epsilon in EPSILONS:
        mechanism = QuantileSelection(epsilon, Fraction(1, 2), 0, 4, 2)
        assert 2 * worst(mechanism, 4, "add-remove") <= float(epsilon)


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
    assert all(min(mechanism.probabilities(counted(rows))) > 0 for n in range(5) for rows in multisets(7, n))
