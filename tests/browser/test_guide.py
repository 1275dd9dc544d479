"""The guide under a real hand: five screens by mouse and by key, and the cell at the end is the one that was chosen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.widgets import _base

pytestmark = pytest.mark.skipif(not _base.built(), reason="the front end is not built")


@pytest.fixture
def guide(data):
    """A guide whose question is priced already: a page alone has no kernel to ask."""
    made = widgets.guide(data)
    made.chosen = {"goal": "average", "column": "x"}
    return made


@pytest.mark.parametrize(("width", "scheme"), [(1000, "light"), (320, "dark")])
def test_five_screens_lead_to_the_cell(show, guide, shots, width, scheme):
    page = show(guide, width=width, scheme=scheme)
    following = page.get_by_role("button", name="Next")
    expect(page.get_by_role("radio", name="the average of a number")).to_be_checked()
    seen = []
    for screen in range(5):
        page.screenshot(path=shots / f"guide-{screen + 1}-{width}-{scheme}.png")
        seen.append(page.locator("[aria-current=step]").inner_text())
        if screen == 3:
            slider = page.get_by_role("slider", name="ε", exact=True)
            slider.focus()
            slider.press("ArrowRight")
            assert "would be left" in slider.get_attribute("aria-valuetext")
        if screen < 4:
            following.click()
    assert len(set(seen)) == 5
    cell = page.locator("pre").inner_text()
    assert cell.startswith("%%dp epsilon=")
    assert cell.endswith("average_x = small.x.mean()")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Release").click()
    left_behind = page.get_by_role("textbox", name="the cell that releases this")
    expect(left_behind).to_be_visible()
    assert left_behind.input_value() == cell


def test_a_screen_is_left_only_when_its_choice_is_made(show, data):
    """Without a choice Next is off and says why; keys choose and go on; going back keeps what was chosen."""
    page = show(widgets.guide(data))
    following = page.get_by_role("button", name="Next")
    expect(following).to_be_disabled()
    expect(page.get_by_role("status").first).to_contain_text("Choose what you want to know")
    first = page.get_by_role("radio").first
    first.focus()
    first.press("Space")
    expect(following).to_be_enabled()
    following.press("Enter")
    expect(page.get_by_role("radio").first).to_be_focused()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("radio", name="the average of a number")).to_be_checked()
