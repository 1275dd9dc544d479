"""A question that is asked again gets the best that is held of it, or all of it combined, free; and its plan shows that answer's own ±."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.client.drawing import bundle
from dpnb.estimate import Estimate
from tests.curator import small


def bought(data, *losses, ask=lambda data: data.x.sum()):
    """Answers of one question, each with noise of its own."""
    found = [ask(data) for _ in losses]
    for one, loss in zip(found, losses, strict=True):
        dpnb.release({"s": one}, epsilon=loss, fresh=True)
    return found


def asked(data, loss, ask=lambda data: data.x.sum()):
    """The question once more, as a cell asks it, with its report."""
    question = ask(data)
    return question, dpnb.release({"s": question}, epsilon=loss)


def test_what_is_held_is_combined_by_the_laws_of_its_noise(data):
    """Three answers at .5, 1 and 2: asked at .3 the store hands out all three, as dpnb.combine does, and the card says so."""
    held = bought(data, "0.5", 1, 2)
    again, report = asked(data, "0.3")
    both = dpnb.combine(*held)
    assert (again.value, again.interval(kind="privacy")) == (both.value, both.interval(kind="privacy"))
    assert again.interval(kind="privacy").width < min(one.interval(kind="privacy").width for one in held)
    assert not report.charged
    assert "stored · combined from 3 answers · ε 0" in bundle("release_card", report, "")["text/plain"]


def test_no_combination_covers_a_share_that_no_answer_covers(data):
    """Two answers at 1 are together as good as one at 1.4: asked at 1.4 the question is bought."""
    bought(data, 1, 1)
    _, report = asked(data, "1.4")
    assert float(report.charged.amount) == 1.4


def test_selections_are_not_averaged(data):
    """Of three medians the one that cost most is handed out."""
    held = bought(data, "0.5", 2, 1, ask=lambda data: data.x.median())
    again, report = asked(data, "0.4", ask=lambda data: data.x.median())
    assert again.value == held[1].value
    assert again.releases[0].loss == held[1].releases[0].loss
    assert not report.charged


def test_a_retry_returns_its_own_bytes(data):
    """What was paid for now is not averaged with what was held before."""
    bought(data, "0.5")
    again, report = asked(data, 1)
    assert report.charged
    assert len(again.releases) == 1


def test_questions_of_one_batch_are_each_completed(data):
    """A mean held twice beside a sum held once and a count that is new: one release."""
    mean = lambda data: data.y.mean()
    bought(data, 1, 1, ask=mean)
    bought(data, 1)
    report = dpnb.release({"m": data.y.mean(), "s": data.x.sum(), "n": data[data.g == 1].count()}, epsilon=3)
    assert [len(report[name].releases) for name in "msn"] == [2, 1, 1]
    assert report.stored == (True, True, False)


def test_another_analyst_s_answers_are_not_combined(service, dpnb_home):
    """The store's scope stays: who shares nothing gets nothing."""
    mine, theirs = (small.opened(small.session(service, who), dpnb_home) for who in ("ann", "bob"))
    bought(mine, 1, 1)
    again, report = asked(theirs, 1)
    assert report.charged
    assert len(again.releases) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda data: data.x.sum(),
        lambda data: data.y.mean(),
        lambda data: data.x.difference(by="g"),
        lambda data: data.x.std(),
        lambda data: data.groupby("g").x.mean(),
        lambda data: data.x.correlation("y"),
    ],
    ids=["sum", "mean", "difference", "std", "groups", "correlation"],
)
@pytest.mark.parametrize("held", [("0.9",), ("0.9", 2)], ids=["one", "two"])
def test_a_stored_line_of_a_plan_shows_the_answer_s_own_width(service, dpnb_home, ask, held):
    """In the session that bought it and in one that knows nothing of sizes: the ± of the plan is that of the card."""
    mine, other = (small.opened(small.session(service, "ann"), dpnb_home) for _ in range(2))
    bought(mine, *held, ask=ask)
    for data in (other, mine):
        spent = data.budget.spent
        plan = dpnb.plan({"s": ask(data)}, epsilon="0.5")
        assert plan.stored == (True,)
        assert data.budget.spent == spent
        again, _ = asked(data, "0.5", ask=ask)
        width = np.max(again.interval(0.95, "privacy").half_width)
        assert plan.items[0].preview.half_width == pytest.approx(width, rel=1e-12)
        assert plan.items[0].preview.words.endswith(", as stored")


def test_within_is_free_again_where_a_held_answer_meets_it(data):
    """The first answer taught the size; the same cell asks what was paid, not what would be solved now."""
    first = dpnb.release({"m": data.x.mean()}, within=2, assume_n=30)
    again = dpnb.release({"m": data.x.mean()}, within=2, assume_n=10)
    assert first["m"].interval(0.95, "privacy").half_width <= 2
    assert not again.charged
    assert again["m"].value == first["m"].value
    narrower = dpnb.release({"m": data.x.mean()}, within="0.7", assume_n=30)
    assert narrower.charged


def test_combine_of_one_answer_finds_what_is_held(data):
    """As before: every stored answer of its question, free."""
    held = bought(data, "0.5", 1)
    assert {one.id for one in dpnb.combine(held[0]).releases} == {one.releases[0].id for one in held}
    assert isinstance(held[0], Estimate)


@pytest.mark.parametrize("known", ["typed", "released"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda data: data.x.mean(),
        lambda data: data.groupby("g").x.mean(),
        lambda data: data.x.difference(by="g"),
    ],
    ids=["mean", "groups", "difference"],
)
def test_within_promises_at_most_what_it_says(service, dpnb_home, ask, known):
    """The size typed is that of all groups together; sizes that were released need not be typed: 20 answers, at most 2 wider."""
    wider, rng = 0, np.random.default_rng(3)
    people = {"x": rng.integers(0, 4, 400).astype(float), "g": rng.integers(0, 2, 400).astype(float)}
    raw = {**people, "y": people["g"]}
    data = small.opened(small.session(service, "ann"), dpnb_home, raw, rows=400, epsilon=1000)
    if known == "released":
        dpnb.release({"n": data.x.variance(), "y": data.groupby("g").x.variance()}, epsilon=5)
    for _ in range(20):
        loss = {"within": "0.5", "fresh": True} | ({"assume_n": 400} if known == "typed" else {})
        found = dpnb.release({"m": ask(data)}, **loss)["m"]
        wider += bool(
            np.max(found.interval(0.95, "privacy").half_width) > 0.5 * (1.1 if known == "typed" else 1)
        )
    assert wider <= 2


def test_within_is_solved_to_what_is_asked_and_not_above(data):
    """A plan of ± 2 shows at most ± 2, on three digits of ε."""
    for within in ("1", "2", "2.5"):
        (item,) = dpnb.plan({"s": data.x.sum()}, within=str(10 * float(within))).items
        assert item.preview.half_width <= 10 * float(within)


def test_a_loop_over_losses_says_which_answers_are_stored(data):
    """Printed, each answer that nothing was paid for says so; one that is put together says of how many."""
    said = [str(dpnb.release({"s": data.x.sum()}, epsilon=loss)) for loss in ("0.1", "0.02", "0.1")]
    assert ["stored" in one for one in said] == [False, True, True]
    bought(data, 1)
    again, _ = asked(data, "0.1")
    assert repr(again).endswith(", stored · combined from 2 answers>")
