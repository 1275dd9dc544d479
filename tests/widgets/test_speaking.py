"""What is written into a cell speaks of datasets and answers by the names that the notebook gave them, and runs there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import dpnb
from dpnb import widgets
from dpnb.client.session import typed
from dpnb.estimate import Estimate
from dpnb.trusted.wire.messages import Attach, FileSource, HandOver, StudySource
from dpnb.widgets.host_questions import handle_of, opening, spoken
from dpnb.widgets.model_builder import model
from dpnb.widgets.snapshot import attach_facts, dataset_record
from tests.widgets import notebooks


@pytest.fixture
def notebook():
    """The names of a notebook that has loaded dpnb."""
    names = {}
    with notebooks.notebook(names):
        yield names


def guided(data):
    """What the last screen of the guide shows."""
    guide = widgets.guide(data)
    guide.chosen = {"goal": "difference", "column": "x", "by": "g"}
    return guide.facts["plan"]["code"]


def planned(data, epsilon):
    """A plan of a question, a part of the rows, and a derived value."""
    items = {"m": data.x.mean(), "part": data[data.x > 3].count(), "ratio": 1 - data.x.mean() / data.y.mean()}
    return dpnb.plan(items, epsilon=epsilon, assume_n=40)


def remeasured(view):
    """The cell that a forecast leaves behind."""
    name, kind = view["name"], view["kind"]
    return f"{name} = {name}.remeasure({kind}=0.1)"


WRITERS = {
    "guide": guided,
    "plan board": lambda data: widgets.plan(planned(data, 1)).facts["body"],
    "budget bar": lambda data: widgets.budget(planned(data, 50)).facts["ways"][0]["cell"],
    "model builder": lambda data: model(data, handle_of(data), {"y": "x", "x": ["y"]})["cell"],
    "questions of the panel": lambda data: dataset_record(data)["columns"][0]["asks"][0]["line"],
    "questions of the attach card": lambda data: attach_facts(data)["columns"][0]["asks"][0]["line"],
}


def built(cell, names):
    """Run the body of a cell, as the notebook would; return what it built."""
    body = cell.partition("\n")[2] if cell.startswith("%%dp") else cell
    before = dict(names)
    exec(body, names)
    return {
        name: one for name, one in names.items() if before.get(name) is not one and isinstance(one, Estimate)
    }


@pytest.mark.parametrize("writer", WRITERS)
def test_a_written_cell_calls_the_dataset_as_the_notebook_does(data, notebook, writer):
    """Where the handle has another name than the dataset, the written cell runs and asks that handle."""
    notebook |= {"mine": data, "small": "something else"}
    found = built(WRITERS[writer](data), notebook)
    assert found
    assert all(leaf.dataset is data for one in found.values() for leaf in one.leaves())
    assert notebook["small"] == "something else"
    assert not data.budget.spent


@pytest.mark.parametrize("writer", ["guide", "plan board", "budget bar", "model builder"])
@pytest.mark.parametrize("taken", [False, True])
def test_a_cell_about_a_dataset_without_a_name_opens_it(data, notebook, writer, taken):
    """No name of the notebook holds it: the cell begins with the line that gives it one, and takes none that is in use."""
    data.session._sources[data.handle] = Attach(source=StudySource(name="small"), mode="guard-rail")
    other = data[data.x > 3]
    notebook |= {"dpnb": SimpleNamespace(open=lambda what, mode: data if what == "small" else mode)}
    notebook |= {"small": other} if taken else {}
    assert built(WRITERS[writer](data), notebook)
    assert notebook["small_" if taken else "small"] is data
    assert notebook["small"] is (other if taken else data)


@pytest.mark.parametrize(
    "look", [lambda one: widgets.remeasure(one).facts, lambda one: widgets.stored(one).facts["more"]]
)
def test_an_answer_is_measured_again_under_the_name_that_holds_it(data, notebook, look):
    """The cell that pays more assigns to the notebook's own name, found by the answer that it holds."""
    answer = dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]
    notebook |= {"_": answer, "effect": answer}
    built(remeasured(look(answer)), notebook)
    assert notebook["effect"] is not answer
    assert len(notebook["effect"].releases) == 2


def test_rows_that_only_the_kernel_held_cannot_be_opened_by_a_line(data, notebook):
    """A frame has no line that opens it: the cell says so in a comment, and names what it needs."""
    assert opening(data) == "# the dataset has no name here yet: small = dpnb.open(…)\n"
    assert notebook == {}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (Attach(source=StudySource(name="hiv")), 'dpnb.open("hiv")'),
        (
            Attach(source=FileSource(path="/a/b.csv", schema_path="/a/b.toml")),
            'dpnb.open("/a/b.csv", schema="/a/b.toml")',
        ),
        (Attach(source=FileSource(path="/a/b.csv", schema=b"{}")), None),
        (Attach(source=HandOver(file="0" * 32 + ".npz", schema=b"{}")), None),
        (None, None),
    ],
)
def test_a_dataset_is_opened_again_as_it_was_typed(asked, text):
    """A study by its name, a file by its path and the schema beside it; a declaration in memory by nothing."""
    assert typed(asked) == text


def test_only_the_name_of_the_dataset_is_spoken_otherwise(data, notebook):
    """A column or a text that reads like the dataset's name stays."""
    notebook["größe"] = data
    text = 'small[small.small == "small"].x.mean() / small.y.mean()'
    assert spoken(text, data) == 'größe[größe.small == "small"].x.mean() / größe.y.mean()'
    assert spoken("small.x.mean(", data) == "small.x.mean("
