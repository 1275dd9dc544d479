"""The guide under a real hand: five screens by mouse and by key, and the cell at the end is the one that was chosen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dpnb import widgets


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
        shots(page, f"guide-{screen + 1}-{width}-{scheme}")
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


def test_a_page_without_a_kernel_leads_to_every_cell(show, data):
    """An exported page prices what is chosen there: never the question that was chosen before, and the cell is that of the choice."""
    made = widgets.guide(data)
    made.chosen = {"goal": "average", "column": "x"}
    page = show(made)
    following = page.get_by_role("button", name="Next")
    for goal, column, by, cell in (
        ("the middle value", "x", "", "middle_x = small.x.median()"),
        ("whether two groups differ", "x", "y", 'effect_on_x = small.x.difference(by="y")'),
        ("the average of a number", "x", "", "average_x = small.x.mean()"),
    ):
        page.get_by_role("radio", name=goal).check()
        following.click()
        page.get_by_role("group", name="Of which column?").locator(f"[value={column}]").check()
        if by:
            page.get_by_role("group", name="Between which two groups?").locator(f"[value={by}]").check()
        following.click()
        following.click()
        expect(page.get_by_role("slider", name="ε", exact=True)).to_be_visible()
        following.click()
        expect(page.locator("pre")).to_have_text(re.compile(f"^%%dp epsilon=0.5\n{re.escape(cell)}$"))
        for _ in range(4):
            page.get_by_role("button", name="Back").click()
