"""The attach card as an interaction: public facts alone, questions that can be asked, a budget that follows the ledger."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb import widgets
from dpnb.cards.attach import attach_card
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import OptionError, PlanError
from dpnb.notebook.price_preview import Snapshot, price_of
from dpnb.trusted.wire.places import Home
from dpnb.widgets import _base
from dpnb.widgets.questions import ready, subject
from tests.curator import small


def test_every_question_it_offers_is_priced_by_a_cell(data):
    """Whatever is taken from the card runs as the one line of a %%dp cell."""
    lines = [one["line"] for column in widgets.attach(data).facts["columns"] for one in column["asks"]]
    assert len(lines) == 4 + 3 + 3
    for line in lines:
        read = price_of(f"%%dp epsilon=0.5\n{line}", Snapshot.of({"small": data}))
        assert (read.status, read.label) == ("priced", "ε 0.5"), line


def test_questions_are_written_with_the_notebook_s_own_name(data):
    """A dataset that the notebook calls otherwise is asked under that name; what is no name is refused."""
    facts = widgets.attach(data, name="mine").facts
    assert facts["handle"] == "mine"
    assert facts["columns"][0]["asks"][0]["line"] == "average_x = mine.x.mean()"
    with pytest.raises(OptionError, match="name= is"):
        widgets.attach(data, name="not a name")


def test_a_column_that_is_no_attribute_is_written_in_brackets():
    """Spaces, keywords of the handle and quotes keep a column from being an attribute, never from being asked."""
    assert subject("hiv", "age") == "hiv.age"
    assert subject("hiv", "number of visits") == 'hiv["number of visits"]'
    assert subject("hiv", "count") == 'hiv["count"]'
    assert subject("hiv", "_x") == 'hiv["_x"]'
    assert subject("hiv", 'a"b') == 'hiv["a\\"b"]'


def test_a_column_alone_in_its_dataset_is_not_compared():
    """Without another column that tells two groups apart no difference is offered."""
    declared = {**small.declared(), "columns": {"x": {"type": "integer", "lower": 0, "upper": 10}}}
    schema = load(declared).schema
    assert [one["words"] for one in ready(schema, schema.columns[0], "s")] == [
        "average",
        "middle",
        "histogram",
    ]


def test_the_budget_follows_the_ledger(data):
    """A release anywhere in the session is in the bar after the next refresh."""
    card = widgets.attach(data)
    assert card.facts["dataset"]["spent"] == 0
    dpnb.release({"m": data.x.mean()}, epsilon=1)
    _base.refresh_all()
    assert card.facts["dataset"]["spent"] == 1.0
    assert len(card.facts["dataset"]["ledger"]) == 2


def test_its_still_form_is_the_attach_card(data):
    """Where nothing can be dragged the card of dpnb.open stands."""
    assert widgets.attach(data).card().html == attach_card(data.schema, data.budget, data.notes).html


def test_many_columns_are_cut_and_counted(dpnb_home):
    """A thousand columns are listed, the others are counted: what crosses to the browser stays bounded."""
    columns = {f"c{i}": {"type": "integer", "lower": 0, "upper": 10} for i in range(1_200)}
    schema = load({**small.declared(), "columns": columns}).schema
    service = small.curator(dpnb_home)
    here = small.session(service, "ann")
    rows = {name: np.ones(small.ROWS) for name in columns}
    data = here.attach(hand_over(rows, schema, Home(dpnb_home)))
    facts = widgets.attach(data).facts
    assert (len(facts["columns"]), facts["more"]) == (1_000, 200)
    assert len(facts["rows"][0]) <= 8
    service.close()


@pytest.mark.parametrize("wrong", [3, None, "small"])
def test_it_takes_a_dataset_alone(wrong):
    """Anything else is refused with what to write."""
    with pytest.raises(PlanError, match=r"dpnb\.widgets\.attach\(hiv\)"):
        widgets.attach(wrong)
