"""A plan knows its own stored answers: their accuracy where they are free, and that more is asked of them where they are not."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpnb
from dpnb.cards.plan import plan_card
from dpnb.trusted.query.plan import Share
from tests.curator import small


@pytest.fixture
def data(dpnb_home):
    """A handle on forty protected rows."""
    service = small.curator(dpnb_home)
    yield small.opened(small.session(service, "ann"), dpnb_home)
    service.close()


def test_a_stored_answer_shows_its_own_accuracy(data):
    """Asked at a tenth of what it was paid with, a stored answer is free and as accurate as it was paid for."""
    dpnb.release({"m": data.x.sum()}, epsilon=5)
    (item,) = dpnb.plan({"m": data.x.sum()}, epsilon="0.5").items
    (paid,) = dpnb.plan({"m": data.x.sum()}, epsilon=5, fresh=True).items
    (asked,) = dpnb.plan({"m": data.x.sum()}, epsilon="0.5", fresh=True).items
    assert item.preview == paid.preview
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
    assert "m was answered before at ε 0.5. This plan asks ε 1 of it" in plan_card(alone).text
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


def test_what_another_analyst_paid_is_not_told(dpnb_home):
    """Nobody learns from a plan what somebody else asked."""
    service = small.curator(dpnb_home)
    mine = small.opened(small.session(service, "ann"), dpnb_home)
    dpnb.release({"m": mine.x.mean()}, epsilon=1)
    theirs = small.opened(small.session(service, "bob"), dpnb_home)
    assert dpnb.plan({"m": theirs.x.mean()}, epsilon=2).held == (None,)
    assert dpnb.plan({"m": mine.x.mean()}, epsilon=2).held == (Share("epsilon", Fraction(1)),)
    service.close()


def test_fresh_holds_nothing(data):
    """Who asks to pay again is not told of stored answers."""
    dpnb.release({"m": data.x.mean()}, epsilon=1)
    assert dpnb.plan({"m": data.x.mean()}, epsilon=1, fresh=True).held == (None,)


@pytest.mark.parametrize("asked", [{"rho": "0.125"}, {"epsilon": "0.5"}])
@pytest.mark.parametrize("ask", [lambda d: d.x.mean(), lambda d: d.x.median()], ids=["additive", "selection"])
def test_in_a_rho_budget_a_share_is_what_was_asked(dpnb_home, asked, ask):
    """Where ε and ρ can both be asked, the stored share is of the measure that was."""
    service = small.curator(dpnb_home)
    data = small.opened(small.session(service, "ann"), dpnb_home, rho=2)
    dpnb.release({"m": ask(data)}, **asked)
    ((kind, amount),) = asked.items()
    (held,) = dpnb.plan({"m": ask(data)}, **asked).held
    assert held == Share(kind, Fraction(amount))
    service.close()
