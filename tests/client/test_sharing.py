"""A cell pays once for what its questions share; what is held serves; a line added later buys only what is new."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpnb
from dpnb.client import priced_batch
from dpnb.client.handles import Dataset
from dpnb.client.priced_batch import batch_of
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.planner.price import price
from dpnb.planner.request import Ask
from dpnb.statistics.noise import amount
from dpnb.statistics.released import draws_of
from dpnb.trusted.wire.places import Home
from tests.curator import small


def cell(data):
    """A mean, a spread and a shifted mean of the same rows: three questions of one count, one sum and one sum of squares."""
    old = data[data.x > 3]
    return {"m": old.x.mean(), "v": old.x.variance(), "s": (old.x + 3).mean()}


def test_what_two_questions_measure_is_drawn_once(data):
    """The shifted mean is the mean and three, exactly: the difference has no noise left."""
    found = dpnb.release(cell(data), epsilon=1)
    assert draws_of(found["s"].releases) == draws_of(found["m"].releases)
    difference = (found["s"] - found["m"]).interval(kind="privacy")
    assert (difference.low, difference.high) == (pytest.approx(3), pytest.approx(3))
    assert set(draws_of(found["m"].releases)) & set(draws_of(found["v"].releases))


def test_a_line_that_is_added_buys_only_what_is_new(data):
    """The cell's shares fall, so that its old answers are more than enough: they stay, and the new line pays its own share."""
    first = dpnb.release(cell(data), epsilon=1)
    more = {**cell(data), "q": data.x.quantile(0.5)}
    plan = dpnb.plan(more, epsilon=1)
    assert plan.stored == (True, True, True, False)
    found = dpnb.release(more, epsilon=1)
    assert found.charged == plan.cost
    assert found.charged.amount == Fraction(1, 4)
    assert found["m"].value == first["m"].value


def test_a_question_takes_what_another_cell_bought(data):
    """A mean after a variance of the same rows costs nothing where all that it measures was bought with as much loss."""
    old = data[data.x > 3]
    dpnb.release({"v": old.x.variance()}, epsilon=4)
    plan = dpnb.plan({"m": old.x.mean()}, epsilon="0.5")
    assert plan.stored == (True,)
    assert dpnb.release({"m": old.x.mean()}, epsilon="0.5").charged.amount == 0


def test_only_what_is_not_held_is_charged(data):
    """Of a question of three sums of which some are held, the others are bought, at no more than its share."""
    old = data[data.x > 3]
    dpnb.release({"m": old.x.mean()}, epsilon=1)
    asked = {"v": old.x.variance()}
    plan = dpnb.plan(asked, epsilon=1)
    found = dpnb.release(asked, epsilon=1)
    assert plan.stored == (False,)
    assert found.charged == plan.cost
    assert 0 < found.charged.amount <= 1


def test_questions_that_share_are_handed_all_that_is_held_of_them(data):
    """Run again after it was bought afresh, a cell is free, and each of its questions has the draws of both runs."""
    first = dpnb.release(cell(data), epsilon=1)
    fresh = dpnb.release(cell(data), epsilon=1, fresh=True)
    again = dpnb.release(cell(data), epsilon=1)
    assert again.charged.amount == 0
    for name, one in again.estimates.items():
        assert draws_of(one.releases) == draws_of((*first[name].releases, *fresh[name].releases))


def test_a_second_measurement_of_a_shared_answer_is_new_in_all_that_it_measures(data):
    found = dpnb.release({**cell(data), "t": data[data.x > 3].x.sum()}, epsilon=1)
    both = data._session.remeasure(found["m"], epsilon=1)
    assert len(both.releases) == 2
    assert not set(draws_of(both.releases[:1])) & set(draws_of(both.releases[1:]))
    total = data._session.remeasure(
        found["t"], epsilon=1
    )  # its width goes by the noise alone, not by the draw
    assert total.interval(kind="privacy").width < found["t"].interval(kind="privacy").width


def test_a_plan_does_not_take_shared_noise_for_independent(data):
    """The ± of a value derived from two answers that share a sum is known after the release, and said so."""
    asked = cell(data)
    plan = dpnb.plan({**asked, "d": asked["s"] - asked["m"]}, epsilon=1)
    (forecast,) = plan.outlook().forecasts
    assert (forecast.kind, "share a measurement" in forecast.why) == ("none", True)


def test_a_ledger_names_each_question_once(data):
    dpnb.release(cell(data), epsilon=1)
    (row,) = [row for row in data._session.ledger(data) if row["kind"] == "charge"]
    assert row["texts"] == [one.text for one in cell(data).values()]


def test_a_question_too_long_to_be_read_is_cut_in_the_ledger_alone(data):
    """A list of a thousand values is asked and answered; the ledger has the beginning of it."""
    listed = data[data.x.isin([n / 1000 for n in range(1000)])].count()
    found = dpnb.release({"n": listed}, epsilon=1)
    (row,) = [row for row in data._session.ledger(data) if row["kind"] == "charge"]
    (text,) = row["texts"]
    assert (len(text), text[-1]) == (2000, "…")
    assert len(found["n"].text) > 2000


def test_a_plan_says_which_questions_are_about_different_people(data):
    """And their noise is that of less than all of them."""
    bands = {"low": data[data.x < 3], "middle": data[(data.x >= 3) & (data.x < 6)], "high": data[data.x >= 6]}
    plan = dpnb.plan({name: band.count() for name, band in bands.items()}, epsilon=1)
    said = "low, middle and high are about different people: nobody is in two of them"
    assert said in str(plan)
    assert said in str(plan._repr_mimebundle_()["text/html"])
    report = dpnb.release({name: band.count() for name, band in bands.items()}, epsilon=1)
    assert report.charged.amount == 1
    alone = dpnb.plan({"low": bands["low"].count()}, epsilon="1/3", fresh=True)
    (part,) = alone.priced.items[0].parts
    found = [amount(one.mechanism) for item in report.plan.items for one in item.parts]
    assert max(found) <= Fraction(2, 3) * amount(part.mechanism)


def test_a_plan_speaks_of_rows_where_a_person_may_have_several(session, dpnb_home):
    """A person can have a row in each: what nobody is in two of are not people."""
    raw = {**small.rows(), "who": np.arange(small.ROWS) // 2}
    facts = small.declared(adjacency="add-remove", unit="who", max_rows_per_unit=2)
    del facts["dataset"]["rows"]
    data = session.attach(hand_over(raw, load(facts).schema, Home(dpnb_home)))
    plan = dpnb.plan({"low": data[data.x < 3].count(), "high": data[data.x >= 6].count()}, epsilon=1)
    assert "low and high are about different rows: no row is in both" in str(plan._repr_mimebundle_())


def test_a_size_that_was_bought_in_another_kind_of_loss_serves_a_quantile(session, dpnb_home):
    """Seen: another kind of loss would choose other sums for a quantile with limits, and a charged answer was not shown."""
    facts = small.declared(adjacency="add-remove", rho=12)
    del facts["dataset"]["rows"]
    data = session.attach(hand_over(small.rows(), load(facts).schema, Home(dpnb_home)))
    dpnb.release([data.x.mean(), data.count()], rho=1)
    quantile = data.x.quantile(0.5, ci=True)
    dpnb.release([quantile], epsilon="0.05")
    assert 0 <= quantile.value <= 10


def test_what_was_shown_is_released_without_pricing_it_again(data, monkeypatch):
    """A plan and its release have one price and one text; another loss, share, filter or schema is priced by itself."""
    priced = []

    def counted(*given):
        priced.append(given)
        return price(*given)

    monkeypatch.setattr(priced_batch, "price", counted)
    ask = Ask.make(epsilon="0.37")
    shown = dpnb.plan([data.x.mean()], epsilon="0.37")
    first, again = (batch_of([data.x.mean()], ask) for _ in range(2))
    assert len(priced) == 1
    assert first.priced is again.priced
    assert first.text is again.text
    report = dpnb.release([data.x.mean()], epsilon="0.37")
    assert report.charged == shown.cost
    assert len(priced) == 1
    assert replace(first, again=("0" * 32,)).text != first.text
    others = [
        batch_of([data.x.mean()], Ask.make(epsilon="0.38")),
        batch_of([data.x.mean()], Ask.make(epsilon="0.37", fresh=True)),
        batch_of([data.x.mean().spend(epsilon="0.2")], ask),
        batch_of([data[data.x > 3].x.mean()], ask),
        batch_of([data.x.mean(), data.y.mean()], ask),
    ]
    assert len(priced) == 6
    assert len({one.text for one in (first, *others)}) == 6


def test_the_same_words_under_another_schema_are_priced_anew(data):
    """Whatever was kept of the narrower bounds: the noise of a mean goes by the declared ones."""
    columns = {**small.DECLARED["columns"], "x": {"type": "integer", "lower": 0, "upper": 1000}}
    wider = load({**small.DECLARED, "columns": columns}).schema
    other = Dataset(data.session, replace(data._opened, schema=wider))
    ask = Ask.make(epsilon=1)
    narrow, wide = (batch_of([one.x.mean()], ask).priced.items[0].parts[0] for one in (data, other))
    assert amount(wide.mechanism) == 100 * amount(narrow.mechanism)
