"""The demonstration: the tour executed in a fresh home, and one page of it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from dpnb.notebook import demo

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Run the demonstration in a folder that holds the tour alone."""
    root = tmp_path_factory.mktemp("demo")
    (root / demo.TOUR).parent.mkdir()
    shutil.copy(ROOT / demo.TOUR, root / demo.TOUR)
    assert demo.main(root) == 0
    return root


def test_every_cell_ran_and_one_was_refused_on_purpose(made):
    """The executed tour has one error, the refusal that it announces, and it is short."""
    notebook = nbformat.read(made / demo.FOLDER / demo.TOUR.name, as_version=4)
    errors = [o for cell in notebook.cells for o in cell.get("outputs", ()) if o.output_type == "error"]
    assert [error.ename for error in errors] == ["BudgetError"]
    assert errors[0].evalue.endswith("Nothing was spent.")
    assert len(errors[0].traceback) <= 2
    assert "widgets" not in notebook.metadata


def test_no_output_is_blank_and_no_machine_is_named(made):
    """Every output of the saved tour has text; cards also have HTML."""
    text = (made / demo.FOLDER / demo.TOUR.name).read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    data = [o.data for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert all(bundle["text/plain"].strip() for bundle in data)
    cards = [bundle for bundle in data if any(kind.startswith("application/vnd.dpnb.") for kind in bundle)]
    assert len(cards) >= 6
    assert all(bundle["text/html"].strip() for bundle in cards)
    assert str(ROOT) not in text
    json.loads(text)


def test_the_tour_spends_what_its_text_says(made):
    """ε 1, then 0.2 for one more line, then 0.5: the budget says 1.7, and each charge is in the ledger."""
    notebook = nbformat.read(made / demo.FOLDER / demo.TOUR.name, as_version=4)
    budget, ledger = (
        next(cell for cell in notebook.cells if cell.source == source).outputs[0].data["text/plain"]
        for source in ("%dp budget", "%dp ledger hiv")
    )
    assert "ε 1.7" in budget
    assert "ε 2.3" in budget
    assert {"ε 1", "ε 0.2", "ε 0.5"} <= set(re.findall(r"ε [\d.]+", ledger))


def test_the_page_is_one_file_without_a_network(made):
    """``demo.html`` names no address that it would load from."""
    page = (made / demo.PAGE).read_text(encoding="utf-8")
    assert "<html" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", page)
    assert "people" in page


def test_a_failing_tour_is_a_sentence_and_a_status(tmp_path, capsys):
    """Without a tour the demonstration says what stopped it, and returns 1."""
    assert demo.main(tmp_path) == 1
    assert "demo stopped: FileNotFoundError" in capsys.readouterr().err
