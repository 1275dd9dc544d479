"""Weighted means and totals: sensitivity by brute force, coverage by simulation, who may be a weight, and what a noise ten per cent off shows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpnb import simulate
from dpnb.datasets import load
from dpnb.errors import OwnerError, PlanError, SchemaError
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.check import check
from dpnb.planner.expression import BinOp, Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts import questions as contract
from tests.contracts.statistic import priced, worst_loss
from tests.statistics.coverage import wider
from tests.statistics.test_coverage import enough
from tests.statistics.test_sensitivity import UNITS

X, B, G = Ref("x"), Ref("b"), Ref("g")
ROWS = [
    (x, b, g) for x in (0, 2, 3, 6, None) for b in (0, 1, 4, None) for g in (0, 1) if g == 0 or x in (0, 6)
]
FEW = [(0, 4, 0), (6, 4, 0), (6, 4, 1), (0, 1, 0), (3, 4, 0), (None, 4, 0)]
ASKED: dict[str, dict[str, Any]] = {
    "plain": {},
    "share": {"target": Compare(">", X, Const(12))},
    "filtered": {"where": Compare(">", X, Const(11))},
    "by group": {"by": (G,)},
    "no interval": {"options": (("ci", False),)},
}


def tiny(unit: PrivacyUnit, measure: str = "epsilon", least: int = 0) -> Schema:
    """An integer, a weight on five points, and a group."""
    weight = Column.number("b", Fraction(least, 2), Fraction(least, 2) + 2, step="0.5")
    columns = (
        Column.integer("x", 10, 16),
        weight.weighing(True),
        Column.category("g", ["u", "v"], missing="u"),
    )
    return Schema("tiny", "Tiny", columns, unit, Budget.from_toml({measure: 1000}))


def question(statistic: str = "weighted_mean", **more: Any) -> Question:
    """A weighted mean or total of x."""
    return Question("tiny", statistic, **{"target": X, "other": B, **more})


NAMES = ("weighted_mean", "weighted_sum")


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", NAMES)
def test_no_neighbour_costs_more_than_is_charged(name: str, asked: str, unit: str, kind: str) -> None:
    """Over every pair of tiny neighbours, both adjacencies, weights that start at 0 and above it."""
    neighbours = UNITS[unit]
    for least in (0, 3):
        found = priced(question(name, **ASKED[asked]), tiny(neighbours, kind, least), kind=kind)
        worst = worst_loss(found, neighbours, ROWS if neighbours.max_rows == 1 else FEW)
        assert worst <= found.loss.amount <= 1


PARTS = {
    "weighted_mean": ["sum", "square", "cross", "weight square", "weight"],
    "weighted_sum": ["sum", "square"],
}


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("name", NAMES)
def test_one_more_person_reaches_what_is_charged(name: str, kind: str) -> None:
    """Under add-remove the heaviest row at a bound moves every part by its most: nine tenths of the noise would exceed the charge."""
    unit = UNITS["add or remove one row"]
    found = priced(question(name), tiny(unit, kind), kind=kind)
    assert worst_loss(found, unit, ROWS) == found.loss.amount == 1
    assert [part.name for part in found.parts] == PARTS[name]


@pytest.mark.parametrize("least", [0, 3])
def test_the_weights_are_free_where_a_person_changes(least: int) -> None:
    """W·R/ε and 2W/ε cost ε together, in ρ W²R²/2ρ and, of weights from 0 on, 2W²/3ρ; a tenth less noise would exceed the charge."""
    unit, asked = UNITS["change one row"], question(options=(("ci", False),))
    found = priced(asked, tiny(unit, "epsilon", least))
    total, weight = (part.mechanism for part in found.parts)
    top, reach = least + 4, 6  # six steps are the range of x
    assert (total.scale, weight.scale) == (top * reach, 2 * top)
    assert worst_loss(found, unit, ROWS) == found.loss.amount == 1
    squared = priced(asked, tiny(unit, "rho", least), kind="rho")
    total, weight = (part.mechanism for part in squared.parts)
    assert total.variance == Fraction(top**2 * reach**2, 2)
    if least == 0:
        assert weight.variance == Fraction(2 * top**2, 3)
    assert worst_loss(squared, unit, ROWS) <= squared.loss.amount == 1


@pytest.mark.parametrize("name", NAMES)
def test_wide_grids_give_a_loss_that_is_never_exceeded(name: str) -> None:
    """Numbers and weights of 2²⁰ steps: products are exact, squares are on grids of their own, and no noise is too wide to ask for."""
    columns = (Column.number("x", 0, 1), Column.number("b", 0, 50).weighing(True))
    where = Schema("tiny", "Tiny", columns, PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1000}))
    found = priced(question(name), where, amount=Fraction(1, 10))
    top = columns[0].steps
    rows = [(x, b, 0) for x in (0, 1, top // 3, top - 1, top) for b in (0, 7, top // 2, top)]
    assert worst_loss(found, PrivacyUnit("add-remove"), rows) == found.loss.amount == Fraction(1, 10)


# intervals ------------------------------------------------------------------------------------------------------

COLUMNS = [
    Column.integer("x", 0, 100),
    Column.number("w", 0, 5, step="0.01").weighing(True),
]


def survey(rng: np.random.Generator, shape: Any) -> dict[str, np.ndarray]:
    """A group that was drawn four times too seldom earns more: weights go with what is asked."""
    rare = rng.random(shape) < 0.3
    x = np.round(np.clip(rng.normal(np.where(rare, 55, 30), 12, shape), 0, 100))
    return {"x": x, "w": np.round(np.where(rare, 4.0, 1.0) * rng.uniform(0.8, 1.2, shape), 2)}


@cache
def parameter(name: str, n: int) -> float:
    """The weighted mean of two million such people; or the total that n of them stand for."""
    drawn = survey(np.random.default_rng(7), 2_000_000)
    product = drawn["w"] * drawn["x"]
    return float(product.sum() / drawn["w"].sum() if name == "weighted_mean" else n * product.mean())


def covered(
    name: str, n: int, loss: dict[str, Any], adjacency: str, reps: int = 400
) -> simulate.CoverageResult:
    """Simulate surveys of n people."""
    asked = {"column": "x", "other": "w", "columns": COLUMNS, "adjacency": adjacency}
    return simulate.coverage(name, survey, n, loss, reps=reps, rng=1, parameter=parameter(name, n), **asked)


@pytest.mark.parametrize("adjacency", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("n", "loss"), [(30, {"epsilon": 5}), (300, {"epsilon": 1}), (2000, {"rho": "0.05"})]
)
@pytest.mark.parametrize("name", NAMES)
def test_both_intervals_cover(name: str, n: int, loss: dict[str, Any], adjacency: str) -> None:
    """At 95 % neither interval misses more often than a binomial law allows."""
    found = covered(name, n, loss, adjacency)
    for kind in ("privacy", "confidence"):
        assert enough(int(found.held(kind).held[0, 0]), 400), (kind, found)


@pytest.mark.parametrize("name", NAMES)
def test_wider_noise_than_declared_is_noticed(name: str) -> None:
    """With noise 1.6 times as wide as declared the privacy intervals miss too often: the check has power."""
    with wider(1.6):
        found = covered(name, 300, {"epsilon": 1}, "add-remove")
    assert not enough(int(found.held("privacy").held[0, 0]), 400)


# declarations ---------------------------------------------------------------------------------------------------


def declared(**weight: Any) -> dict[str, Any]:
    """A survey's declaration."""
    return {
        "dataset": {"name": "tiny", "adjacency": "add-remove"},
        "budget": {"epsilon": 1},
        "columns": {
            "x": {"type": "integer", "lower": 10, "upper": 16},
            "b": {"type": "number", "lower": 0, "upper": 2, "step": "0.5", **weight},
        },
    }


def test_a_declared_weight_survives_its_record_and_others_have_none() -> None:
    """The declaration is a term like any other; a column without it has the record that it always had."""
    schema, plain = load(declared(weights_fixed=True)).schema, load(declared()).schema
    assert Schema.from_json(schema.to_json()) == schema
    assert schema["b"].weights_fixed
    assert not plain["b"].weights_fixed
    assert "weights_fixed" not in plain["b"].to_json()
    assert schema.version != plain.version


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"weights_fixed": "yes"}, "weights_fixed is true or false"),
        ({"weights_fixed": True, "lower": -1}, "write lower = 0"),
        ({"weights_fixed": True, "type": "category", "values": [0, 1]}, "weights_fixed does not go with"),
    ],
)
def test_what_a_weight_cannot_be_is_refused(facts: dict[str, Any], words: str) -> None:
    """An answer that is neither true nor false, a weight below zero, and a column without numbers."""
    asked = declared(**facts)
    if "values" in facts:
        for word in ("lower", "upper", "step"):
            del asked["columns"]["b"][word]
    with pytest.raises((OwnerError, SchemaError), match=words):
        load(asked)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"other": X}, r"weights_fixed = true under \[columns\.x\]"),
        ({"other": BinOp("*", B, Const(2))}, "A weight is a declared column"),
        ({"other": None}, "second column"),
    ],
)
def test_a_question_with_another_weight_names_the_line_to_write(more: dict[str, Any], words: str) -> None:
    """Nobody has said that these do not depend on other people's rows."""
    with pytest.raises(PlanError, match=words):
        check(question(**more), tiny(PrivacyUnit("add-remove")))


@pytest.mark.parametrize("unit", ["change-one", "add-remove"])
def test_the_answer_is_numpys_average_where_there_is_next_to_no_noise(unit: str) -> None:
    """A mean and a share, and a mean by groups; a row without a weight leaves, one beyond the bounds is held to them."""
    where = replace(contract.schema(contract.UNITS[unit]), budget=Budget.from_toml({"epsilon": 10**7}))
    table: dict[str, list[Any]] = {
        "x": [10.0, 40.0, 90.0, 20.0, 70.0, 55.0],
        "y": [1.0, 3.0, 99.0, 2.0, np.nan, 0.0],
        "b": [1] * 6,
        "g": ["u", "u", "u", "v", "v", "v"],
    }
    x, weights, g = np.array(table["x"]), np.array([1, 3, 10, 2, 0, 0]), np.array(table["g"])
    wanted = {
        ("weighted_mean", X, ()): np.average(x, weights=weights),
        ("weighted_mean", Compare(">", X, Const(30)), ()): np.average(x > 30, weights=weights),
        ("weighted_mean", X, (G,)): [np.average(x[g == one], weights=weights[g == one]) for one in "uv"],
        ("weighted_sum", X, ()): (x * weights).sum(),
        ("weighted_sum", X, (G,)): [(x * weights)[g == one].sum() for one in "uv"],
    }
    for (name, target, by), average in wanted.items():
        item = contract.asked({"target": target, "other": Ref("y"), "by": by}, name, where, "epsilon", 10**6)
        found = contract.released(item, table, where, SeededBits(1))
        shown = [np.ravel(one)[: np.size(average)] for one in (found.value, *found.interval(kind="privacy"))]
        np.testing.assert_allclose(shown[0], average, atol=0.01)
        assert np.all(shown[1] <= np.add(average, 0.01))
        assert np.all(shown[2] >= np.subtract(average, 0.01))
