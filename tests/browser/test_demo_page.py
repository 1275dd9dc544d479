"""`demo.html`: one file, no kernel, no network, and the interval of a real finding moves under the hand."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from dpnb.notebook import demo
from tests.browser.conftest import ROOT
from tests.browser.test_still_forms import faults


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Run what `make demo` runs, in a folder of its own."""
    root = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    assert demo.main(root) == 0
    return root


@pytest.fixture
def open_page(browser, made):
    """Open the page without a network, in a given width and colour scheme."""
    contexts = []

    def open_(width=1280, height=900, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("requestfailed", lambda request: page.faults.append(request.url))
        page.goto((made / "demo.html").as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


def drawn(page):
    """Return the page as it stands once the next frame is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator("main").inner_html()


def test_demo_leaves_the_executed_tour(made):
    """The executed notebook is there, holds released cards, and no widget state."""
    notebook = nbformat.read(made / "build-demo" / "00-tour.ipynb", as_version=4)
    assert "widgets" not in notebook.metadata
    assert any("releas" in str(cell.get("outputs", "")) for cell in notebook.cells)


def test_dragging_epsilon_moves_the_interval(open_page):
    """The slider redraws the finding and its sentence, by key as well; the page asks the network for nothing."""
    page = open_page()
    slider = page.locator("input[type=range]").first
    expect(slider).to_be_visible()
    seen = set()
    for place in (0.1, 0.5, 0.9):
        box = slider.bounding_box()
        page.mouse.click(box["x"] + place * box["width"], box["y"] + box["height"] / 2)
        seen.add(drawn(page))
        text = page.locator("main").inner_text()
        assert "people" in text
        assert "ε" in text
    slider.press("ArrowLeft")
    assert len({*seen, drawn(page)}) == 4
    assert page.faults == []


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("light", 1280, "light"),
        ("dark", 1280, "dark"),
        ("narrow", 390, "light"),
        ("narrow-dark", 390, "dark"),
    ],
)
def test_page_fits_its_window(open_page, shots, name, width, scheme):
    """Light, dark and narrow: nothing sticks out or is clipped, letters are large enough, and axe finds nothing serious."""
    page = open_page(width=width, scheme=scheme)
    shots(page, f"demo-{name}", full_page=True)
    assert faults(page, width) == []
