"""The cell that an exhibit tells to type instead: each runs in a notebook, after the study was opened, in one budget."""

from __future__ import annotations

import pytest

from dpnb.client import api
from dpnb.exhibits import EXHIBITS
from dpnb.notebook import load
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(shell):
    """A shell with the study that the pages name."""
    load(shell)
    notebook = Notebook(shell, None)
    notebook('import dpnb\nhiv = dpnb.open("hiv", quiet=True)')
    yield notebook
    api.close()


def test_every_cell_runs_and_together_they_fit_the_study_s_budget(opened):
    """None raises; those that begin with %%dp release, the others spend nothing."""
    for name, cell in ((exhibit.name, exhibit.cell) for exhibit in EXHIBITS):
        before = opened("hiv.budget.spent.amount")
        opened(cell)
        spent = opened("hiv.budget.spent.amount") - before
        assert (spent > 0) is cell.startswith("%%dp"), name
