"""What the card of a pending question asks: the facts of the see-saw, found by its key; nothing is spent or kept alive."""

from __future__ import annotations

import gc
import json
import weakref
from fractions import Fraction

import pytest

import dpnb
from dpnb import widgets
from dpnb.cards import estimate_card
from dpnb.errors import PlanError
from dpnb.notebook.display import Screen
from dpnb.notebook.pending_cards import CardQuestions, ShownPlan, Waiting
from dpnb.widgets.curve import Curve, Curves
from tests.curator import small

MIME = "application/vnd.dpnb.release+json"


class Cards:
    """The pending cards of a notebook: what is shown, and what they ask after the cell is over."""

    def __init__(self):
        self.waiting, self.ask_mode = Waiting(), False
        self.questions = CardQuestions(list, self.waiting, lambda: self.ask_mode)

    def show(self, estimate):
        """Show it, and return the key on its card."""
        return self.waiting.key(estimate.measurement)

    def over(self, **names):
        """End the cell with these names bound."""
        self.waiting.see(list(names.items()))

    def ask(self, key, **more):
        """Ask as its card does."""
        return self.questions.seesaw({"waiting": key, **more})["facts"]


@pytest.fixture
def cards():
    """No card yet."""
    return Cards()


def test_a_pending_card_gets_the_facts_of_the_see_saw_and_its_name(cards, data):
    """Asked by its key, in strict JSON: what the widget draws, and the name that the notebook has for it now."""
    mean = data.x.mean()
    key = cards.show(mean)
    cards.over(m=mean)
    facts = cards.ask(key)
    assert facts == {**widgets.seesaw(mean).facts, "name": "m", "verb": ""}
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    cards.over(other=mean)
    assert cards.ask(key)["name"] == "other"


def test_asking_spends_nothing_and_leaves_it_pending(cards, data):
    """However often it is asked, the ledger stays as it was."""
    mean = data.x.mean()
    key, before = cards.show(mean), data.session.ledger(data)
    cards.over(m=mean)
    for size in (None, 1, 10):
        cards.ask(key, size=size)
    assert data.session.ledger(data) == before
    assert mean.pending


@pytest.mark.parametrize("names", [["m[0]", "s.m"], ["class"], [], ["_"]])
def test_a_name_is_one_that_a_cell_can_be_written_with(cards, data, names):
    """A place in a list, an attribute, a keyword and no name at all give none: then there is nothing to release it by."""
    mean = data.x.mean()
    key = cards.show(mean)
    cards.over(**{name: mean for name in names if name != "_"})
    assert cards.ask(key)["name"] == ""


def test_names_of_other_questions_are_never_given(cards, data):
    """The same words asked twice are two questions: each card has the name of its own."""
    first, second = data.x.mean(), data.x.mean()
    keys = [cards.show(first), cards.show(second)]
    cards.over(a=first, b=second)
    assert [cards.ask(key)["name"] for key in keys] == ["a", "b"]


def test_nothing_is_found_before_its_cell_is_over(cards, data):
    """What a cell asks is decided by what it holds alone: a card that asks meanwhile finds nothing."""
    mean = data.x.mean()
    key = cards.show(mean)
    with pytest.raises(PlanError, match="does not hold this question"):
        cards.ask(key)
    cards.over(m=mean)
    assert cards.ask(key)["question"] == mean.text


def test_a_shown_question_is_not_kept_alive(cards, data):
    """After it was shown, seen and priced, it is held by the notebook alone; its card then hears that it is gone."""
    mean = data.x.mean()
    key, seen = cards.show(mean), weakref.ref(mean.measurement)
    cards.over(m=mean)
    cards.ask(key)
    del mean
    gc.collect()
    assert seen() is None
    with pytest.raises(PlanError, match="Run its cell again"):
        cards.ask(key)


def test_a_question_that_is_answered_says_so(cards, data):
    """Its card was drawn before: there is nothing to balance any more."""
    mean = data.x.mean()
    key = cards.show(mean)
    cards.over(m=mean)
    dpnb.release({"m": mean}, epsilon=1)
    with pytest.raises(PlanError, match="has been answered"):
        cards.ask(key)


def test_a_question_with_a_loss_of_its_own_is_not_balanced(cards, data):
    """The line of a cell does not set what it pays: neither its card nor its answer offers a choice."""
    mean = data.x.mean().spend(epsilon=0.3)
    assert estimate_card(mean).json["pays"] == ""
    key = cards.show(mean)
    cards.over(m=mean)
    with pytest.raises(PlanError, match="names its own loss"):
        cards.ask(key)


def test_a_cell_that_would_stop_at_its_plan_is_written_with_its_verb(cards, data):
    """In a notebook whose cells stop at their plan, the cell says that it releases."""
    mean = data.x.mean()
    key = cards.show(mean)
    cards.over(m=mean)
    cards.ask_mode = True
    assert cards.ask(key)["verb"] == "release"


@pytest.mark.parametrize("size", ["many", 0, -3, 2.5, True, []])
def test_a_size_that_is_none_is_refused_in_words(cards, data, size):
    """Text, zero, a fraction: the card hears what a number of people is."""
    mean = data.x.mean()
    key = cards.show(mean)
    cards.over(m=mean)
    with pytest.raises(PlanError, match="whole number of people"):
        cards.ask(key, size=size)


@pytest.mark.parametrize("key", ["", None, 3, "0123456789abcdef", {}])
def test_a_key_that_nobody_has_finds_nothing(cards, key):
    """A card of another kernel, or one that asks nonsense, is answered in words."""
    with pytest.raises(PlanError, match="does not hold this question"):
        cards.ask(key)


def test_a_record_has_a_key_where_there_is_something_to_balance(data, monkeypatch):
    """A question that can be priced has one; a value computed from others, and one that names its loss, has none."""
    shown = []
    monkeypatch.setattr(
        "dpnb.notebook.display.display", lambda bundle, **_: shown.append(bundle[MIME]) or None
    )
    screen, mean = Screen(), data.x.mean()
    for one in (mean, 2 * mean, data.y.mean().spend(epsilon=0.3), mean):
        screen.show_estimate(one)
    keys = [record.get("waiting") for record in shown]
    assert keys[1:3] == [None, None]
    assert keys[0] == keys[3] == screen.waiting.key(mean.measurement)
    assert [record["pays"] for record in shown] == ["ε", "", "", "ε"]
    assert all(record["pending"] for record in shown)


def test_a_pending_card_says_that_it_is_pending(data):
    """In its HTML and its text: it waits, what releases it, and that nothing was spent."""
    card = estimate_card(data.x.mean())
    for words in (
        "pending",
        "Not released yet",
        "Nothing was spent",
        "Put %%dp epsilon=1 above the cell that builds it",
    ):
        assert words in card.html
    assert card.text == f"<pending {data.x.mean().text}>"


def test_a_curve_is_forgotten_with_its_question(data, monkeypatch):
    """A question that takes the place of one that is gone is priced for itself."""
    priced = []
    monkeypatch.setattr("dpnb.widgets.curve.curve_of", lambda question, *_: priced.append(question.text))
    curves = Curves()
    for _ in range(6):
        curves.of(data.x.mean().measurement, "epsilon", None)
        gc.collect()
    one = data.y.mean().measurement
    for _ in range(3):
        curves.of(one, "epsilon", None)
    assert len(priced) == 7


def test_a_board_shows_the_noise_that_shared_questions_have(data):
    """At the split that is asked the board's ± is the plan's, though alone the share would buy a wider one."""
    from dpnb.widgets.plan_facts import board

    old = data[data.x > 3]
    view = dpnb.plan({"m": old.x.mean(), "s": (old.x + 3).mean()}, epsilon=1, assume_n=20)
    (mean, shifted) = board(view)["questions"]
    (alone, _) = view.priced.alone
    for one, item in zip((mean, shifted), view.items, strict=True):
        curve = Curve(tuple(one["curve"]["loss"]), tuple(one["curve"]["width"]))
        assert one["width"] == item.preview.half_width
        assert curve.width_at(one["at"]) == pytest.approx(item.preview.half_width, rel=0.02)
        assert item.preview.half_width < 0.6 * alone.preview.half_width


def test_the_handle_never_begins_at_all_that_is_left(data):
    """A preset that takes everything is a trap: it stands at half of what is left, or at 1."""
    assert widgets.seesaw(data.x.mean()).facts["start"] == 1
    dpnb.release({"m": data.x.mean()}, epsilon=data.budget.state().left.amount - Fraction("0.4"))
    assert widgets.seesaw(data.x.sum()).facts["start"] == pytest.approx(0.2)


class TestPlans:
    """A plan on screen is asked anew by its key."""

    @pytest.mark.parametrize("here", [True, False], ids=["this notebook", "another"])
    def test_it_is_priced_as_it_stands(self, cards, data, service, dpnb_home, here):
        """Released elsewhere it is free, and each stored answer has its own ±, also in a difference that no size is known for."""
        other = data if here else small.opened(small.session(service), dpnb_home)
        young, old = data[data.x < 3], data[data.x > 6]
        asked = {"young": young.x.mean(), "old": old.x.mean()}
        view = dpnb.plan({**asked, "gap": asked["old"] - asked["young"]}, epsilon=0.4)
        shown = ShownPlan(view, "body", "release")
        key = cards.waiting.plan_key(shown)
        before = cards.questions.board({"plan": key})["facts"]
        assert not any(one["stored"] for one in before["questions"])
        found = dpnb.release(
            {"young": other[other.x < 3].x.mean(), "old": other[other.x > 6].x.mean()}, epsilon=0.4
        )
        after = cards.questions.board({"plan": key})["facts"]
        assert all(one["stored"] for one in after["questions"])
        assert after["left"] == pytest.approx(before["left"] - 0.4)
        own = [found[name].interval(kind="privacy").half_width for name in asked]
        assert [one["held"]["width"] for one in after["questions"]] == own
        (gap,) = (one["forecast"] for one in after["derived"])
        assert (gap["kind"], gap["given"]) == ("sum", "")
        # beyond what is stored a divider is followed by the ± of the rows that are known, or by that of all rows, which says so
        for one, was in zip(after["questions"], before["questions"], strict=True):
            assert one["curve"] if here else (one["full"], one["given"]) == (was["full"], was["given"])
        assert (after["verb"], after["body"]) == ("release", "body")
        assert json.loads(json.dumps(after, allow_nan=False)) == after

    def test_equal_plans_have_one_key_and_other_plans_another(self, cards, data):
        """The key follows from what is asked: it is the same in every kernel, and the newest of equal plans is found by it."""
        first, second, dearer = (
            ShownPlan(dpnb.plan({"m": data.x.mean()}, epsilon=amount)) for amount in (0.1, 0.1, 0.2)
        )
        assert cards.waiting.plan_key(first) == cards.waiting.plan_key(second)
        assert cards.waiting.plan_key(dearer) != cards.waiting.plan_key(first)
        assert cards.waiting.plan(cards.waiting.plan_key(second)) is second
        mean, total = data.x.mean().measurement, data.x.sum().measurement
        assert Waiting().key(mean) == cards.waiting.key(mean) != Waiting().key(total)

    def test_one_that_is_answered_or_gone_says_so(self, cards, data):
        """Its own questions were released; whoever showed it is gone; nobody has this key."""
        mean = data.x.mean()
        shown = ShownPlan(dpnb.plan({"m": mean}, epsilon=0.1))
        key = cards.waiting.plan_key(shown)
        dpnb.release({"m": mean}, epsilon=0.1)
        with pytest.raises(PlanError, match="answered"):
            cards.questions.board({"plan": key})
        del shown
        for unknown in (key, "", None):
            with pytest.raises(PlanError, match="Run its cell again: that spends nothing"):
                cards.questions.board({"plan": unknown})
