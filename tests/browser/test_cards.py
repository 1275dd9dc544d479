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
    button = card.get_by_role("button", name="more ε for older")
    expect(button).to_have_attribute("aria-expanded", "false")
    lab.shot("card-closed")
    button.click()
    shown = card.locator(".figures strong").first
    expect(shown).to_contain_text("± ")
    lab.shot("card-open")


def test_look(cards):
    """Look."""
    lab = cards(
        "look.ipynb",
        "%%dp epsilon=0.1\nyoung = hiv[hiv.age < 41].got.mean()",
        "%%dp epsilon=0.1\nyoung = hiv[hiv.age < 41].got.mean()\nage = hiv[hiv.age < 41].age.mean()\ngap=young-0.5\nby=hiv[hiv.age<41].groupby('any').got.mean()",
        "young = young.remeasure(epsilon=0.2)\nyoung",
    )
    for width in (1360, 500):
        lab.page.set_viewport_size({"width": width, "height": 1500})
        if width == 500:
            lab.command("application:toggle-left-area")
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            lab.theme(theme)
            lab.output(2).scroll_into_view_if_needed()
            lab.output(2).screenshot(path=lab.shots / f"look-{width}-{theme.split()[-1]}-closed.png")
            d = lab.output(2).locator("summary").first
            d.click()
            b = lab.output(2).get_by_role("button", name="more ε for age")
            b.click()
            expect(lab.output(2).locator(".figures strong").first).to_be_visible()
            lab.output(3).get_by_role("button").first.click()
            expect(lab.output(3).locator(".figures strong").first).to_be_visible()
            lab.output(2).screenshot(path=lab.shots / f"look-{width}-{theme.split()[-1]}-open.png")
            d.click()
            b.click()
            lab.output(3).get_by_role("button").first.click()
