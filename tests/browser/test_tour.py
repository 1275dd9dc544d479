"""The tour, run as a newcomer runs it: in JupyterLab, from the first cell to the last."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT

TOUR = ROOT / "notebooks" / "00-tour.ipynb"
ON_PURPOSE = "epsilon=100"  # the tour shows one refusal


@pytest.fixture(scope="module")
def ran(file_lab, server):
    """Open the tour and run its code cells one by one, on past the refusal; the test that restarts its kernel is the last."""
    lab = file_lab
    shutil.copy(TOUR, server.work / "tour.ipynb")
    lab.show("tour.ipynb")
    sources = lab.page.evaluate(
        "() => [...window.jupyterapp.shell.currentWidget.content.widgets].map(c => [c.model.type, c.model.sharedModel.source])"
    )
    lab.code = [index for index, (kind, source) in enumerate(sources) if kind == "code" and source.strip()]
    lab.refused = [index for index in lab.code if ON_PURPOSE in sources[index][1]]
    lab.sources = [source for _, source in sources]
    for index in lab.code:
        lab.run_cell(index)
    return lab


@pytest.fixture
def tour(ran):
    """The tour as it ran; an error of the page fails the test."""
    yield ran
    assert ran.errors == []


def test_tour_runs_in_jupyterlab(tour):
    """Every cell of the tour succeeds but the one that shows a refusal; no page error, no traceback."""
    last = tour.code[-1]
    expect(tour.cell(last).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))
    faults = '[data-mime-type$="stderr"], [data-mime-type$="error"]'
    failed = {
        index: "\n".join(tour.cell(index).locator(faults).all_inner_texts())[-600:]
        for index in tour.code
        if tour.cell(index).locator(faults).count()
    }
    assert list(failed) == tour.refused, failed
    for index in tour.refused:
        expect(tour.output(index).last).to_contain_text("Nothing was spent")


def test_tour_cards_read_in_light_and_dark(tour):
    """The attach, plan and release cards are drawn, in both themes, and keep inside their cell."""
    cards = {
        "attach": next(i for i in tour.code if "dpnb.open(" in tour.sources[i]),
        "plan": next(i for i in tour.code if "%%dp plan" in tour.sources[i]),
        "release": next(i for i in tour.code if tour.sources[i].startswith("%%dp epsilon=1")),
    }
    tour.page.set_viewport_size({"width": 1360, "height": 2400})  # a whole card in one picture
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        tour.theme(theme)
        for name, index in cards.items():
            card = tour.cell(index).locator(".jp-OutputArea-output").last
            card.scroll_into_view_if_needed()
            expect(card).to_contain_text("ε")
            box, room = card.bounding_box(), tour.cell(index).bounding_box()
            assert box["x"] + box["width"] <= room["x"] + room["width"] + 1
            tour.shots(card, f"{name}-{theme.split()[-1].lower()}")
    tour.theme("JupyterLab Light")


def test_restart_and_run_all_is_free(tour):
    """After a kernel restart the budget is still spent, and running the release again charges nothing."""
    budget = next(i for i in tour.code if tour.sources[i].startswith("%dp budget"))
    before = tour.output(budget).last.inner_text()
    tour.restart()
    for index in tour.code:
        if index not in tour.refused and index <= budget:
            tour.run_cell(index)
    expect(tour.output(budget).last).to_contain_text(before.splitlines()[-1])
