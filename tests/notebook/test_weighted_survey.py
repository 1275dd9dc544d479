"""The guide of a weighted survey, executed cell by cell: from a file to a card, within ε = 1."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from dpnb.client import api
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

GUIDE = Path(__file__).parents[2] / "notebooks" / "guides" / "weighted-survey.ipynb"


def test_the_guide_runs_and_its_answers_hold_what_is_true(shell, tmp_path, monkeypatch, capsys):
    """Both intervals of the weighted mean are about its own truth, which the unweighted mean misses by far."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(shell, None)
    for cell in nbformat.read(GUIDE, as_version=4).cells:
        if cell.cell_type == "code":
            notebook(cell.source)
    names = shell.user_ns
    mean, asked, survey = names["mean"], names["asked"], names["survey"]
    weights, income = names["weight"], names["income"]
    exact = float((weights * income).sum() / weights.sum())
    low, high = mean.interval(1 - 1e-7, kind="privacy")
    assert low <= exact <= high
    low, high = asked.interval(0.95, kind="privacy")
    assert not low <= exact <= high
    assert mean.interval().low < mean.value < mean.interval().high
    assert names["regions"].shape == (2,)
    assert survey.budget.remaining.amount == 0
    api.close()
    assert "weights_fixed = true under [columns.income]" in capsys.readouterr().out
