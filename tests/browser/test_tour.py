"""The tour, run as a newcomer runs it: in JupyterLab, from the first cell to the last."""

from __future__ import annotations

import re
import shutil

from playwright.sync_api import expect

from tests.browser.conftest import ROOT

TOUR = ROOT / "notebooks" / "00-tour.ipynb"
ON_PURPOSE = "epsilon=100"  # the tour shows one refusal


def test_tour_runs_in_jupyterlab(lab):
    """Every cell of the tour succeeds but the one that shows a refusal; no page error, no traceback."""
    shutil.copy(TOUR, lab.server.work / "tour.ipynb")
    lab.show("tour.ipynb")
    sources = lab.page.evaluate(
        "() => [...window.jupyterapp.shell.currentWidget.content.widgets].map(c => [c.model.type, c.model.sharedModel.source])"
    )
    code = [index for index, (kind, source) in enumerate(sources) if kind == "code" and source.strip()]
    for index in code:
        lab.run_cell(index)
    expect(lab.cell(code[-1]).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))
    faults = '[data-mime-type$="stderr"], [data-mime-type$="error"]'
    failed = {
        index: "\n".join(lab.cell(index).locator(faults).all_inner_texts())[-600:]
        for index in code
        if lab.cell(index).locator(faults).count()
    }
    refused = [index for index in code if ON_PURPOSE in sources[index][1]]
    assert list(failed) == refused, failed
    for index in refused:
        expect(lab.output(index).last).to_contain_text("Nothing was spent")
