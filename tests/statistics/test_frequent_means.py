"""Means and sums in the charge of frequent values: what they cost, and intervals that cover although the count was chosen by its noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb.errors import PlanError, Unavailable
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.simulated_release import release_part
from dpnb.planner.expression import BinOp, Compare, Const
from dpnb.trusted.aggregate.reference import LabelTally
from dpnb.trusted.mechanisms import ThresholdedSums
from tests.contracts.questions import UNITS, G, X, Y, asked, released, schema

TABLE: dict[str, list[Any]] = {
    "x": [7.0] * 200 + [31.0] * 150 + [99.0, 98.0],
    "y": [2.0] * 100 + [8.0] * 100 + [1.0] * 150 + [5.0, 5.0],
    "b": [1] * 352,
    "g": ["w"] * 200 + ["u"] * 152,
}


def item(sample: dict[str, Any], unit: str = "add-remove", epsilon: int = 2) -> Any:
    """A priced question."""
    return asked(sample, "frequent_values", schema(UNITS[unit], "approx"), "approx", epsilon)


def test_counts_sums_and_means_are_read_from_one_release() -> None:
    """Each for the values shown alone, at no price of their own."""
    one = item({"target": X, "other": Y}, epsilon=20)
    found = released(one, TABLE, schema(UNITS["add-remove"], "approx"), SeededBits(1))
    assert found.keys == (7, 31)
    assert found.value == pytest.approx([200, 150], abs=5)
    assert found.means().value == pytest.approx([5, 1], abs=0.3)
    assert found.sums().value == pytest.approx([1000, 150], abs=60)
    assert found.means().keys == found.sums().keys == (7, 31)
    assert found.means().text.endswith("frequent_values(small.y).means()") or found.means().text.endswith(
        ".means()"
    )
    with pytest.raises(Unavailable):
        found.sums().interval(0.95, "confidence")


def test_several_numbers_share_one_charge() -> None:
    """Each by its name; together they cost what was asked, and a fifth number, a repeated one or a missing name are refused."""
    unit = schema(UNITS["add-remove"], "approx")
    one = item({"target": G, "other": X, "others": (Y, Compare(">", X, Const(50)))}, epsilon=40)
    assert one.text == 'small.g.frequent_values("x", "y", small.x > 50)'
    assert one.events[0].amount == 40
    assert len(one.parts[0].mechanism.sums) == 5
    found = released(one, TABLE, unit, SeededBits(1))
    assert found.keys == ("u", "w")
    assert found.means("x").value == pytest.approx([(150 * 31 + 197) / 152, 7], abs=2)
    assert found.means("y").value == pytest.approx([160 / 152, 5], abs=0.6)
    assert found.sums("y").value == pytest.approx([160, 1000], abs=100)
    assert found.means("small.x > 50").value == pytest.approx([2 / 152, 0], abs=0.05)
    assert found.means("y").text.endswith('.means("y")')
    with pytest.raises(PlanError, match=r'Say of which number: \.means\("x"\) or \.means\("y"\)'):
        found.means()
    with pytest.raises(PlanError, match=r"Say of which number"):
        found.sums("g")
    with pytest.raises(PlanError, match="names a column twice"):
        item({"target": G, "other": X, "others": (X,)})
    with pytest.raises(PlanError, match="at most 4 numbers"):
        item({"target": G, "other": X, "others": tuple(BinOp("+", X, Const(n)) for n in range(1, 5))})


@pytest.mark.parametrize(
    ("unit", "factor", "rows"), [("add-remove", 1, 1), ("change-one", 2, 1), ("units of three rows", 1, 3)]
)
def test_the_price_is_that_of_counts_and_sums(unit: str, factor: int, rows: int) -> None:
    """ε = k(1/b_n + (R/2)/b_S + top/b_Q), twice that where people change, and never above what was asked; δ of the counts."""
    one = item({"target": X, "other": Y, "options": (("delta", "1e-6"),)}, unit)
    mechanism = one.parts[0].mechanism
    assert isinstance(mechanism, ThresholdedSums)
    tops = (5, 25)[: len(mechanism.sums)]
    exact = (
        factor
        * rows
        * sum((top / b for top, b in zip(tops, mechanism.sums, strict=True)), 1 / mechanism.scale)
    )
    (event,) = one.events
    assert event.amount == exact == 2
    assert Fraction(1, 4 * 10**6) < event.delta <= Fraction(1, 10**6)
    assert len(mechanism.sums) == (
        1 if rows > 1 else 2
    )  # people with several rows have no interval of sampling


def test_a_condition_needs_no_squares_and_dates_no_sums() -> None:
    """The spread of a share follows from it."""
    mechanism = item({"target": G, "other": Compare(">", X, Const(50))}).parts[0].mechanism
    assert len(mechanism.sums) == 1
    with pytest.raises(PlanError, match="vary"):
        item({"target": G, "other": Const(3)})


def simulated(mechanism: ThresholdedSums, rows: np.ndarray, rng: np.random.Generator) -> tuple[int, ...]:
    """One release of a single label whose rows have these centred codes."""
    code = rows - 5
    exact = LabelTally(((7,),), (len(rows),), ((int(code.sum()),), (int((code**2).sum()),)))
    return release_part(mechanism, exact, rng)


@pytest.mark.parametrize("n", [30, 45, 60, 200])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_given_that_the_value_was_shown(n: int, level: float) -> None:
    """Of releases in which the value is shown, means and sums are inside at least as often as stated: near the threshold, too."""
    from dpnb.statistics.frequent_means import ShownSum, shown_means

    one = item({"target": X, "other": Y})
    mechanism, setting, rng = one.parts[0].mechanism, one.checked.setting, np.random.default_rng(n)
    held = {"mean": 0, "sum": 0, "population": 0}
    shown = 0
    for _ in range(4_000):
        rows = rng.choice([1, 4, 9], n, p=[0.5, 0.3, 0.2])
        found = simulated(mechanism, rows, rng)
        if not found:
            continue
        shown += 1
        (mean,) = shown_means(setting, [found[1:]], mechanism)
        for name, cell, truth, kind in (
            ("mean", mean, rows.mean(), "privacy"),
            ("sum", ShownSum(mean), rows.sum(), "privacy"),
            ("population", mean, 3.5, "confidence"),
        ):
            low, high = getattr(cell, kind)(level)
            held[name] += low - 1e-9 <= truth <= high + 1e-9
        if shown >= 400:
            break
    assert shown >= 100
    slack = 4 * (level * (1 - level) / shown) ** 0.5
    assert all(count / shown >= level - slack for count in held.values()), (held, shown)
