"""The depositor's guide, executed cell by cell: from a raw file to a closed dataset with a published page."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.wire.places import Home
from tests.notebook.conftest import Notebook

GUIDE = Path(__file__).parents[2] / "notebooks" / "guides" / "depositor.ipynb"


@pytest.mark.slow
def test_the_guide_leads_from_a_file_to_a_closed_dataset_with_a_published_page(
    shell, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "owner-home"))
    notebook = Notebook(shell, None)
    cells = [cell.source for cell in nbformat.read(GUIDE, as_version=4).cells if cell.cell_type == "code"]
    for source in cells:
        notebook(source)
    api.close()
    with Ledger(Home(tmp_path / "owner-home").ledger) as ledger:
        kinds = [row.kind for row in ledger.statement("malawi")]
        assert kinds == ["attach", "charge", "charge", "close", "publish"]
        assert ledger.state("malawi") == "closed"
        assert str(ledger.spent("dataset:malawi")) == "ε 1.7"
    out = tmp_path / "published"
    assert (out / "malawi.html").stat().st_size > 20_000
    assert main(["verify", str(out / "malawi.releases.json"), "--key", str(out / "malawi.pub")]) == 0
    found = dpnb.open(out / "malawi.releases.json")
    low, high = found.got.difference(by="any").interval()
    assert 0.2 < low < high < 0.7  # the study's effect is 0.45
    assert "was not published. Published were: malawi.count()" in capfd.readouterr().out
