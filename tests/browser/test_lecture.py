"""The lecture view on a screen: what a room sees from the last row, and what a presenter's remote moves."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dpnb import widgets

SIZES = """() => [...document.querySelectorAll('.dpnb-w *')].filter(
    node => node.checkVisibility() && node.clientHeight !== 1 && [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim()) &&
        !node.closest('desc, title, [aria-live]')
).map(node => {
    const size = parseFloat(getComputedStyle(node).fontSize);
    const svg = node.ownerSVGElement;
    return svg ? size * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : size;
})"""


@pytest.fixture
def page(show):
    """A lecture in a page without a kernel."""
    made = widgets.lecture(share=0.34, title="How many students cheat?")
    made.complete()
    return show(made, width=1400)


def test_a_room_can_read_it_and_there_is_little_to_read(page):
    """No letter is smaller than 18 px, and at most forty words and numbers are seen besides the ticks."""
    assert min(page.evaluate(SIZES)) >= 17.9
    seen = page.locator(".dpnb-w").evaluate(
        "e => { const copy = e.cloneNode(true); copy.querySelectorAll('svg, [aria-live], [hidden]').forEach(n => n.remove());"
        " return copy.textContent; }"
    )
    assert len(re.findall(r"[\w.,%]+", seen)) <= 40


def test_a_remote_moves_the_handle_and_the_axis_stays(page):
    """Page Down and Page Up move ε; the intervals follow on an axis that does not."""
    slider = page.get_by_role("slider", name="ε")
    ticks = page.locator("svg text").all_inner_texts()
    own = page.locator("svg").nth(1).locator("path.pv-line").first
    before = own.get_attribute("d")
    slider.focus()
    page.keyboard.press("PageUp")
    expect(page.get_by_label("ε, typed")).to_have_value("0.14")
    expect(own).not_to_have_attribute("d", before)
    assert page.locator("svg text").all_inner_texts() == ticks
    page.keyboard.press("PageDown")
    expect(page.get_by_label("ε, typed")).to_have_value("0.3")
    expect(own).to_have_attribute("d", before)


def test_at_a_small_loss_bars_leave_the_picture_with_arrowheads(page):
    """What is wider than the picture says so."""
    page.get_by_label("ε, typed").fill("0.01")
    page.get_by_label("ε, typed").press("Enter")
    bars = page.locator("svg").nth(1).locator("path.pv-line").first
    expect(bars).to_have_attribute("d", re.compile(r"l6 -6l6 6"))
