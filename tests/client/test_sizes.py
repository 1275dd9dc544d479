"""Plans and forecasts go by the sizes that released answers tell, and say so; what is asked and paid does not change."""

from __future__ import annotations

import pytest

import dpnb
from dpnb import widgets
from dpnb.widgets.curve import Curve
from tests.client.test_price_is_charge import opened
from tests.curator import small


def words(question, **asked):
    """What a plan says of the accuracy of one question."""
    return dpnb.plan({"q": question}, **(asked or {"epsilon": 0.5})).items[0].preview.words


def test_without_an_answer_the_words_say_what_is_taken_for_granted(data):
    """Nothing tells how many values are known: the ± is a range, from that of all rows to that of a tenth of them."""
    assert words(data.x.mean()).endswith("for 40 to 4 people")
    low, high = (float(words(data.x.mean()).split()[place]) for place in (1, 4))
    all_, tenth = (float(words(data.x.mean(), epsilon=0.5, assume_n=n).split()[1]) for n in (40, 4))
    assert low < all_ < high == 5 < tenth  # no interval is longer than the range
    assert words(data.x.mean(), epsilon=0.5, assume_n=20).endswith("for about 20 people")


def test_a_released_size_is_planned_with(data):
    """The count of the same people comes with a mean: a variance of them is foretold for so many, to three digits, if not for all."""
    mean = dpnb.release({"m": data.x.mean()}, epsilon=4)["m"]
    size = min(round(mean.n), small.ROWS)
    assert words(data.x.var()).endswith(f"for about {size} people")
    asked, planned = (
        dpnb.plan({"q": data.x.var()}, epsilon=0.5, **more) for more in ({}, {"assume_n": size})
    )
    assert asked.items[0].preview == planned.items[0].preview
    assert (asked.cost, asked.items[0].parts) == (planned.cost, planned.items[0].parts)


def test_narrower_questions_are_no_larger(data):
    """Of people who satisfy one condition more it is known that they are at most as many."""
    size = round(dpnb.release({"m": data.x.mean()}, epsilon=4)["m"].n)
    assert words(data[data.y > 0].x.mean()).endswith(f"for {min(size, 40)} to {min(size, 40) // 10} people")


def test_a_count_tells_the_size_of_its_filter(data):
    """Of the people of a filter who have a value there are no more than the filter's count."""
    some = data[data.y > 0]
    size = round(dpnb.release({"n": some.count()}, epsilon=4)["n"].value)
    assert words(some.x.mean()).endswith(f"for {min(size, 40)} to {min(size, 40) // 10} people")


def test_groups_are_no_larger_than_all_whose_number_was_private_and_counted(session, dpnb_home):
    """Seen: after a count of all, plans of groups ended with "cannot convert float NaN to integer"."""
    people = opened(session, dpnb_home, "d1", "add-remove", {})
    size = round(dpnb.release({"n": people.count()}, epsilon=4)["n"].value)
    assert words(people.groupby("g").count())
    assert words(people.groupby("g").x.mean()).endswith("people")
    assert words(people[people.y > 0].x.mean()).endswith(f"for {size} to {size // 10} people")


def test_interactions_plan_with_it(data):
    """The see-saw and the guide start from the released size, and the guide says that a stored answer is free."""
    size = min(round(dpnb.release({"m": data.x.mean()}, epsilon=4)["m"].n), small.ROWS)
    shown = widgets.seesaw(data.x.var())
    assert shown.facts["size"]["planned"] == size
    guide = widgets.guide(data)
    plan = guide._plan({"goal": "average", "column": "x"})
    assert plan["given"] == f"for about {size} people"
    assert plan["held"] == pytest.approx(4)
    planned = dpnb.plan({"q": data.x.mean()}, epsilon=1, assume_n=size, fresh=True)
    assert Curve(**plan["curve"]).width_at(1) == pytest.approx(planned.items[0].preview.half_width, rel=1e-6)


def test_a_number_is_rounded_to_a_power_of_two(data):
    """So that guesses that are near each other are one question."""
    questions = {data.x.mean(about=n).measurement.question.canonical() for n in (900, 1000, 1024, 1300)}
    assert len(questions) == 1
    assert data.x.mean(about=1500).measurement.question.canonical() not in questions
