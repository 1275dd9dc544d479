"""The guide writes questions that the dataset allows, prices them as a plan would, and spends nothing."""

from __future__ import annotations

import pytest

import dpnb
from dpnb import widgets
from dpnb.errors import PlanError
from dpnb.notebook.price_preview import Snapshot, price_of
from dpnb.widgets import pages
from tests.curator import small


def test_only_what_the_schema_allows_is_offered(data):
    found = {goal["id"]: goal["columns"] for goal in widgets.guide(data).facts["goals"]}
    assert found["average"] == ["x"]
    assert found["share"] == found["groups"] == ["g", "y"]
    assert widgets.guide(data).facts["groups"] == ["g", "y"]


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        ({"goal": "average", "column": "x"}, "average_x = small.x.mean()"),
        ({"goal": "share", "column": "y"}, "share_y = small.y.mean()"),
        ({"goal": "difference", "column": "x", "by": "g"}, 'effect_on_x = small.x.difference(by="g")'),
        ({"goal": "middle", "column": "x"}, "middle_x = small.x.median()"),
        ({"goal": "groups", "column": "g"}, "people_by_g = small.g.value_counts()"),
        ({"goal": "spread", "column": "x"}, "spread_of_x = small.x.histogram(bins=20)"),
    ],
)
def test_the_cell_that_it_writes_is_one_that_runs(data, chosen, code):
    """What the last screen shows is read and priced as a cell."""
    guide = widgets.guide(data)
    guide.chosen = chosen
    assert guide.facts["plan"]["code"] == code
    read = price_of(f"%%dp epsilon=0.5\n{code}", Snapshot.of({"small": data}))
    assert (read.status, read.label) == ("priced", "ε 0.5")


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"goal": "average"},
        {"goal": "average", "column": "g"},
        {"goal": "difference", "column": "x"},
        {"goal": "difference", "column": "g", "by": "g"},
        {"goal": "everything", "column": "x"},
        {"goal": "average", "column": ["x"]},
    ],
)
def test_an_incomplete_or_impossible_choice_has_no_plan(data, chosen):
    guide = widgets.guide(data)
    guide.chosen = chosen
    assert guide.facts["plan"] is None


def test_a_stored_question_shows_its_own_accuracy(data):
    """What was released is told with its ±, as its plan tells it, not with a forecast for the loss under the slider."""
    guide = widgets.guide(data)
    guide.chosen = {"goal": "average", "column": "x"}
    assert (guide.facts["plan"]["held"], guide.facts["plan"]["stored"]) == (None, "")
    dpnb.release({"m": data.x.mean()}, epsilon=2)
    guide.refresh()
    (item,) = dpnb.plan({"m": data.x.mean()}, epsilon="0.5").items
    assert item.preview.words.startswith("± ")
    assert guide.facts["plan"]["held"] == 2
    assert f"{guide.facts['plan']['stored']}, as stored" == item.preview.words


def test_its_still_form_names_the_questions(data):
    text = widgets.guide(data).card().text
    assert "small.x.mean()" in text
    assert "Who is protected" in text


def test_it_takes_a_dataset_alone(data):
    for wrong in (data.x, 3, None):
        with pytest.raises(PlanError, match=r"dpnb\.widgets\.guide\(hiv\)"):
            widgets.guide(wrong)


def test_a_page_without_a_kernel_brings_what_a_kernel_would_say(data):
    """Every choice of the first two screens is priced on the page as it is priced when it is made; nothing is spent."""
    guide = widgets.guide(data)
    guide.complete()
    plans = guide.facts["plans"]
    assert len(plans) == 11
    for plan in plans:
        guide.chosen = {name: plan[name] for name in ("goal", "column", "by")}
        assert guide.facts["plan"] == plan
    assert data.budget.spent.amount == 0


def test_a_page_leaves_out_a_guide_whose_dataset_has_gone(dpnb_home, monkeypatch):
    """Its last screen shows a price that can no longer be read; the other interactions are written."""
    service = small.curator(dpnb_home)
    guide = widgets.guide(small.opened(small.session(service), dpnb_home))
    guide.chosen = {"goal": "average", "column": "x"}
    service.close()
    monkeypatch.setattr(pages, "shown", lambda: [guide, widgets.odds(0.1)])
    text, count = pages.session_page({})
    assert count == 1
    assert 'data-dpnb="odds"' in text
    assert 'data-dpnb="guide"' not in text
