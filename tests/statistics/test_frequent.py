"""Frequent values: what they cost and whom, intervals that cover although a count is shown because it was large, and edges."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb.errors import LossError, OptionError, PlanError, Unavailable
from dpnb.estimate import to_json
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import BinOp, Const
from dpnb.statistics.frequent_means import conditional_limits
from dpnb.trusted.mechanisms import Thresholding
from dpnb.trusted.privacy.conversion import pure_rho
from dpnb.trusted.privacy.loss import bounded_above
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.questions import TABLES, UNITS, B, G, X, asked, released, schema
from tests.statistics.test_coverage import enough

TABLE = {
    "x": [7.0] * 60 + [31.0] * 45 + [99.0, 98.0, 97.0],
    "y": [1.0] * 108,
    "b": [1] * 108,
    "g": ["w"] * 60 + ["u"] * 48,
}


def answered(
    sample: dict[str, Any], table: dict[str, list[Any]] = TABLE, unit: str = "add-remove", seed: int = 1
) -> Any:
    """A released answer at ε = 1."""
    where = schema(UNITS[unit], "approx")
    item = asked(sample, "frequent_values", where, "approx", 1)
    return item, released(item, table, where, SeededBits(seed))


def test_values_that_many_rows_have_are_shown_and_rare_ones_are_not() -> None:
    """Numbers are shown as numbers, labels by name, in their own order; the shape is known after the release."""
    item, found = answered({"target": X})
    assert item.checked.shape is None
    assert found.keys == (7, 31)
    assert found.shape == (2,)
    assert abs(found[7].value - 60) < 20
    _, labels = answered({"target": G})
    assert labels.keys == ("u", "w")
    _, derived = answered({"target": BinOp("/", X, Const(2))})
    assert derived.keys == (3.5, 15.5)


@pytest.mark.parametrize(
    ("unit", "factor", "rows"), [("add-remove", 1, 1), ("change-one", 2, 1), ("units of three rows", 1, 3)]
)
def test_the_ledger_is_charged_epsilon_and_delta(unit: str, factor: int, rows: int) -> None:
    """The event is approximate, with the ε of all moves and the δ of the threshold, at most that asked; in the ledger (ε·tanh(ε/2), δ)."""
    item, _ = answered({"target": X, "options": (("delta", "1e-6"),)}, unit=unit)
    (event,) = item.events
    mechanism = item.parts[0].mechanism
    assert (event.kind, event.amount, event.delta) == ("approximate", 1, bounded_above(mechanism.delta))
    assert (item.loss.measure, item.loss.amount, item.loss.delta) == (
        Measure.APPROX_ZCDP,
        pure_rho(Fraction(1)),
        event.delta,
    )
    assert mechanism.scale == factor * rows
    assert Fraction(1, 3 * 10**6) < event.delta <= Fraction(1, 10**6)


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_budgets_without_delta_refuse_it_and_say_what_to_write(kind: str) -> None:
    """A pure and a ρ ledger have no room for δ; the error names the [budget] lines."""
    with pytest.raises(LossError, match=r"\[budget\] epsilon and delta"):
        asked({"target": X}, "frequent_values", schema(UNITS["add-remove"], kind), kind, 1)


def test_a_share_of_rho_buys_the_epsilon_that_it_pays() -> None:
    """Asked in ρ, the noise is that of an ε whose ε·tanh(ε/2) is the share, rounded down."""
    where = schema(UNITS["add-remove"], "approx")
    batch = asked({"target": X}, "frequent_values", where, "rho", "0.02")
    assert Fraction(199, 10_000) < batch.loss.amount <= Fraction(2, 100)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("count", [1, 15, 25, 30, 40, 80])
def test_intervals_cover_given_that_the_count_was_shown(count: int, alpha: float) -> None:
    """Exactly, by the law: of the noised counts that pass, the interval holds the exact count at least as often as stated."""
    law, threshold = DiscreteLaplaceLaw(Fraction(3)), 30
    seen = np.arange(threshold, threshold + 150)
    weights = law.pmf(seen - count)
    inside = [
        low <= count <= high
        for low, high in (conditional_limits(law, threshold, int(v), alpha) for v in seen)
    ]
    assert float(weights[inside].sum() / weights.sum()) >= 1 - alpha - 1e-9


def test_ordinary_intervals_would_not_cover_here() -> None:
    """Value ± radius misses a count below the threshold whenever it is shown: the reason for the conditional law."""
    law, threshold, count = DiscreteLaplaceLaw(Fraction(3)), 30, 15
    assert threshold - law.tail_radius(0.05) > count
    low, high = conditional_limits(law, threshold, threshold, 0.05)
    assert (low, high >= threshold) == (1, True)


def test_far_above_the_threshold_the_interval_is_the_noise() -> None:
    """A count that is shown in any case has the exact radius of its noise."""
    law = DiscreteLaplaceLaw(Fraction(3))
    low, high = conditional_limits(law, 30, 5000, 0.05)
    assert high - 5000 == 5000 - low == law.tail_radius(0.05)


def test_simulated_releases_cover() -> None:
    """Through the whole path, the counts that are shown are inside their intervals."""
    held = total = 0
    for seed in range(150):
        _, found = answered({"target": X}, seed=seed)
        low, high = found.interval(0.9, "privacy")
        for place, key in enumerate(found.keys):
            total += 1
            held += int(low[place] <= TABLE["x"].count(key) <= high[place])
    assert total > 250
    assert enough(held, total, 0.9)


@pytest.mark.parametrize("table", TABLES)
def test_what_is_shown_reads_in_every_form(table: str) -> None:
    """Nothing shown, or something: table, JSON, card and text are written, and the confidence interval says why not."""
    _, found = answered({"target": X}, TABLES[table])
    assert found.shape == (0,)
    assert len(found.table()) == 0
    json.dumps(found.to_dict(), allow_nan=False, default=to_json)
    with pytest.raises(Unavailable, match="describes this dataset"):
        found.interval(0.95, "confidence")
    _, some = answered({"target": X})
    assert [row["x"] for row in some.table()] == [7, 31]
    with pytest.raises(Unavailable, match="passed a threshold"):
        (some[7] - some[31]).interval(0.95, "privacy")


def test_bad_questions_are_refused_before_any_charge() -> None:
    """δ outside its range, a δ that is no number, groups and conditions name the fix."""
    where = schema(UNITS["add-remove"], "approx")
    for delta in (0, 1, "x", True, "1e-20", math.inf):
        with pytest.raises((OptionError, LossError, PlanError), match=r"delta|number|finite"):
            asked({"target": X, "options": (("delta", delta),)}, "frequent_values", where, "approx", 1)
    with pytest.raises(PlanError, match="by groups"):
        asked({"target": X, "by": (G,)}, "frequent_values", where, "approx", 1)
    with pytest.raises(PlanError, match="needs a column"):
        asked({}, "frequent_values", where, "approx", 1)


def test_the_accuracy_says_what_will_be_shown() -> None:
    """Before anything is spent: from which count on values are shown, and the noise on each."""
    item, _ = answered({"target": X})
    mechanism = item.parts[0].mechanism
    assert isinstance(mechanism, Thresholding)
    sure = mechanism.threshold + int(DiscreteLaplaceLaw(mechanism.scale).quantile(0.95))
    assert item.preview.words.startswith(f"values of {sure:,} rows or more are shown")
    assert float(DiscreteLaplaceLaw(mechanism.scale).sf(mechanism.threshold - 1 - sure)) >= 0.95


def test_the_best_of_several_releases_is_shown() -> None:
    """Lists of shown values cannot be averaged: the answer that was paid most for counts."""
    item, found = answered({"target": X})
    _, other = answered({"target": B})
    more = asked({"target": X}, "frequent_values", schema(UNITS["add-remove"], "approx"), "approx", 3)
    again = released(more, TABLE, schema(UNITS["add-remove"], "approx"), SeededBits(4))
    both = item.checked.kind.conclude(item.checked.setting, [*found.releases, *again.releases])
    assert both.value.tolist() == again.value.tolist()
    assert other.keys in {(1,), ()}


def test_a_person_of_many_rows_cannot_show_a_value_alone() -> None:
    """With up to twenty rows a person the threshold is above what one person holds, however high ε is."""
    unit = PrivacyUnit("add-remove", unit="who", max_rows=20)
    item = asked({"target": X}, "frequent_values", schema(unit, "approx"), "approx", 30)
    assert item.parts[0].mechanism.threshold > 20
