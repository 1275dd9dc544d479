"""The gallery in JupyterLab: each interaction lives, hears its kernel, and its Release button leaves a cell behind."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT


@pytest.fixture(scope="module")
def ran(file_lab, server):
    """Open the gallery, run it and save it, once for all that is looked at here; the test that ends its kernel is the last but one."""
    lab = file_lab
    shutil.copy(ROOT / "notebooks" / "01-gallery.ipynb", server.work / "gallery.ipynb")
    lab.show("gallery.ipynb")
    lab.run_all()
    lab.command("docmanager:save")
    shutil.copy(server.work / "gallery.ipynb", server.work / "saved-gallery.ipynb")
    lab.seesaw = lab.page.locator(".dpnb-w", has_text="What accuracy costs").first
    return lab


@pytest.fixture
def gallery(ran):
    """The gallery as it ran; an error of the page fails the test."""
    yield ran
    assert ran.errors == []


def index_of(lab, text):
    """The place of the first cell whose source holds a text."""
    find = """text => window.jupyterapp.shell.currentWidget.content.widgets
        .findIndex(c => c.model.sharedModel.source.includes(text) && c.model.type === 'code')"""
    return lab.page.evaluate(find, text)


def test_every_cell_of_the_gallery_shows_its_interaction(gallery, shots):
    """No cell fails, each interaction is drawn by its module, and the page it writes is there."""
    lab = gallery
    expect(
        lab.page.locator(".jp-OutputArea .dpnb-w > :is(.head, .sentence, section:not(.shared-part))")
    ).to_have_count(21)
    expect(lab.page.locator("table.index tbody tr")).to_have_count(23)
    assert not lab.page.locator('[data-mime-type$="error"], [data-mime-type$="stderr"]').count()
    assert (lab.server.work / "interactions.html").stat().st_size > 10_000
    for theme in shots.themes:
        lab.theme(theme)
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)  # the theme's own curtain
        for index in (index_of(lab, "widgets.seesaw("), index_of(lab, "widgets.plan(")):
            shots(lab.cell(index), f"gallery-{index}-{theme.split()[-1].lower()}")
    lab.theme("JupyterLab Light")


def test_kernel_hears_when_the_hand_lets_go(gallery):
    """A size that is typed is planned with by the kernel; a size that is none is refused, and the curve stays."""
    shown = gallery.seesaw.locator(".figures strong").first
    before = shown.inner_text()
    size = gallery.seesaw.get_by_label("number of people to plan with")
    size.fill("283")
    size.press("Enter")
    expect(shown).not_to_have_text(before)
    now = shown.inner_text()
    size.fill("-4")
    size.press("Enter")
    expect(gallery.seesaw.get_by_role("status")).to_contain_text("whole number above 0")
    expect(shown).to_have_text(now)


def test_bar_follows_a_release_and_release_leaves_a_cell(gallery):
    """Release puts the %%dp cell below the board and runs it; the bar, the panel and the gauge follow; nothing else spent."""
    lab = gallery
    bar = lab.page.locator(".jp-OutputArea .dpnb-w", has_text="Budget of hiv").first
    expect(bar).to_contain_text("hiv.got.mean()")  # released by a later cell of the same run
    before = float(re.search(r"spent ε ([\d.]+)", bar.inner_text())[1])
    board = lab.page.locator(".dpnb-w", has_text="Plan for hiv").first
    field = board.get_by_label("ε of this cell, typed")
    field.fill("0.5")
    field.press("Enter")
    board.get_by_role("button", name="Release").click()
    place = index_of(lab, "%%dp epsilon=0.5")
    assert place == index_of(lab, "widgets.plan(") + 1
    expect(lab.output(place).last).to_contain_text("Released from hiv")
    expect(bar).to_contain_text(re.compile(r"spent ε [\d.]+"))
    lab.page.wait_for_function(
        "([node, before]) => Number(/spent ε ([\\d.]+)/.exec(node.innerText)?.[1]) > before",
        arg=[bar.element_handle(), before],
    )
    spent = float(re.search(r"spent ε ([\d.]+)", bar.inner_text())[1])
    assert spent - before <= 0.5
    expect(lab.page.locator(".dpnb-Gauge")).to_contain_text(f"ε {spent:.4g} of 4")


# each drawn interaction: the sentences of its kernel that a person sees, and what stands above the first of them
STALE = """() => [...document.querySelectorAll('.jp-OutputArea-output .dpnb-w')].filter(root => root.checkVisibility()).map(root => {
    const said = [...root.querySelectorAll('.stale')].filter(p => p.checkVisibility());
    const above = e => (said[0].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING) !== 0;
    return {
        text: said.map(p => p.textContent), role: said[0]?.getAttribute('role'), name: root.innerText.slice(0, 40),
        above: said.length ? [...root.querySelectorAll('svg, input, button')].filter(e => e.checkVisibility() && above(e)).length : -1,
        inked: said.length ? getComputedStyle(said[0]).color === getComputedStyle(root).color : true,
    };
})"""


def test_a_dead_kernel_is_said(gallery):
    """After a restart no picture pretends: each interaction says once, as a warning above its picture and its controls, that its kernel is gone."""
    gallery.restart()
    expect(gallery.page.get_by_text("The kernel that drew this has ended").first).to_be_visible()
    found = gallery.page.evaluate(STALE)
    gallery.shot("stale")
    assert len(found) > 10
    for one in found:
        assert len(one["text"]) == 1, one
        assert re.search("kernel that drew this has ended|No kernel updates this", one["text"][0]), one
        assert (one["role"], one["above"], one["inked"]) == ("status", 0, False), one


def test_a_saved_gallery_reads_without_its_kernel(gallery):
    """Saved after its run and opened without one: each interaction is its still form, with the same numbers."""
    gallery.show("saved-gallery.ipynb")
    still = gallery.output(index_of(gallery, "widgets.odds(")).first
    expect(still).to_contain_text("An honest 10 % guess becomes at most 15.5 %")
    expect(gallery.output(index_of(gallery, "widgets.seesaw(")).first).to_contain_text("± 0.00475")
    expect(gallery.page.get_by_text("Error displaying widget")).to_have_count(0)
