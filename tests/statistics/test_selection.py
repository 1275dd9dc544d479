"""The most frequent declared values: exact loss over neighbouring tables, what is shown, and what a ledger is charged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpnb.datasets.preparation import prepare
from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference.selection_law import probabilities
from dpnb.planner.expression import Bin, Const, Ref
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.statistic import priced, totals, units_of
from tests.statistics.coverage import release
from tests.statistics.test_sensitivity import UNITS

X, B, G = Ref("x"), Ref("b"), Ref("g")
ASKED: dict[str, dict[str, Any]] = {
    "mode": {"statistic": "mode", "target": G},
    "mode by group": {"statistic": "mode", "target": G, "by": (B,)},
    "mode of bins": {"statistic": "mode", "target": Bin(X, (Const(10), Const(12), Const(14)))},
    "top two": {"statistic": "top_k", "target": G, "options": (("k", 2),)},
}


def tiny(unit: PrivacyUnit, measure: str = "epsilon") -> Schema:
    """A small integer, a number with two values, and three labels."""
    columns = (
        Column.integer("x", 10, 14),
        Column.category("b", [0, 1]),
        Column.category("g", ["u", "v", "w"]),
    )
    return Schema("tiny", "Tiny", columns, unit, Budget.from_toml({measure: 1000}))


def asked(name: str) -> Question:
    return Question("tiny", **ASKED[name])


@cache
def log_laws(mechanism: PermuteAndFlip, counts: tuple[int, ...]) -> list[dict[tuple[int, ...], float]]:
    """The log-law of the ordered picks of every cell."""
    laws = []
    for start in range(0, len(counts), mechanism.size):
        cell, law = counts[start : start + mechanism.size], {}
        for order in itertools.permutations(range(mechanism.size), mechanism.picks):
            left, total = list(range(mechanism.size)), 0.0
            for index in order:
                total += math.log(probabilities(mechanism, cell, left)[index])
                left.remove(index)
            law[order] = total
        laws.append(law)
    return laws


def loss_between(mechanism: PermuteAndFlip, one: tuple[int, ...], two: tuple[int, ...]) -> float:
    """The exact log-ratio between two tables of counts: cells add."""
    first, second = log_laws(mechanism, one), log_laws(mechanism, two)
    return sum(max(abs(a[order] - b[order]) for order in a) for a, b in zip(first, second, strict=True))


ROWS = [(x, b, g) for x in (0, 4) for b in (0, 1) for g in (0, 1, 2, None)]
BASES = [(), ((0, 0, 0),) * 3, ((0, 0, 0), (0, 0, 1), (4, 1, 1))]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ASKED)
def test_no_neighbour_costs_more_than_the_claim(name: str, unit: str) -> None:
    """Over neighbours of several tables the log-ratio of the whole law is at most the recorded loss, and not far from it."""
    neighbours, losses = UNITS[unit], []
    item = priced(asked(name), tiny(neighbours), amount=8)
    held = list(units_of(ROWS if neighbours.max_rows == 1 else ROWS[:4] + ROWS[12:], neighbours.max_rows))
    if neighbours.adjacency == "add-remove":
        pairs = [((), one) for one in held]
    else:
        pairs = list(itertools.combinations([one for one in held if one or neighbours.unit != "row"], 2))
    for base in BASES:
        counts = {one: totals(item, base + one)[0] for one in {(), *held}}
        seen = {(counts[one], counts[two]) for one, two in pairs}
        losses += [loss_between(item.parts[0].mechanism, *both) for both in seen]
    assert max(losses) <= float(item.loss.amount) + 1e-9
    assert item.loss.amount == 8
    assert max(losses) > 0.5 * 8


def test_a_rho_ledger_is_charged_as_for_any_pure_mechanism() -> None:
    """Permute-and-flip is not of bounded range: ε·tanh(ε/2) for each pick, never ε²/8."""
    where = tiny(PrivacyUnit("add-remove"), "rho")
    assert priced(asked("mode"), where, amount=1).loss.amount == pure_rho(Fraction(1))
    assert priced(asked("top two"), where, amount=1).loss.amount == 2 * pure_rho(Fraction(1, 2))
    for name in ("mode", "top two"):
        spent = priced(asked(name), where, kind="rho", amount=Fraction(1, 50)).loss.amount
        assert Fraction(1, 50) * Fraction(999, 1000) < spent <= Fraction(1, 50)


def concluded(question: Question, raw: dict[str, list[Any]], amount: Any = 900, seed: int = 1) -> Any:
    where = tiny(PrivacyUnit("add-remove"))
    item = priced(question, where, amount=amount)
    arrays = {k: np.array(v, dtype=object if k == "g" else float) for k, v in raw.items()}
    return item, conclude(item.checked, [release(item, prepare(arrays, where), np.random.default_rng(seed))])


TABLE = {
    "x": [10, 11, 11, 13, 13, 13, 14],
    "b": [0, 0, 0, 0, 1, 1, 1],
    "g": ["w", "w", "u", "w", "v", "v", "u"],
}


def test_numbers_are_shown_as_numbers_and_labels_by_their_place() -> None:
    """The most frequent integer is itself; a label is its place in the declaration, its name beside it."""
    _, number = concluded(Question("tiny", "mode", X), TABLE)
    assert (number.value, number.labels, number.shape, number.domain) == (13.0, (13,), (), (10.0, 14.0))
    _, label = concluded(asked("mode"), TABLE)
    assert (label.value, label.labels, label.domain) == (2.0, ("w",), (0.0, 2.0))
    _, bins = concluded(asked("mode of bins"), TABLE)
    assert (bins.value, bins.labels) == (1.0, ("[12, 14]",))


def test_several_are_ranked_and_groups_have_their_own() -> None:
    """top_k lists values best first along an axis of ranks; a mode by group has the group's axis alone."""
    item, ranked = concluded(Question("tiny", "top_k", X, options=(("k", 2),)), TABLE)
    assert ranked.value.tolist() == [13, 11]
    assert [axis.keys for axis in item.checked.axes] == [(1, 2)]
    assert item.checked.text == "tiny.x.top_k(2)"
    item, groups = concluded(Question("tiny", "mode", G, by=(B,)), TABLE)
    assert groups.labels == ("w", "v")
    assert [axis.name for axis in item.checked.axes] == ["b"]
    item, both = concluded(Question("tiny", "top_k", X, by=(B,), options=(("k", 2),)), TABLE)
    assert both.value.shape == (2, 2)
    assert both.value[:, 0].tolist() == [11, 13]


def test_a_choice_has_no_interval_and_says_why() -> None:
    """Both intervals and draws name the way to counts with intervals."""
    item, found = concluded(asked("mode"), TABLE)
    for kind in ("privacy", "confidence"):
        with pytest.raises(Unavailable, match="value_counts"):
            found.interval(0.95, kind)
    with pytest.raises(Unavailable, match="picks a value"):
        found.draws(10, np.random.default_rng(1), "privacy")
    assert found.standard_error is None
    assert item.preview.words.startswith("count within")


def test_what_cannot_be_chosen_is_refused() -> None:
    """A number without a short list of values, and a k outside it, are refused by name."""
    where = tiny(PrivacyUnit("add-remove"))
    for k in (0, 6, True, "2", Fraction(1, 2)):
        with pytest.raises(OptionError, match="k="):
            priced(Question("tiny", "top_k", X, options=(("k", k),)), where)
    fine = Schema(
        "tiny", "T", (Column.number("x", 0, 1),), PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1})
    )
    with pytest.raises(PlanError, match="bins"):
        priced(Question("tiny", "mode", X), fine)
