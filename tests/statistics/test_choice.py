"""A choice among labelled totals: exact loss over neighbouring tables, what it shows, and what it refuses."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities
from dpnb.planner.expression import BinOp, ClipTo, Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.questions import TABLES, asked, released
from tests.contracts.questions import schema as small
from tests.contracts.statistic import priced, rows_of, schema, totals, units_of
from tests.statistics.test_sensitivity import UNITS

X, B, G = Ref("x"), Ref("b"), Ref("g")
LOW, HIGH = Compare("<", X, Const(12)), Compare(">", X, Const(12))
ASKED: dict[str, dict[str, Any]] = {
    "conditions": {"target": LOW, "others": (HIGH, Compare("==", B, Const(1)))},
    "numbers": {"target": BinOp("-", X, Const(12)), "others": (BinOp("-", Const(11), X),)},
    "mixed, filtered": {"target": X, "others": (LOW,), "where": Compare("==", B, Const(1))},
    "complementary": {"target": LOW, "others": (Compare(">=", X, Const(12)),)},
}


def question(name: str) -> Question:
    return Question("tiny", "choose", **ASKED[name])


@cache
def log_law(mechanism: PermuteAndFlip, scores: tuple[int, ...]) -> np.ndarray:
    return np.log(probabilities(mechanism, scores))


def worst(name: str, unit: str, missing_b: Any = "drop") -> tuple[float, Any]:
    """The largest log-ratio over neighbours of several tables, and the priced question."""
    who, found = UNITS[unit], [0.0]
    item = priced(question(name), schema(who, missing_b=missing_b), amount=4)
    mechanism = item.parts[0].mechanism
    rows = [row for row in rows_of(4, missing=True, groups=False) if row[0] in (0, 1, 4, None)]
    held = list(units_of(rows, who.max_rows))
    if who.adjacency == "add-remove":
        pairs = [((), one) for one in held]
    else:
        pairs = list(itertools.combinations([one for one in held if who.unit != "row" or len(one) == 1], 2))
    for base in ((), ((0, 1, 0),) * 6, ((4, 1, 0),) * 12, ((0, 1, 0), (4, 0, 0), (4, 1, 0)) * 3):
        scores = {one: totals(item, base + one)[0] for one in {(), *held}}
        for one, two in {(scores[a], scores[b]) for a, b in pairs}:
            found.append(float(np.max(np.abs(log_law(mechanism, one) - log_law(mechanism, two)))))
    return max(found), item


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ASKED)
def test_no_neighbour_costs_more_than_the_claim(name: str, unit: str) -> None:
    """Over neighbours of several tables the log-ratio of the whole law is at most the recorded loss, and not far from it."""
    loss, item = worst(name, unit)
    assert item.loss.amount == 4
    assert 0.4 * 4 < loss <= 4 * (1 + 1e-12)


def test_conditions_cost_no_factor_two_where_rows_come_and_go() -> None:
    """Under add-remove all counts move one way: factor 1; under change-one two of them can part: factor 2."""
    for unit, factor in (("add or remove one row", 1), ("change one row", 2)):
        item = priced(question("conditions"), schema(UNITS[unit]))
        assert item.parts[0].mechanism.factor == factor
    assert priced(question("numbers"), schema(UNITS["change one row"])).parts[0].mechanism.factor == 8


def test_a_rho_ledger_is_charged_as_for_any_pure_mechanism() -> None:
    """Permute-and-flip is not of bounded range."""
    where = schema(PrivacyUnit("add-remove"), measure="rho")
    assert priced(question("conditions"), where, amount=1).loss.amount == pure_rho(Fraction(1))


SMALL = small(PrivacyUnit("add-remove"))
CASE = {
    "target": Compare(">", X, Const(50)),
    "others": (Compare("<", X, Const(20)), B),
    "options": (("labels", ("old", "young", "b")),),
}
TABLE = {
    "x": [10.0, 12.0, 15.0, 60.0, 70.0, 30.0],
    "y": [0.0] * 6,
    "b": [1, 0, 0, 0, 0, 0],
    "g": ["u"] * 6,
}


def test_the_choice_has_its_label_and_place() -> None:
    """With much loss it is the largest total; the answer is the place, the label is beside it."""
    item = asked(CASE, "choose", SMALL, "epsilon", 200)
    found = released(item, TABLE, SMALL, SeededBits(1))
    assert (found.value, found.labels, found.shape) == (1.0, "young", ())
    assert found.text == "small.choose({'old': small.x > 50, 'young': small.x < 20, 'b': small.b})"
    assert "within" in item.preview.words
    for kind in ("privacy", "confidence"):
        with pytest.raises(Unavailable, match="count"):
            found.interval(0.95, kind)


def test_numbers_of_different_grids_are_measured_in_one_unit() -> None:
    """Sums of x and of y/2 are compared as values, not as codes."""
    half = BinOp("/", Ref("y"), Const(2))
    sample = {"target": X, "others": (half,), "options": (("labels", ("x", "y")),)}
    item = asked(sample, "choose", SMALL, "epsilon", 2000)
    table = TABLE | {"x": [1.0] * 6, "y": [3.0] * 6}
    assert released(item, table, SMALL, SeededBits(1)).labels == "y"
    assert released(item, TABLE, SMALL, SeededBits(1)).labels == "x"


def test_one_unknown_candidate_leaves_the_row_out() -> None:
    """Rows in which a candidate is missing count for none of them."""
    item = asked(CASE, "choose", SMALL, "epsilon", 200)
    table = TABLE | {"b": [None, None, None, 0, 0, 0]}
    assert released(item, table, SMALL, SeededBits(1)).labels == "old"
    for empty in ("no rows", "all missing"):
        assert released(item, TABLES[empty], SMALL, SeededBits(1)).labels in {"old", "young", "b"}


def test_what_cannot_be_chosen_is_refused() -> None:
    """One candidate, labels that do not fit, constants, a candidate twice and groups are refused before the charge."""
    for labels in (("a", "b"), ("a", "a", "b"), (1, 2, 3), "abc"):
        with pytest.raises(OptionError, match="labels="):
            asked(CASE | {"options": (("labels", labels),)}, "choose", SMALL, "epsilon", 1)
    with pytest.raises(PlanError, match="two candidates"):
        asked({"target": X}, "choose", SMALL, "epsilon", 1)
    nought = ClipTo(X, Const(0), Const(0))
    with pytest.raises(PlanError, match="public"):
        asked({"target": nought, "others": (BinOp("*", nought, Const(2)),)}, "choose", SMALL, "epsilon", 1)
    with pytest.raises(PlanError, match="twice"):
        asked({"target": X, "others": (X,)}, "choose", SMALL, "epsilon", 1)
    with pytest.raises(PlanError, match="groups"):
        asked(CASE | {"by": (G,)}, "choose", SMALL, "epsilon", 1)
