"""The gallery, executed cell by cell: with the front end, and in the environment of `make demo`, which has none."""

from __future__ import annotations

import nbformat
import pytest
from dpnb_site import live

from dpnb.client import api
from dpnb.widgets import _base
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

GALLERY = live.NOTEBOOK


@pytest.fixture(params=[True, False], ids=["built", "not built"])
def front_end(request, monkeypatch):
    """Whether the front end is there, pretended."""
    monkeypatch.setattr(_base, "source", lambda _: "/* made up */" if request.param else None)
    return request.param


def test_the_gallery_has_a_screen_for_each_interaction():
    """By its name in dpnb.widgets, or by its line; ``make reference`` adds what is missing, from the page of the gallery."""
    notebook = nbformat.read(GALLERY, as_version=4)
    assert live.without_screen(notebook) == []
    few = {**notebook, "cells": [cell for cell in notebook["cells"] if "seesaw" not in cell["source"]]}
    assert live.without_screen(few) == ["seesaw"]
    assert live.without_screen(live.with_screens(few)) == []


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
