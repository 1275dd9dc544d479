"""Whatever a column is called, what is written into a cell about it asks a question and does nothing else."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import dpnb
from dpnb import widgets
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import PlanError
from dpnb.trusted.wire.places import Home
from dpnb.widgets.host_questions import handle_of
from dpnb.widgets.model_builder import model
from tests.curator import small
from tests.widgets.notebooks import notebook

QUOTE = 'x"); stolen = open("keys"); ("'
PLAIN = 'a "great" deal'
GROUP = 'g"); stolen = 1 #'


@pytest.fixture
def data(dpnb_home):
    """A dataset whose columns have names that would end a line of a cell, were they put there as they are."""
    number = {"type": "integer", "lower": 0, "upper": 10}
    columns = {QUOTE: number, PLAIN: number, "class": number, GROUP: {"type": "category", "values": [0, 1]}}
    schema = load({**small.declared(epsilon=1), "columns": columns}).schema
    rows = {name: np.ones(small.ROWS) for name in columns}
    service = small.curator(dpnb_home)
    yield small.session(service, "ann").attach(hand_over(rows, schema, Home(dpnb_home)))
    service.close()


def asks_alone(body):
    """Tell whether every statement of a body names something, with calls on the dataset or on such names alone."""
    named = {"small"}
    for line in ast.parse(body).body:
        if any(isinstance(node, ast.Name) and node.id not in named for node in ast.walk(line.value)):
            return False
        named |= {line.targets[0].id} if isinstance(line, ast.Assign) else set()
    return "stolen" not in named


def test_the_cell_of_a_model_asks_moments_and_nothing_else(data):
    """A quote in a column's name stays inside the text that names the column."""
    cell = model(data, "small", {"y": "class", "x": [PLAIN]})["cell"]
    magic, _, body = cell.partition("\n")
    assert magic == "%%dp epsilon=0.5"
    assert asks_alone(body)
    assert len(body.splitlines()) == 3


def test_a_name_that_a_formula_would_read_otherwise_is_refused(data):
    """A formula knows names, + and ~: a column whose name has more in it is no part of one."""
    with pytest.raises(PlanError, match="cannot name"):
        model(data, "small", {"y": "class", "x": [QUOTE]})


def test_a_plan_is_written_as_its_questions_and_nothing_else(data):
    """The bodies that a plan's buttons leave behind ask what was planned."""
    plan = dpnb.plan({"m": data[QUOTE].mean(), "d": data[PLAIN].difference(by=GROUP)}, epsilon=15)
    bodies = [way["cell"].partition("\n")[2] for way in widgets.budget(plan).facts["ways"]]
    bodies.append(widgets.plan(plan).facts["body"])
    for body in filter(None, bodies):
        assert asks_alone(body), body


def test_every_ready_question_is_one_question(data):
    """What the attach card and the panel offer is one line that names one answer, a keyword among the columns or not."""
    for column in widgets.attach(data).facts["columns"]:
        for ready in column["asks"]:
            (line,) = ast.parse(ready["line"]).body
            assert isinstance(line, ast.Assign)
            assert asks_alone(ready["line"])


def test_a_dataset_is_not_called_by_a_name_that_moves_on(data):
    """``_`` holds the last result: after the next cell it is another thing."""
    with notebook({"_": data, "_3": data, "study": data}):
        assert handle_of(data) == "study"
