"""The exhibit gallery under a hand: searched, opened by name, turned by key, its lever dragged; no kernel, no network."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.exhibits import EXHIBITS, find
from dpnb.widgets.kinds.exhibits import Exhibits
from tests.browser.test_accessibility import serious
from tests.browser.test_interactions import drag_to, frame


@pytest.fixture(scope="module")
def gallery():
    """Every page with its lever, computed once."""
    return widgets.exhibits().run()


def heading(page):
    """Return the title of the page that is open."""
    return page.locator(".exhibit h3")


def open_page(page, title):
    """Open a page from the index."""
    page.get_by_role("button", name=title, exact=True).click()


def test_pages_are_turned_by_button_and_by_key(show, gallery):
    """Next, Previous and the arrow keys go on and back and stop at the ends; Escape goes to the index, onto the page's line."""
    page = show(gallery)
    open_page(page, EXHIBITS[0].title)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    expect(heading(page)).to_have_text(EXHIBITS[1].title)
    heading(page).focus()
    page.keyboard.press("ArrowRight")
    expect(heading(page)).to_have_text(EXHIBITS[2].title)
    expect(heading(page)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(heading(page)).to_have_text(EXHIBITS[1].title)
    expect(page.locator("[aria-live]").first).to_contain_text("2 of 23: The bootstrap")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=EXHIBITS[1].title)).to_be_focused()


def test_a_lever_is_moved_by_hand_and_by_key_and_the_page_stays(show, gallery):
    """Dragging says what is claimed and actual there, kept or broken; arrow keys on the lever move the lever, not the page."""
    page = show(gallery)
    open_page(page, "A sensitivity of zero at a zero bound")
    lever, said = page.get_by_role("slider"), page.locator(".lever [aria-live]")
    expect(said).to_have_text("ε: claimed 0.5, actual infinite, corrected 0.5. ✕ broken.")
    drag_to(page, lever, 0.99)
    frame(page)
    expect(said).to_contain_text("✓ kept")
    assert "actual 0.3125" in lever.get_attribute("aria-valuetext")
    lever.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("actual 5")
    expect(heading(page)).to_have_text("A sensitivity of zero at a zero bound")
    plot = page.locator("svg.plot").bounding_box()
    page.mouse.move(plot["x"] + plot["width"] / 2, plot["y"] + 40)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] + 300, plot["y"] + 40, steps=4)
    page.mouse.up()
    frame(page)
    expect(said).to_contain_text("actual 0.3125")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Previous").click()
    expect(said).to_contain_text("actual 0.3125")


def test_every_page_says_what_its_card_says(show, gallery):
    """Claim, source, both neighbours, both numbers, repair, price and cell stand on each of the 23 pages."""
    page = show(gallery)
    open_page(page, EXHIBITS[0].title)
    for exhibit in EXHIBITS:
        expect(heading(page)).to_have_text(exhibit.title)
        body, numbers = page.locator(".exhibit"), exhibit.numbers()
        for said in (exhibit.claim, exhibit.source, *exhibit.worlds, exhibit.why, exhibit.correction):
            expect(body).to_contain_text(said)
        expect(body).to_contain_text(exhibit.cost)
        labels = [table.get_attribute("aria-label") for table in body.locator("table.bars").all()]
        assert labels == [numbers.broken.text, numbers.corrected.text]
        assert (
            body.locator("code.cell").text_content()
            == gallery.facts["pages"][EXHIBITS.index(exhibit)]["cell"]
        )
        page.get_by_role("button", name="Next").click(force=True)


def test_an_address_names_a_page(show, gallery):
    """On a page of its own the address ends in the exhibit's name, and such an address opens it; another one does nothing."""
    page = show(gallery)
    open_page(page, find("float-sum").title)
    assert page.url.endswith("#exhibit=float-sum")
    page.evaluate("location.hash = 'exhibit=matching'")
    expect(heading(page)).to_have_text(find("matching").title)
    page.evaluate("location.hash = 'exhibit=%3Cb%3E'")
    frame(page)
    expect(heading(page)).to_have_text(find("matching").title)


def test_a_page_without_a_kernel_brings_every_lever(show):
    """A gallery of which nothing was opened becomes a page whose levers all move."""
    made = widgets.exhibits()
    page = show(made)
    open_page(page, find("rule-2.996").title)
    expect(page.get_by_role("slider")).to_be_visible()
    assert set(made.facts["levered"]) == {name for name, one in made.facts["levers"].items() if one}


def test_a_lever_that_was_not_computed_says_what_is_missing(show, monkeypatch):
    """Until a kernel has answered the rest of the page stands, with a sentence in the lever's place."""
    monkeypatch.setattr(Exhibits, "complete", lambda _: None)
    page = show(widgets.exhibits())
    open_page(page, find("rule-2.996").title)
    expect(page.locator(".exhibit")).to_contain_text("The kernel computes the picture")
    expect(page.locator(".exhibit")).to_contain_text("0.9855")
    page.get_by_role("button", name="All exhibits").click()
    open_page(page, find("matching").title)
    expect(page.locator(".exhibit")).not_to_contain_text("The kernel computes the picture")


@pytest.mark.parametrize(
    "schemes", [("light", "dark"), pytest.param(("dark", "light"), marks=pytest.mark.soak)], ids="-".join
)
def test_every_page_is_clean_and_fits_its_window(show, gallery, shots, schemes):
    """At 320 pixels nothing sticks out sideways on any page, and axe finds nothing serious: on each page that it reads, in both schemes by turns."""
    page = show(gallery, width=320)
    open_page(page, EXHIBITS[0].title)
    for place, exhibit in enumerate(EXHIBITS):
        expect(heading(page)).to_have_text(exhibit.title)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, exhibit.name
        if place % 6 == 0:
            scheme = schemes[place // 6 % 2]
            page.emulate_media(color_scheme=scheme)
            # a table that is cut off can have the focus from the next frame on
            page.evaluate(
                "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            assert not serious(page, "main"), exhibit.name
            shots(page, f"exhibit-{exhibit.name}-320-{scheme}", full_page=True)
        page.get_by_role("button", name="Next").click(force=True)
