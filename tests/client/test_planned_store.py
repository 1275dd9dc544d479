"""What is stored: every question is asked again for nothing, and a plan knows its stored answers and how accurate they are."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.cards.plan import plan_card
from dpnb.client.columns import asked as ask
from dpnb.client.drawing import bundle
from dpnb.client.upload import hand_over
from dpnb.errors import PlanError
from dpnb.planner import Question
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.wire.places import Home
from tests.contracts.questions import SAMPLES, schema
from tests.curator import small


def test_a_stored_answer_shows_its_own_accuracy(data):
    """Asked at a tenth of what it was paid with, a stored answer is free and as accurate as it was paid for."""
    dpnb.release({"m": data.x.sum()}, epsilon=5)
    (item,) = dpnb.plan({"m": data.x.sum()}, epsilon="0.5").items
    (paid,) = dpnb.plan({"m": data.x.sum()}, epsilon=5, fresh=True).items
    (asked,) = dpnb.plan({"m": data.x.sum()}, epsilon="0.5", fresh=True).items
    assert item.preview == replace(paid.preview, words=f"{paid.preview.words}, as stored")
    assert item.preview.half_width < asked.preview.half_width / 5
    assert item.share == asked.share


def test_a_line_taken_out_raises_the_others_shares_and_the_plan_says_so(data):
    """Two lines at ε 1 were paid a half each; one of them alone asks the whole, so it would be bought anew."""
    dpnb.release({"m": data.x.mean(), "s": data.y.mean()}, epsilon=1)
    both = dpnb.plan({"m": data.x.mean(), "s": data.y.mean()}, epsilon=1)
    assert (both.stored, both.bought_anew) == ((True, True), ())
    alone = dpnb.plan({"m": data.x.mean()}, epsilon=1)
    assert (alone.stored, alone.bought_anew) == ((False,), (0,))
    assert alone.held == (Share("epsilon", Fraction(1, 2)),)
    assert "m was answered before at ε 0.5. This plan asks ε 1 for it" in plan_card(alone).text
    assert "answered before" not in plan_card(both).text


def test_what_is_derived_of_a_stored_answer_keeps_its_accuracy(data):
    """A stored answer counts as one that is asked: twice a count is told with twice its ±, before and after it is released."""
    said = []
    for _ in range(2):
        count = data[data.x > 3].count()
        plan = dpnb.plan({"n": count, "twice": count * 2}, epsilon=1)
        said.append([line.strip() for line in plan_card(plan).text.splitlines() if "twice" in line])
        dpnb.release({"n": count}, epsilon=1)
    assert plan.stored == (True,)
    assert said[0] == said[1]
    assert "± 6" in said[0][0]


def test_what_another_analyst_paid_is_not_told(service, dpnb_home):
    """Nobody learns from a plan what somebody else asked."""
    mine = small.opened(small.session(service, "ann"), dpnb_home)
    dpnb.release({"m": mine.x.mean()}, epsilon=1)
    theirs = small.opened(small.session(service, "bob"), dpnb_home)
    assert dpnb.plan({"m": theirs.x.mean()}, epsilon=2).held == (None,)
    assert dpnb.plan({"m": mine.x.mean()}, epsilon=2).held == (Share("epsilon", Fraction(1)),)


def test_fresh_holds_nothing(data):
    """Who asks to pay again is not told of stored answers."""
    dpnb.release({"m": data.x.mean()}, epsilon=1)
    assert dpnb.plan({"m": data.x.mean()}, epsilon=1, fresh=True).held == (None,)


@pytest.mark.parametrize("asked", [{"rho": "0.125"}, {"epsilon": "0.5"}])
@pytest.mark.parametrize("ask", [lambda d: d.x.mean(), lambda d: d.x.median()], ids=["additive", "selection"])
def test_in_a_rho_budget_a_share_is_what_was_asked(session, dpnb_home, asked, ask):
    """Where ε and ρ can both be asked, the stored share is of the measure that was."""
    data = small.opened(session, dpnb_home, rho=2)
    dpnb.release({"m": ask(data)}, **asked)
    ((kind, amount),) = asked.items()
    (held,) = dpnb.plan({"m": ask(data)}, **asked).held
    assert held == Share(kind, Fraction(amount))


COMPOSED = {
    "regression": lambda data: data.ols("x ~ y"),
    "regression with robust errors": lambda data: data.ols("x ~ b", cov_type="HC1"),
    "regression in a ball": lambda data: data[data.b == 1].ols("x ~ y", radius=1),
    "coefficient": lambda data: data.ols("x ~ y")["y"],
    "reading of moments": lambda data: data.moments("x", "y").covariance(),
    "logistic regression": lambda data: data.crosstab("b", "g").logistic("b ~ C(g)"),
    "description": lambda data: {name: one for name, one in data.describe().items() if name[0] in "bg"},
    "several figures": lambda data: data.agg({"x": ["mean", "std"], "b": "mean"}),
    "pivot table": lambda data: data.pivot_table("x", index="g", columns="b"),
    "groups": lambda data: data.groupby("g").x.mean(),
    "arithmetic": lambda data: data.x.mean() / data.y.mean() - data.count(),
}


def question(data, asked):
    """A question of the table, by name: the last sample of a statistic, or what is composed of several."""
    composed = COMPOSED.get(asked)
    return composed(data) if composed else ask(data, Question(data.name, asked, **SAMPLES[asked][-1]))


def released(door, data, asked, **loss):
    """Release a question through a door: what it says, the report, and what holds it, so that the next one is asked beside it."""
    with dpnb.spend(**loss) if door == "spend" else contextlib.nullcontext() as block:
        made: Any = question(data, asked)
        named = made if isinstance(made, dict) else {"it": made}
    report = dpnb.release(named, **loss) if block is None else block.report
    return np.concatenate([np.ravel(one.value) for one in named.values()]), report, named


@pytest.mark.parametrize("asked", [*SAMPLES, *COMPOSED])
def test_whatever_is_stored_is_asked_again_for_nothing_and_anew_for_more(service, dpnb_home, asked):
    """Through either door, in the same session and in another: the same answer at ε 0 with its card; more ε and fresh noise are paid."""
    rng, count = np.random.default_rng(5), 60
    rows = {
        "x": rng.integers(0, 101, count).astype(float),
        "y": rng.integers(0, 11, count).astype(float),
        "b": rng.integers(0, 2, count).astype(float),
        "g": rng.choice(np.array(["u", "v", "w"], dtype=object), count),
    }
    measure = "approx" if asked == "frequent_values" else "epsilon"
    where = schema(PrivacyUnit("add-remove"), measure)
    mine, other = (
        small.session(service, "ann").attach(hand_over(rows, where, Home(dpnb_home))) for _ in range(2)
    )
    first, paid, *held = released("release", mine, asked, epsilon=8)
    assert paid.charged
    for door, data in (("release", mine), ("spend", mine), ("release", other)):
        again, report, kept = released(door, data, asked, epsilon=8)
        held.append(kept)
        np.testing.assert_array_equal(again, first)
        assert not report.charged
        assert "stored · ε 0" in bundle("release_card", report, "")["text/plain"].replace("ρ", "ε")
    for door, loss in (("release", {"epsilon": 16}), ("spend", {"epsilon": 8, "fresh": True})):
        _, report, kept = released(door, mine, asked, **loss)
        held.append(kept)
        assert report.charged


def test_a_smaller_regression_is_covered_by_moments_that_are_held(data):
    """It is read at once or released for nothing, with its card; more ε and fresh noise buy the moments anew, each once."""
    wide = data.ols("x ~ g + y")
    dpnb.release({"wide": wide}, epsilon=1)
    for loss, paid in (({"epsilon": 1}, 0), ({"epsilon": 2}, 2), ({"epsilon": 2, "fresh": True}, 2)):
        fit = data.ols("x ~ g")
        report = dpnb.release({"fit": fit}, **loss)
        assert float(report.charged.amount) == paid
        assert report["fit"] is fit
        card = bundle("release_card", report, "")["text/plain"]
        assert ("stored · ε 0" in card) == (paid == 0)
    slopes = [one["g"].value for one in (data.ols("x ~ g"), wide)]
    assert slopes[0] != slopes[1]  # the answer that most was paid for is read first


def test_an_answer_that_was_read_from_the_store_does_not_change(data):
    """A regression that was read before its release is told again for nothing; for more the error names the fix, and nothing is spent."""
    kept = data.ols("x ~ g")
    dpnb.release({"fit": kept}, epsilon=1)
    fit = data.ols("x ~ g")
    slope, before = fit["g"].value, data.budget.spent
    report = dpnb.release({"fit": fit}, epsilon=1)
    assert not report.charged
    assert "stored · ε 0" in bundle("release_card", report, "")["text/plain"]
    for loss in ({"epsilon": 2}, {"epsilon": 1, "fresh": True}):
        with pytest.raises(PlanError, match="Ask the question again"):
            dpnb.release({"fit": fit}, **loss)
    assert fit["g"].value == slope == kept["g"].value
    assert data.budget.spent == before
    assert (fit["g"] - kept["g"]).interval(0.95, "privacy").width == 0
