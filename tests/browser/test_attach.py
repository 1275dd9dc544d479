"""The attach card under a real hand: columns are opened and searched, questions are taken by click and by Enter."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dpnb import widgets


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (800, "dark"), (320, "dark")])
def test_a_question_is_taken_by_mouse_and_by_key(show, data, shots, width, scheme):
    """A column opens to what it can be asked; a click, or Enter, offers the line to the notebook around the card."""
    page = show(widgets.attach(data), width=width, scheme=scheme)
    page.evaluate(
        """() => {
            window.taken = [];
            document.addEventListener('dpnb:insert', e => { window.taken.push(e.detail.line); e.preventDefault(); });
        }"""
    )
    column = page.get_by_role("button", name="x", exact=True)
    expect(column).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("button", name="average")).to_have_count(0)
    column.focus()
    column.press("Enter")
    expect(column).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="average").click()
    expect(page.locator("[role=status]", has_text="Written into")).to_be_visible()
    middle = page.get_by_role("button", name="middle")
    middle.focus()
    middle.press("Enter")
    expect(page.locator("[role=status]", has_text="middle_x")).to_be_visible()
    assert page.evaluate("window.taken") == ["average_x = small.x.mean()", "middle_x = small.x.median()"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shots(page, f"attach-open-{width}-{scheme}", full_page=True)


def test_without_a_notebook_the_line_is_shown_to_copy(show, data):
    """On a page of its own nobody takes the line: it is on the clipboard, or there to be copied."""
    page = show(widgets.attach(data))
    page.get_by_role("button", name="g", exact=True).click()
    page.get_by_role("button", name="how many in each group").click()
    said = page.locator("[role=status]", has_text="people_by_g = small.g.value_counts()")
    expect(said).to_contain_text("%%dp plan epsilon=0.5")


def test_a_script_takes_nothing(show, data):
    """A click that no person made writes nothing into the notebook."""
    page = show(widgets.attach(data))
    page.get_by_role("button", name="x", exact=True).click()
    page.evaluate(
        """() => {
            window.taken = 0;
            document.addEventListener('dpnb:insert', () => { window.taken += 1; });
            for (const button of document.querySelectorAll('tr.below button')) button.click();
        }"""
    )
    assert page.evaluate("window.taken") == 0
