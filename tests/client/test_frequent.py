"""Frequent values as they are typed and released: the (ε, δ) ledger, shapes that the release tells, names as other people's text."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

import dpnb
from dpnb.errors import BudgetError, LossError, OptionError, PlanError
from tests.curator import small


def many(value: float = 7.0) -> dict[str, np.ndarray]:
    """Forty rows, thirty of which have one value, and each of the others one of its own."""
    raw = small.rows()
    raw["x"] = np.array([value] * 30 + [float(one) for one in range(11) if one != value])
    return raw


@pytest.fixture
def approximate(session, dpnb_home):
    """The small dataset with an (ε, δ) budget."""
    return small.opened(session, dpnb_home, many(), epsilon=40, delta="1e-4")


def test_it_reads_as_typed_and_has_no_shape_before(approximate):
    """δ has one form however it is written; which values are shown is known after the release alone."""
    one, two = approximate.x.frequent_values(delta="1e-6"), approximate.x.frequent_values(delta=1e-6)
    assert one.text == "small.x.frequent_values(delta=1e-06)"
    assert one.measurement.question.canonical() == two.measurement.question.canonical()
    assert approximate.x.frequent_values().text == "small.x.frequent_values()"
    assert one.measurement.shape is None
    assert repr(one).startswith("<pending")
    assert "rows or more are shown" in repr(dpnb.plan({"f": one}, epsilon=2))


def test_a_release_pays_epsilon_and_delta_and_is_stored(session, approximate):
    """The charge is (ε·tanh(ε/2), δ); asked again with less it is free, shown again as it was; pickling keeps it."""
    asked = approximate.x.frequent_values(delta="3e-8")
    done = dpnb.release({"f": asked}, epsilon=4)
    assert round(done.charged.amount, 3) == Fraction("3.856")
    assert (
        Fraction(1, 10**9) < done.charged.delta <= Fraction(3, 10**8)
    )  # that of the threshold, no more than asked
    assert asked.keys == (7,)
    low, high = asked[7].interval(1 - 1e-9, "privacy")  # the noise is real: a 95 % interval would miss
    assert low <= 30 <= high
    again = approximate.x.frequent_values(delta=3e-8)
    assert not dpnb.release({"f": again}, epsilon=3).charged
    assert again.value.tolist() == asked.value.tolist()
    assert pickle.loads(pickle.dumps(asked)).keys == (7,)
    assert "threshold of" in repr(done) or "frequent" in repr(done)
    assert str(asked.explain())
    assert dpnb.report(done)


def test_the_delta_of_the_budget_is_a_cap_of_its_own(session, approximate):
    """When δ is spent no further question with δ is answered, however much ε is left; nothing is charged for the refusal."""
    dpnb.release([approximate.x.frequent_values(delta="4e-5")], epsilon=1)
    left = approximate.budget.remaining
    with pytest.raises(BudgetError, match="δ"):
        dpnb.release([approximate.g.frequent_values(delta="4e-5")], epsilon=1)
    assert approximate.budget.remaining == left
    assert dpnb.release([approximate.x.mean()], epsilon=1).charged


def test_bad_questions_are_refused_where_they_are_written(approximate):
    """δ outside its range, groups and text that is no number name the fix on that line."""
    for delta in (2, 0, "1e-30"):
        with pytest.raises(OptionError, match="delta="):
            approximate.x.frequent_values(delta=delta)
    with pytest.raises(LossError, match="delta"):
        approximate.x.frequent_values(delta="few")
    with pytest.raises(PlanError, match="by groups"):
        approximate.groupby("g").x.frequent_values()


def test_names_in_the_answer_are_escaped(session, dpnb_home):
    """A declared label that looks like markup or turns text around stays text in every card."""
    from dpnb.cards.released import estimate_card
    from dpnb.client.upload import hand_over
    from dpnb.datasets import load
    from dpnb.trusted.wire.places import Home

    declared = small.declared(epsilon=40, delta="1e-4")
    declared["columns"] = {"t": {"type": "category", "values": ["<script>x</script>", "\u202eabc", "z"]}}
    schema = load(declared).schema
    raw = {"t": np.array(["<script>x</script>"] * 30 + ["\u202eabc"] * 10, dtype=object)}
    data = session.attach(hand_over(raw, schema, Home(dpnb_home)))
    asked = data.t.frequent_values(delta="1e-5")
    dpnb.release([asked], epsilon=5)
    assert "<script>x</script>" in asked.keys
    card = estimate_card(asked)
    assert "<script>" not in card.html
    assert "\u202e" not in card.text + card.html
