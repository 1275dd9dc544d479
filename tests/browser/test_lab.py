"""JupyterLab itself: the ground that every other browser test stands on."""

from __future__ import annotations

from playwright.sync_api import expect


def test_cells_run_and_their_outputs_are_drawn(lab):
    """A notebook opens, runs in a real kernel, and shows text and HTML outputs without a page error."""
    lab.server.notebook(
        "smoke.ipynb",
        [
            "6 * 7",
            "from IPython.display import HTML; HTML('<b id=\"bold\">seen</b>')",
            "import os; os.environ['DPNB_HOME']",
        ],
    )
    lab.show("smoke.ipynb")
    lab.run_all()
    expect(lab.output(0)).to_have_text("42")
    expect(lab.page.locator("#bold")).to_have_text("seen")
    expect(lab.output(2)).to_contain_text(str(lab.server.home))
    assert len(lab.page.screenshot()) > 10_000
