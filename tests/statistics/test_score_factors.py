"""The factor of every selection is what brute force finds that one unit moves its scores by, and its event is what it spends."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from dpnb.planner.expression import Ref
from dpnb.planner.question import Question
from dpnb.trusted.mechanisms import LocatedSums, QuantileSelection
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, schema
from tests.mechanisms.test_exponential import score
from tests.statistics.test_sensitivity import UNITS

STEPS = 2
ASKED: dict[str, dict[str, Any]] = {
    "median": {"statistic": "quantile"},
    "levels with limits": {
        "statistic": "quantile",
        "options": (("ci", True), ("q", (Fraction(1, 4), Fraction(9, 10)))),
    },
    "robust mean": {"statistic": "robust_mean"},
}


@cache
def moved(q: Fraction, unit: PrivacyUnit, cells: int) -> Fraction:
    """By how much one unit of at most max_rows rows moves the scores of all cells, over all tiny tables."""
    places = list(itertools.product(range(STEPS + 1), range(cells)))
    most = unit.max_rows
    units = [
        rows for size in range(most + 1) for rows in itertools.combinations_with_replacement(places, size)
    ]
    full = [rows for rows in units if len(rows) == 1] if unit.unit == "row" else units
    pairs = (
        [((), one) for one in units] if unit.adjacency == "add-remove" else itertools.combinations(full, 2)
    )
    bases = [(), ((0, 0),) * 3, ((STEPS, cells - 1),) * 3]
    return max(_between(base + one, base + two, q, cells) for one, two in pairs for base in bases)


def _between(one: Any, two: Any, q: Fraction, cells: int) -> Fraction:
    """The largest differences of the scores of two tables, added over their cells."""
    found = Fraction(0)
    for cell in range(cells):
        here, there = ([x for x, where in table if where == cell] for table in (one, two))
        found += max(
            abs(score(here, at, q, 0, STEPS) - score(there, at, q, 0, STEPS)) for at in range(STEPS + 1)
        )
    return found


def selections(item: Any) -> list[QuantileSelection]:
    """Every selection of a priced question."""
    found: list[QuantileSelection] = []
    for part in item.parts:
        mechanism = part.mechanism
        found += [mechanism.middle, mechanism.radius] if isinstance(mechanism, LocatedSums) else [mechanism]
    return found


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ASKED)
def test_a_factor_is_what_one_unit_moves_scores_by(
    name: str, unit: str, grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither less, which would break the promise, nor more, which would waste it; nine tenths of either is seen."""
    monkeypatch.setattr(
        "dpnb.statistics.quantile.by_tree", lambda _: False
    )  # on so few steps a tree would be narrower
    who = UNITS[unit]
    asked = Question("tiny", target=Ref("x"), by=(Ref("g"),) if grouped else (), **ASKED[name])
    item = priced(asked, schema(who), amount=4)
    found = selections(item)
    for one in found:
        assert one.factor == moved(one.q, who, 2 if grouped else 1), one
    paid = [event.amount for event in item.events if event.kind in {"pure", "exponential"}]
    assert paid == [one.epsilon for one in found]
    assert sum((event.amount for event in item.events), Fraction(0)) <= 4
