"""The guide of hospital visits, executed cell by cell: from two raw files to answers from one budget."""

from __future__ import annotations

from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from dpnb.client import api
from tests.notebook.conftest import Notebook

GUIDE = Path(__file__).parents[2] / "notebooks" / "guides" / "hospital-visits.ipynb"


@pytest.mark.slow
def test_the_guide_leads_from_two_files_to_answers_from_one_budget(shell, tmp_path, monkeypatch, capfd):
    """Its figures are near the files' own, a second budget for the visits is refused, and a pool is what it takes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "owner-home"))
    notebook = Notebook(shell, None)
    for cell in nbformat.read(GUIDE, as_version=4).cells:
        if cell.cell_type == "code":
            notebook(cell.source)
    names = shell.user_ns
    people, rows = pd.read_csv("patients.csv"), pd.read_csv("visits.csv")
    held = names["often"].interval(1 - 1e-6, kind="privacy")
    assert held.low <= len(rows) / len(people) <= held.high
    each = rows.minutes.clip(0, 600).groupby(rows.person).sum().reindex(people.person, fill_value=0)
    older = np.minimum(each, 2000)[people.age.to_numpy() > 65].mean()
    held = names["long"].interval(1 - 1e-6, kind="privacy")
    assert held.low <= older <= held.high
    assert "attached before as protected data" in capfd.readouterr().out
    assert str(names["hospital"].budget.spent) == str(names["visits"].budget.spent) == "ε 2"
    api.close()
