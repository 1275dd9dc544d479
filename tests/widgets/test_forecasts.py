"""What a card asks about paying more: the facts of the widget, found by the releases that the card shows; nothing is spent."""

from __future__ import annotations

import json
import pickle

import pytest

import dpnb
from dpnb import widgets
from dpnb.cards import estimate_card
from dpnb.errors import PlanError
from dpnb.notebook.pending_cards import CardQuestions
from dpnb.widgets.curve import Curve, Curves
from dpnb.widgets.forecasts import forecast, holder
from tests.curator import small


def ids(estimate):
    """The ids that a card of this answer holds."""
    return [release.id for release in estimate.releases]


@pytest.fixture
def answer(data):
    """A released mean."""
    return dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]


def test_a_card_gets_the_facts_of_the_widget(answer):
    """Asked by release ids, in strict JSON, with the name that holds it now."""
    asked = CardQuestions(lambda: [("m", answer)]).remeasure({"name": "m", "releases": ids(answer)})
    assert asked["facts"] == widgets.remeasure(answer, name="m").facts
    assert json.loads(json.dumps(asked, allow_nan=False)) == asked


def test_facts_hold_released_numbers_and_prices_alone(answer):
    """No noised integer beyond the answer, no data version, no handle: these keys and no other."""
    facts = forecast(answer, "m", Curves())
    assert set(facts) == {
        "name",
        "question",
        "kind",
        "symbol",
        "value",
        "entry",
        "trail",
        "curve",
        "left",
        "paid",
        "problem",
    }
    assert facts["value"] == answer.value
    assert (facts["paid"], facts["left"]) == (1.0, 9.0)


def test_the_name_that_holds_it_now_is_found(data, answer):
    """Also when the card calls it by its question; the name on the card is preferred among several."""
    other = dpnb.release({"s": data.x.sum()}, epsilon=1)["s"]
    held = [("other", other), ("kept", answer), ("m", answer)]
    assert holder(held, "small.x.mean()", ids(answer)) == ("kept", answer)
    assert holder(held, "m", ids(answer)) == ("m", answer)
    assert holder([("other", other)], "m", ids(answer)) is None


def test_a_card_whose_name_was_bound_anew_says_so(answer):
    """After remeasuring, the old card does not offer to pay for what is another answer now."""
    both = answer.remeasure(epsilon=1)
    questions = CardQuestions(lambda: [("m", both)])
    with pytest.raises(PlanError, match="now holds another answer"):
        questions.remeasure({"name": "m", "releases": ids(answer)})
    with pytest.raises(PlanError, match="m now holds another answer"):
        questions.remeasure({"name": answer.text, "question": answer.text, "releases": ids(answer)})
    assert questions.remeasure({"name": "m", "releases": ids(both)})["facts"]["paid"] == 2.0


@pytest.mark.parametrize("releases", [None, [], "all", [3], ["nobody's"], ["x"] * 1000])
def test_an_answer_that_nobody_holds_is_refused_with_what_to_do(answer, releases):
    """Run the cell again: it is stored, and free. A nonsense question is answered the same way."""
    questions = CardQuestions(lambda: [("m", answer)])
    with pytest.raises(PlanError, match="stored"):
        questions.remeasure({"name": "gone", "releases": releases})


def test_a_name_that_is_no_name_is_not_written_into_a_cell(answer):
    """What is held in a list has no name that Release could assign to."""
    with pytest.raises(PlanError, match="No variable"):
        CardQuestions(lambda: [("found[0]", answer)]).remeasure({"name": "m", "releases": ids(answer)})


def test_stored_tells_each_payment_and_what_fresh_would_pay(data, answer):
    """In facts, table and text; more can be dragged where it can be foretold."""
    both = answer.remeasure(epsilon=2)
    one = widgets.stored(both, name="m")
    rows = one.facts["rows"]
    assert [row[0] for row in rows] == ["paid", "paid", "asked again", "with fresh", "more"]
    assert rows[0][1].startswith("ε 1 on 20")
    assert rows[3][1] == "%dp epsilon=3 fresh pays ε 3 again, for new noise".replace("%dp", "%%dp")
    assert one.facts["more"]["paid"] == 3.0
    assert "ledger entry" in repr(one)
    assert one.facts["badge"] == "paid in this session"


def test_stored_of_an_answer_from_the_store_has_the_badge(data, answer):
    """Asked again it is stored; a vector says why more cannot be drawn."""
    again = dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]
    assert widgets.stored(again).facts["badge"] == "stored · ε 0"
    vector = dpnb.release([data.x.quantile([0.2, 0.5])], epsilon=1)[0]
    facts = widgets.stored(vector).facts
    assert facts["more"] is None
    assert "no single number" in facts["why"]


def test_the_widest_entry_stands_for_a_short_vector(data):
    """Its interval is the one of the answer, and the price curve at what was paid is about as wide."""
    found = dpnb.release({"h": data.x.histogram()}, epsilon=4)["h"]
    facts = widgets.remeasure(found, name="h").facts
    interval = found.interval(0.95, "privacy")
    place = [key for key in found.axes[0].keys if f"x {key}" == facts["entry"]]
    assert len(place) == 1
    (now,) = facts["trail"]
    at = list(found.axes[0].keys).index(place[0])
    assert (now["low"], now["high"]) == (interval.low[at], interval.high[at])
    curve = Curve(tuple(facts["curve"]["loss"]), tuple(facts["curve"]["width"]))
    assert curve.width_at(4) == pytest.approx((now["high"] - now["low"]) / 2, rel=0.5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(
            lambda data: widgets.stored(data.x.mean()), "Nothing was paid for this answer", id="pending"
        ),
        pytest.param(lambda data: widgets.stored(data.x), "takes a question", id="a column"),
        pytest.param(lambda data: widgets.stored(data.count()), "is public", id="public"),
    ],
)
def test_stored_refuses_what_was_not_released(data, make, words):
    """With the fix, and nothing spent."""
    with pytest.raises(PlanError, match=words):
        make(data)


def test_a_budget_in_rho_is_dragged_in_rho(dpnb_home):
    """Where the dataset counts ρ, so do the facts, the sentence on fresh and the record of the card."""
    service = small.curator(dpnb_home)
    people = small.opened(small.session(service, "ann"), dpnb_home, rho=2)
    answer = dpnb.release({"m": people.x.mean()}, rho="0.5")["m"]
    facts = widgets.remeasure(answer, name="m").facts
    assert (facts["kind"], facts["symbol"], facts["left"]) == ("rho", "ρ", 1.5)
    assert 0.49 < facts["paid"] <= 0.5
    assert estimate_card(answer).json["again"] == "ρ"
    rows = dict(map(tuple, widgets.stored(answer, name="m").facts["rows"]))
    assert rows["with fresh"].startswith("%%dp rho=0.")
    assert rows["more"].startswith("m.remeasure(rho=…)")
    service.close()


def test_an_answer_loaded_without_its_dataset_says_what_to_open(answer):
    """Read back from a file, it has its numbers and no handle: the forecast asks for the dataset."""
    kept = pickle.loads(pickle.dumps(answer))
    with pytest.raises(PlanError, match="open the dataset"):
        forecast(kept, "m", Curves())
    card = estimate_card(kept)
    assert "privacy interval" in card.text


@pytest.mark.parametrize("show", [widgets.remeasure, widgets.stored])
def test_a_widget_follows_the_name_to_the_answer_that_came_after(data, answer, show, monkeypatch):
    """Released from it, the name holds a later answer: the widget speaks of that one, and of no other that the name may hold."""
    one = show(answer, name="m")
    trail = lambda: (one.facts.get("more") or one.facts)["trail"]
    assert len(trail()) == 1
    other = dpnb.release({"o": data.x.sum()}, epsilon=0.1)["o"]
    held = {"m": other}
    monkeypatch.setattr("dpnb.widgets.kinds.remeasure.names", lambda: held)
    for strange in (other, 7, data.x.mean()):
        held["m"] = strange
        one.refresh()
        assert len(trail()) == 1
    held["m"] = answer.remeasure(epsilon=0.2)
    one.refresh()
    assert len(trail()) == 2
    held.clear()
    one.refresh()
    assert len(trail()) == 2
