"""The guided analysis, executed cell by cell: a whole study within ε = 1, written up and archived."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import nbformat
import pytest
from matplotlib.figure import Figure

import dpnb
from dpnb.client import api
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

ANALYSIS = Path(__file__).parents[2] / "notebooks" / "02-analysis.ipynb"


def test_the_analysis_runs_within_its_budget_and_packs_its_study(shell, tmp_path, monkeypatch, capsys):
    """No cell raises; the ledger has charged no more than ε 1 and nothing twice; the archive opens with every result."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(shell, None)
    cells = [cell.source for cell in nbformat.read(ANALYSIS, as_version=4).cells if cell.cell_type == "code"]
    for source in cells + cells:  # Restart and Run All is free
        notebook(source)
    names = shell.user_ns
    rows = [row for row in names["cps"].session.ledger_rows(names["cps"]) if row["kind"] == "charge"]
    spent = sum((row["loss"] for row in rows), PrivacyLoss.zero(rows[0]["loss"].measure))
    study = dpnb.archive.read(tmp_path / "analysis.zip")
    api.close()
    assert len(rows) == 3
    assert Fraction(99, 100) < spent.amount <= 1
    assert set(study.results) == {"earnings", "quarters", "schooling", "by_degree", "married", "fit"}
    assert study.tables["fit"]["term"][:3] == ("Intercept", "age", "(age - 40)**2")
    assert sum(cell.startswith("%%dp epsilon=") for cell in study.cells) >= 3
    assert isinstance(names["figure"], Figure)
    assert (tmp_path / "analysis.html").stat().st_size > 10_000
    assert "clamped to declared bounds" in capsys.readouterr().out
