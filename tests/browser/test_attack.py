"""The attack bench under a hand: attacks and publications are chosen, ε is dragged, and the words follow; no kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.audit.attacks.benches import bench
from dpnb.widgets import _base
from tests.browser.test_interactions import drag_to, frame, range_of

pytestmark = pytest.mark.skipif(not _base.built(), reason="the front end is not built")


@pytest.fixture(scope="module")
def laid():
    """Every attack, computed once."""
    return widgets.attack_bench("reconstruction").run()


def test_dragging_epsilon_raises_what_is_recovered(show, laid):
    """At the left end guessing is all; at the right end everything is recovered; the words for the ear agree."""
    page = show(laid)
    slider, shown = range_of(page, "ε"), page.locator("table.bars strong").last
    drag_to(page, slider, 0.01)
    frame(page)
    assert int(shown.inner_text().split()[0]) <= 55
    expect(page.locator("[aria-live]")).to_contain_text("no attack can expect more than")
    drag_to(page, slider, 0.99)
    frame(page)
    assert shown.inner_text() == "100 %"
    assert "100 % recovered" in slider.get_attribute("aria-valuetext")


def test_the_button_goes_to_the_epsilon_that_stops_the_attack(show, laid):
    """It names the attack's own ε, and moves the slider there."""
    page = show(laid)
    page.get_by_role("button", name="pulls it down").click()
    frame(page)
    found = bench("reconstruction").falls("dp")
    assert float(page.get_by_label("ε, typed").input_value()) == pytest.approx(found)
    assert int(page.locator("table.bars strong").last.inner_text().split()[0]) <= 55


def test_a_publication_without_a_promise_says_so(show, laid):
    """Rounded answers have no bound beside them; noise in floats exceeds its own."""
    page = show(laid)
    page.get_by_label("rounded").check()
    frame(page)
    expect(page.locator("[aria-live]")).to_contain_text("Nothing is promised")
    page.get_by_label("attack", exact=True).select_option("floating point")
    page.get_by_label("noise in floats").check()
    frame(page)
    expect(page.locator("[aria-live]")).to_contain_text("does not keep its promise")
    expect(page.get_by_role("button", name="no ε shown here")).to_be_disabled()


def test_the_point_is_dragged_in_the_picture_and_stays_inside(show, laid):
    """The pointer moves ε; beyond the edge it stops at the largest."""
    page = show(laid)
    plot = page.locator("svg.plot")
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 40, steps=4)
    page.mouse.up()
    frame(page)
    assert float(page.get_by_label("ε, typed").input_value()) == 1000


def test_an_attack_that_was_not_computed_says_what_is_missing(show):
    """On a page without a kernel nothing is invented; what was computed comes back."""
    page = show(widgets.attack_bench("linkage"))
    chosen = page.get_by_label("attack", exact=True)
    chosen.select_option("averaging")
    expect(page.get_by_role("status").first).to_contain_text("The kernel computes this attack")
    assert not range_of(page, "ε").is_visible()
    chosen.select_option("linkage")
    expect(range_of(page, "ε")).to_be_visible()


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "light"), (320, "dark"), (1000, "light"), (1600, "dark")]
)
def test_every_attack_fits_its_window(show, laid, width, scheme):
    """From 320 to 1,600 pixels nothing sticks out sideways, whichever attack lies on the bench."""
    page = show(laid, width=width, scheme=scheme)
    for name in laid.facts["attacks"]:
        page.get_by_label("attack", exact=True).select_option(name)
        frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
