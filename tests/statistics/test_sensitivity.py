"""Sensitivity by brute force: rows and units, both adjacencies, pure and Gaussian noise, filters, groups, missing values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpnb.errors import PlanError
from dpnb.planner.expression import BinOp, Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, rho_of, rows_of, schema, worst_loss

X, B, G = Ref("x"), Ref("b"), Ref("g")
OLD = Compare(">", X, Const(11))

QUESTIONS: dict[str, dict[str, Any]] = {
    "filtered count": {"statistic": "count", "where": OLD},
    "count by group": {"statistic": "count", "by": (G,)},
    "sum": {"statistic": "sum", "target": X},
    "filtered sum": {"statistic": "sum", "target": X, "where": Compare("==", B, Const(1))},
    "sum by group": {"statistic": "sum", "target": X, "by": (G,)},
    "mean": {"statistic": "mean", "target": X},
    "mean, spread bound": {"statistic": "mean", "target": X, "options": (("spread", "bound"),)},
    "mean by group": {"statistic": "mean", "target": X, "by": (G,)},
    "proportion": {"statistic": "mean", "target": B},
    "proportion by group": {"statistic": "mean", "target": B, "by": (G,)},
    "mean of a product": {"statistic": "mean", "target": BinOp("*", X, BinOp("-", X, Const(12)))},
    "variance": {"statistic": "variance", "target": X},
    "variance by group": {"statistic": "variance", "target": X, "by": (G,)},
    "std of a proportion": {"statistic": "std", "target": B},
    "difference": {"statistic": "difference", "target": X, "by": (B,)},
    "difference by group": {"statistic": "difference", "target": X, "by": (G, B)},
    "difference of proportions": {"statistic": "difference", "target": OLD, "by": (B,)},
    "histogram": {"statistic": "histogram", "target": X, "options": (("bins", 2),)},
    "value counts by group": {"statistic": "value_counts", "target": B, "by": (G,)},
    "contingency table": {"statistic": "crosstab", "target": B, "by": (G,)},
}
UNITS = {
    "change one row": PrivacyUnit("change-one", rows=5),
    "add or remove one row": PrivacyUnit("add-remove"),
    "add or remove one unit of two rows": PrivacyUnit("add-remove", unit="who", max_rows=2),
    "change one unit of two rows": PrivacyUnit("change-one", unit="who", max_rows=2, units=3),
}
ROWS = rows_of(4, missing=True)
FEW = [row for row in ROWS if row[0] in (0, 4, None) and row[1] != None and row[2] in (0, 1)]  # noqa: E711


def _question(name: str) -> Question:
    return Question("tiny", **QUESTIONS[name])


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_neighbour_costs_more_than_the_claim(name: str, unit: str, kind: str) -> None:
    """Over every pair of tiny neighbours the realised loss is at most the recorded one, and at least 70 % of it."""
    neighbours = UNITS[unit]
    where = schema(neighbours, measure=kind)
    found = priced(_question(name), where, kind=kind)
    claimed = found.loss.amount
    worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else FEW)
    assert worst <= claimed == Fraction(1)
    if neighbours.max_rows == 1:
        assert worst >= Fraction(7, 10) * claimed


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize(
    "name",
    [
        "filtered count",
        "count by group",
        "sum",
        "sum by group",
        "histogram",
        "proportion by group",
        "contingency table",
    ],
)
@pytest.mark.parametrize("unit", UNITS)
def test_single_part_scales_are_tight(name: str, unit: str, kind: str) -> None:
    """A statistic of one part reaches its claimed loss exactly, so that a scale 10 % too small would exceed it."""
    neighbours = UNITS[unit]
    where = schema(neighbours, measure=kind)
    found = priced(_question(name), where, kind=kind)
    worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else FEW)
    assert worst > Fraction(9, 10) * found.loss.amount


TOGETHER: dict[str, dict[str, Any]] = {
    **{
        name: QUESTIONS[name]
        for name in ("filtered count", "sum by group", "mean", "mean by group", "variance")
    },
    "difference": QUESTIONS["difference"],
    "histogram": QUESTIONS["histogram"],
    "covariance": {"statistic": "covariance", "target": X, "other": B},
    "covariance, separate": {
        "statistic": "covariance",
        "target": X,
        "other": B,
        "options": (("method", "separate"),),
    },
    "moments": {"statistic": "moments", "target": X, "others": (B,)},
    "tree": {"statistic": "tree", "target": X, "options": (("levels", 2),)},
}
ENDS = [row for row in ROWS if row[0] in (0, 4, None) and row[1] is not None and row[2] in (0, 1)]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TOGETHER)
def test_laplace_noise_in_a_rho_budget_costs_no_neighbour_more_than_is_charged(name: str, unit: str) -> None:
    """Asked for ε 1 where ρ is counted: the divergence of every pair of tiny neighbours is within the charge, which is below ε²/2.

    Where one part is released the charge is nearly reached, so that noise of nine tenths of the scale would exceed it.
    """
    neighbours = UNITS[unit]
    found = priced(Question("tiny", **TOGETHER[name]), schema(neighbours, measure="rho"))
    (event,) = found.events
    assert event.kind == "laplace"
    assert PrivacyEvent.from_json(event.to_json()).loss(Measure.ZCDP) == found.loss
    worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else ENDS[:6], rho_of)
    assert worst <= found.loss.amount <= pure_rho(Fraction(1)) < Fraction(1, 2)
    if name in ("filtered count", "sum by group", "histogram"):
        assert worst > Fraction(9, 10) * found.loss.amount


def test_public_size_needs_no_count() -> None:
    """With a public number of rows and no missing value the mean releases no count, and costs what it claims."""
    unit = PrivacyUnit("change-one", rows=5)
    where = schema(unit, missing_b=1)
    rows = rows_of(4, missing=False)
    proportion = priced(Question("tiny", "mean", B), where)
    assert [part.name for part in proportion.parts] == ["sum"]
    assert worst_loss(proportion, unit, rows) == 1


@pytest.mark.parametrize("steps", [2, 3, 5, 7])
def test_odd_and_even_grids_keep_their_claim(steps: int) -> None:
    """Grids with an odd number of steps are centred on half steps; their joint loss is still the claim."""
    unit = PrivacyUnit("change-one", rows=5)
    where = schema(unit, steps=steps)
    rows = [row for row in rows_of(2 * steps if steps % 2 else steps, missing=True) if row[2] == 0]
    for name in ("mean", "variance", "sum"):
        found = priced(_question(name), where)
        assert worst_loss(found, unit, rows) <= 1


def test_a_sum_that_no_row_changes_is_refused() -> None:
    """A sum to which no row adds anything is a public constant: it gets no noise, for there is no scale for it."""
    with pytest.raises(PlanError, match=r"sum of .* is the same whatever the data are"):
        priced(Question("tiny", "sum", BinOp("*", X, Const(0)), OLD), schema(UNITS["change one row"]))
