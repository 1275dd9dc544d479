"""The gallery, executed cell by cell: with the front end, and in the environment of `make demo`, which has none."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from dpnb.client import api
from dpnb.widgets import _base
from dpnb.widgets.registry import INTERACTIONS
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

GALLERY = Path(__file__).parents[2] / "notebooks" / "01-gallery.ipynb"


@pytest.fixture(params=[True, False], ids=["built", "not built"])
def front_end(request, monkeypatch):
    """Whether the front end is there, pretended."""
    monkeypatch.setattr(_base, "source", lambda _: "/* made up */" if request.param else None)
    return request.param


def test_the_gallery_has_a_screen_for_each_interaction():
    """Whoever adds one shows it there: by its name in dpnb.widgets, or by its line."""
    code = "\n".join(
        cell.source for cell in nbformat.read(GALLERY, as_version=4).cells if cell.cell_type == "code"
    )
    shown = {
        entry.name
        for entry in INTERACTIONS
        if re.search(rf"widgets\.{entry.public}\(|^%dp {entry.name}\b", code, re.MULTILINE)
    }
    assert shown == {entry.name for entry in INTERACTIONS}


def test_every_cell_of_the_gallery_runs(shell, front_end, tmp_path, monkeypatch, capsys):
    """No cell raises; the last writes its page, with or without a front end."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(shell, None)
    cells = nbformat.read(GALLERY, as_version=4).cells
    shown = [notebook(cell.source) for cell in cells if cell.cell_type == "code"]
    own = {"plan", "attach", "exhibits"}  # whose still form is a card that stands for itself
    made = [one for one in shown if isinstance(one, _base.Interaction) and one.module not in own]
    said = {one.module: "not installed here" in one.card().html for one in made}
    api.close()
    page = tmp_path / "interactions.html"
    assert "written to interactions.html" in capsys.readouterr().out
    assert ("VIEWS" in page.read_text()) is front_end
    assert len(said) >= 7
    assert set(said.values()) == {not front_end}, said
