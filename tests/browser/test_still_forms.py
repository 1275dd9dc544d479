"""What stands still: the still form of every interaction, every card, the report and the saved page, as a browser draws them.

Nothing sticks out, letters in drawings are 11 pixels at least, code breaks between words, axe finds nothing serious, and each
still form of an interaction is a picture with words, not only a table.
"""

from __future__ import annotations

import pytest

import dpnb
from dpnb import cards
from dpnb.cards.markup import Markup
from dpnb.cards.report import document
from tests.browser.reading import LETTERS, unreadable
from tests.browser.test_accessibility import AXE, serious
from tests.browser.test_interactions import everything
from tests.cards import made
from tests.cards.test_cards import all_cards

pytestmark = pytest.mark.skipif(not AXE.is_file(), reason="the tools of the front end are not there")

# drawings that somebody who does not see them is told nothing of
MUTE = """() => [...document.querySelectorAll("svg")].filter(one => !one.closest("[aria-hidden=true], svg svg")
    && one.checkVisibility() && !one.getAttribute("aria-label") && !(one.querySelector("title")?.textContent))
    .map(one => one.outerHTML.slice(0, 100))"""


# tables of which a part must be scrolled to, in a window that is no telephone
HIDDEN = """() => [...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => `cut off: ${one.textContent.slice(0, 80)} in ${one.closest("[data-name]")?.dataset.name}`)"""


def faults(page, width):
    """What is wrong with a page in its window, in words; nothing where all is well."""
    letters = page.evaluate(LETTERS)
    return [
        *([] if page.evaluate("document.documentElement.scrollWidth") <= width else ["it sticks out"]),
        *(f"letters of {size:.1f} pixels" for size in letters if size < 10.99),
        *unreadable(page, "code, code *"),
        *(page.evaluate(HIDDEN) if width > 600 else []),
        *page.evaluate(MUTE),
        *serious(page, "body"),
    ]


IN_A_NOTEBOOK = 620
"""What JupyterLab leaves to an output in a window of 800 pixels."""


@pytest.fixture
def look(browser, tmp_path, shots):
    """Return what is wrong with a page at 390 pixels, light and dark, in a notebook in 800, and at 1,000; keep its pictures."""

    def look_(name, html):
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
        found = {}
        for width, scheme in ((390, "light"), (390, "dark"), (IN_A_NOTEBOOK, "light"), (1000, "dark")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.goto((tmp_path / f"{name}.html").as_uri())
            shots(page, f"still-{name}-{width}-{scheme}", full_page=True)
            found[width, scheme] = faults(page, width)
            page.close()
        return {key: one for key, one in found.items() if one}

    return look_


def beside(forms):
    """A page of fragments, each under its name."""
    parts = "".join(f'<section data-name="{name}">{html}</section>' for name, html in forms.items())
    return document("Still forms", Markup(parts))


def test_still_forms_of_interactions_are_pictures(look, data):
    """Each has a drawing with words in its HTML."""
    bundles = {name: one.card().bundle() for name, one in everything(data).items()}
    without = [name for name, one in bundles.items() if "<svg" not in one["text/html"]]
    assert without == []
    assert look("interactions", beside({name: one["text/html"] for name, one in bundles.items()})) == {}


def test_cards_stand_in_any_window(look, data):
    """Every kind of card, and the drawings of a histogram, of a crosstab and of long code."""
    asked = {
        "histogram": data.x.histogram(bins=5),
        "crosstab": data.crosstab("g", "y"),
        "wide": (data.groupby("g").x * 20_000).mean(),
        "long": data[(data.x > 2) & (data.y == 1)].x.mean(),
    }
    pending = {f"pending {name}": str(cards.estimate_card(one).html) for name, one in asked.items()}
    released = dpnb.release(asked, epsilon=1)
    forms = {name: str(one.html) for name, one in all_cards().items()}
    forms |= {name: str(cards.estimate_card(one).html) for name, one in released.items()}
    assert look("cards", beside(forms | pending)) == {}


def test_the_report_stands_in_any_window(look):
    """The report as it is sent to others."""
    estimates = made.report("collected", "effect", "villages").estimates
    assert look("report", cards.report(estimates, schemas=[made.study()], rows=made.rows()).html) == {}
