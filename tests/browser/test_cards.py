"""Cards alive in JupyterLab: each released line can show what paying more would buy, in place; nothing is spent by looking."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT

pytestmark = pytest.mark.skipif(
    not (ROOT / "labextension/dist/dpnb/package.json").is_file(), reason="the front end is not built"
)
START = '%load_ext dpnb\nimport dpnb\nhiv = dpnb.open("hiv", mode="guard-rail")'


@pytest.fixture
def cards(lab):
    """Open a notebook whose cells have run, and end its kernel afterwards."""

    def open_(name, *cells):
        lab.server.notebook(name, [START, *cells])
        lab.open(name)
        lab.run_all()
        return lab

    yield open_
    lab.shutdown()


def test_a_line_shows_in_place_what_more_would_buy(cards):
    """A button opens the forecast under its line; dragging narrows it; Release runs the cell, whose card has the trail."""
    lab = cards("thumb.ipynb", "%%dp epsilon=0.1\nolder = hiv[hiv.age > 41].got.mean()")
    card = lab.output(1)
    expect(card.locator(".dpnb .line")).to_have_count(1)
    button = card.get_by_role("button", name="pay more for older")
    expect(button).to_have_attribute("aria-expanded", "false")
    lab.shot("card-closed")
    button.click()
    shown = card.locator(".figures strong").first
    expect(shown).to_contain_text("± ")
    lab.shot("card-open")
