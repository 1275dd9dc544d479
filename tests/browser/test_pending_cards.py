"""The card of a question that waits, alive in JupyterLab: ε ↔ ± in its place, and the cell that releases it."""

from __future__ import annotations

import re

import nbformat
from playwright.sync_api import expect

MIME = "application/vnd.dpnb.release+json"
COSTS = "what accuracy costs"


def typed(card, loss):
    """Type a loss into an open see-saw."""
    field = card.get_by_label("ε, typed")
    field.fill(loss)
    field.press("Enter")


def test_a_pending_card_grows_the_see_saw_and_releases_its_question(cards):
    """It waits and says so; opened, the curve is dragged and nothing is spent; Release runs a cell with its own name, and the card becomes the answer in its place."""
    lab = cards("waits.ipynb", "rest = hiv[hiv.age > 53].got.mean()\nrest")
    card, page = lab.output(1), lab.page
    expect(card).to_contain_text("pending")
    expect(card).to_contain_text("Nothing was spent")
    button = card.get_by_role("button", name=f"{COSTS} for hiv[hiv.age > 53].got.mean()")
    expect(button).to_have_attribute("aria-expanded", "false")
    before = page.locator(".dpnb-Gauge").inner_text()
    button.click()
    loss = card.get_by_role("slider", name="ε")
    expect(loss).to_have_attribute("aria-valuetext", re.compile(r"^ε 1: an honest 10 % guess .* ± "))
    half = card.get_by_role("slider", name="±")
    plot = card.get_by_role("img", name="accuracy bought by each loss")
    wide = half.get_attribute("aria-valuetext")
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
    page.mouse.up()
    expect(loss).not_to_have_attribute("aria-valuetext", re.compile(r"^ε 1:"))
    assert half.get_attribute("aria-valuetext") != wide
    typed(card, "0.03")
    expect(loss).to_have_attribute("aria-valuetext", re.compile(r"^ε 0\.03: an honest .* ± "))
    assert page.locator(".dpnb-Gauge").inner_text() == before
    lab.shot("pending-open")
    card.get_by_role("button", name="Release").click()
    expect(lab.cell(2).locator(".cm-content")).to_contain_text("%%dp epsilon=0.03")
    assert lab.cell(2).locator(".cm-line").all_inner_texts() == ["%%dp epsilon=0.03", "rest"]
    expect(lab.output(2).first).to_contain_text("ε 0.03 paid")
    expect(card).not_to_contain_text("pending")
    expect(card.get_by_role("button", name="more ε for")).to_have_count(1)
    expect(page.locator(".dpnb-Gauge")).not_to_have_text(before)


def test_a_card_follows_its_question(cards):
    """Without a name it can be balanced and says how to release it; named, released and gone are each told where it is open; computed values have no control."""
    lab = cards("follows.ipynb", "hiv[hiv.age > 59].got.mean()", "both = 2 * hiv.got.mean()\nboth", "0", "0")
    expect(lab.output(2)).to_contain_text("pending")
    expect(lab.output(2).get_by_role("button")).to_have_count(0)
    card = lab.output(1)
    card.get_by_role("button", name=COSTS).click()
    opened = card.locator(".dpnb-again")
    unnamed = opened.get_by_text("Give it a name")
    expect(unnamed).to_be_visible()
    expect(opened.get_by_role("button", name="Release")).to_have_count(0)
    lab.page.evaluate("""() => {
        const cell = window.jupyterapp.shell.currentWidget.content.widgets[3];
        cell.model.sharedModel.setSource('mine = _2');
    }""")
    lab.run_cell(3)
    expect(opened.get_by_role("button", name="Release")).to_be_enabled()
    expect(unnamed).to_be_hidden()
    lab.restart()
    expect(opened).to_contain_text("%load_ext dpnb")
    lab.run_cell(0)
    expect(opened).to_contain_text("does not hold this question any more. Run its cell again")


def test_a_saved_pending_card_keeps_no_promise(cards):
    """Opened anew it says what to run; from somebody else it is text alone; a record of its own making runs nothing."""
    lab = cards("kept.ipynb", "kept = hiv[hiv.age > 61].got.mean()\nkept")
    expect(lab.output(1).get_by_role("button", name=COSTS)).to_have_count(1)
    lab.command("docmanager:save")
    lab.shutdown()
    lab.open("kept.ipynb")
    lab.output(1).get_by_role("button", name=COSTS).click()
    expect(lab.output(1).locator(".dpnb-again")).to_contain_text("%load_ext dpnb")
    notebook = nbformat.read(lab.server.work / "kept.ipynb", 4)
    for output in notebook.cells[1].outputs:
        if MIME in output.get("data", {}):
            output.data[MIME]["question"] = "<img src=x onerror=alert(1)>"
    nbformat.write(notebook, lab.server.work / "alien.ipynb")
    lab.shutdown()
    lab.show("alien.ipynb")
    alone = lab.output(1).locator(".dpnb-Release")
    expect(alone).to_contain_text("<img src=x onerror=alert(1)>")
    expect(alone).to_contain_text("Pending: no value yet")
    assert alone.locator("img").count() == 0
    assert lab.output(1).get_by_role("button").count() == 0
