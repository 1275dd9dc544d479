"""Caps on groups and tokens: totals of their own beside those of the pool and the principal, never overspent or forgotten."""

from __future__ import annotations

import contextlib
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.errors import BudgetError
from dpnb.trusted.curator.admission import Limit
from dpnb.trusted.curator.audit_trail import examine
from dpnb.trusted.curator.database import aside
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator.test_ledger import C1, POOL, charge, forge, pure, terms
from tests.examples import examples

CLASS = Limit("what its owner lets the group class spend, ", PrivacyLoss.pure("0.5"), "group/class")
TOKEN = Limit("what its owner lets your token spend, ", PrivacyLoss.pure("0.3"), "token/ab12")


def test_a_cap_of_a_group_holds_for_its_members_together_and_for_nobody_else(ledger):
    charge(ledger, "r1", pure("0.3"), cap=4, caps=[CLASS], principal="ann")
    with pytest.raises(BudgetError, match=r"0\.2 is left of what its owner lets the group class spend, 0\.5"):
        charge(ledger, "r2", pure("0.3"), cap=4, caps=[CLASS], principal="bob")
    assert charge(ledger, "r3", pure("0.2"), cap=4, caps=[CLASS], principal="bob").new
    assert charge(ledger, "r4", pure("0.3"), cap=4, principal="eve").new
    assert ledger.spent(POOL) == PrivacyLoss.pure("0.8")
    assert ledger.verify().intact


def test_what_is_left_and_admitted_is_that_of_the_tightest_cap(ledger):
    """A peek and a card say what a charge would."""
    charge(ledger, "r1", pure("0.2"), cap=4, caps=[CLASS, TOKEN], principal="ann")
    cap, caps = PrivacyLoss.pure(4), [CLASS, TOKEN]
    assert ledger.room(POOL, "ann", cap, caps).left == PrivacyLoss.pure("0.1")
    assert ledger.room(POOL, "ann", cap, [CLASS]).left == PrivacyLoss.pure("0.3")
    assert ledger.room(POOL, "bob", cap).left == PrivacyLoss.pure("3.8")
    mine = ledger.room(POOL, "ann", cap, caps)
    assert (mine.cap, mine.spent) == (PrivacyLoss.pure("0.3"), PrivacyLoss.pure("0.2"))
    assert mine.whose == "what its owner lets your token spend"


def test_your_own_cap_and_an_owners_are_caps_like_the_others(ledger):
    """The figure on every card is of the one that would refuse first; of equals, the dataset's budget."""
    cap = PrivacyLoss.pure(4)
    charge(ledger, "r1", pure("0.2"), cap=4, principal="bob")
    ledger.set_cap("ann", POOL, PrivacyLoss.pure(1))
    mine, theirs = ledger.room(POOL, "ann", cap), ledger.room(POOL, "bob", cap)
    assert (mine.left, mine.cap, mine.whose) == (PrivacyLoss.pure(1), PrivacyLoss.pure(1), "your own cap")
    assert (theirs.left, theirs.cap, theirs.whose) == (PrivacyLoss.pure("3.8"), cap, "")
    equal = ledger.room(POOL, "eve", cap, [Limit("each, ", PrivacyLoss.pure("3.8"))])
    assert (equal.cap, equal.whose) == (cap, "")


def test_a_share_is_one_of_its_pool(ledger):
    charge(ledger, "r1", pure("0.5"), cap=4, caps=[CLASS])
    other = {"pool": "dataset:other", "dataset": "other"}
    assert charge(ledger, "r2", pure("0.5"), cap=4, caps=[CLASS], **other).new


def test_a_total_is_read_again_by_the_next_life_of_the_curator(path):
    with Ledger(path) as ledger:
        charge(ledger, "r1", pure("0.4"), cap=4, caps=[CLASS])
    with Ledger(path) as ledger, pytest.raises(BudgetError, match=r"0\.1 is left"):
        charge(ledger, "r2", pure("0.2"), cap=4, caps=[CLASS])


def test_where_one_row_may_change_a_share_goes_on_at_its_total_doubled(ledger):
    """As the totals of the pool and of the principal do."""
    ledger.attach(terms(), "content")
    charge(ledger, "r1", pure("0.2"), cap=4, caps=[CLASS])
    changed = terms(unit=C1)
    ledger.attach(changed, "content", by="owner", reason="one row may change")
    assert ledger.room(POOL, "ann", PrivacyLoss.pure(4), [CLASS]).left == PrivacyLoss.pure("0.1")
    charge(ledger, "r2", pure("0.1"), cap=4, caps=[CLASS])
    with pytest.raises(BudgetError, match="0 is left"):
        charge(ledger, "r3", pure("0.1"), cap=4, caps=[CLASS])
    assert ledger.verify().intact


def test_a_reset_begins_a_share_anew(ledger):
    ledger.attach(terms(mode="teaching", public=True), "content")
    charge(ledger, "r1", pure("0.5"), cap=4, caps=[CLASS])
    ledger.reset(POOL)
    assert charge(ledger, "r2", pure("0.5"), cap=4, caps=[CLASS]).new
    assert ledger.verify().intact


@pytest.mark.parametrize("forgery", ["spent = replace(spent, '0.4', '0.1')", "share = 'group/other'"])
def test_a_forged_total_is_found_at_the_next_opening(path, forgery):
    """Before anything is charged from it."""
    with Ledger(path) as ledger:
        charge(ledger, "r1", pure("0.4"), cap=4, caps=[CLASS])
    forge(path, f"UPDATE shares SET {forgery}")
    with Ledger(path) as ledger:
        assert "shares does not agree" in ledger.frozen
    with aside(path) as database:
        assert "shares does not agree" in examine(database).fault


def test_colluding_threads_spend_a_group_to_the_last_digit(path):
    """Eight at once, twelve times .05, on a cap of .5: ten charges stand, and every other one is refused."""
    with Ledger(path) as ledger:
        refused = []

        def spend(name):
            for place in range(12):
                try:
                    charge(ledger, f"{name}{place}", pure("0.05"), cap=4, caps=[CLASS], principal=name)
                except BudgetError as error:
                    refused.append(error)

        threads = [threading.Thread(target=spend, args=(name,)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.spent(POOL) == PrivacyLoss.pure("0.5")
        assert len(refused) == 8 * 12 - 10
        assert ledger.verify().intact


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sets(st.sampled_from("xyz")), st.integers(1, 30)), max_size=25
    )
)
def test_any_order_of_charges_keeps_every_cap(tmp_path_factory, charges):
    """Against a plain sum: what is admitted is what fits in the pool, in the principal's cap and in each of its groups'."""
    caps = {"pool": 100, **dict.fromkeys("abc", 60), "x": 40, "y": 55, "z": 70}
    sums = dict.fromkeys(caps, 0)
    with Ledger(tmp_path_factory.mktemp("l") / "ledger") as ledger:
        for place, (who, groups, asked) in enumerate(charges):
            held = [Limit("", PrivacyLoss.pure(caps[name]), f"group/{name}") for name in sorted(groups)]
            counted = ["pool", who, *groups]
            fits = all(sums[name] + asked <= caps[name] for name in counted)
            with contextlib.nullcontext() if fits else pytest.raises(BudgetError):
                limits = [Limit("", PrivacyLoss.pure(caps[who])), *held]
                charge(ledger, f"r{place}", pure(asked), cap=100, caps=limits, principal=who)
                for name in counted:
                    sums[name] += asked
        assert ledger.verify().intact
