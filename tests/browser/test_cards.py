"""Cards alive in JupyterLab: a released line shows in place what paying more would buy, a badge says where an answer came from."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.test_accessibility import AXE, serious

MIME = "application/vnd.dpnb.release+json"


def half_width(card):
    """The half-width that is forecast."""
    return float(card.locator(".figures strong").first.inner_text().removeprefix("± "))


def spent(lab):
    """What the status bar says is spent."""
    return lab.page.locator(".dpnb-Gauge").inner_text()


def test_a_line_shows_in_place_what_more_would_buy(cards):
    """A button opens the forecast under its line; dragging narrows it and spends nothing; Release runs the cell that pays, whose card has the trail; the old card then says that its name is another answer."""
    lab = cards("thumb.ipynb", "%%dp epsilon=0.05\nolder = hiv[hiv.age > 41].got.mean()")
    card = lab.output(1)
    button = card.get_by_role("button", name="more ε for older")
    expect(button).to_have_attribute("aria-expanded", "false")
    before = spent(lab)
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    slider = card.get_by_role("slider", name="+ε")
    heard = re.compile(r"^ε 0\.05 more, together ε 0\.1: an honest 10 % guess .* ± ")
    expect(slider).to_have_attribute("aria-valuetext", heard)
    wide = half_width(card)
    box = slider.bounding_box()
    lab.page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2)
    expect(slider).not_to_have_attribute("aria-valuetext", re.compile(r"^ε 0\.05 more"))
    assert half_width(card) < wide
    # the dashed interval itself is dragged to half of the present one
    plot = card.locator("svg.trail")
    dashed, whole = plot.locator(".next").bounding_box(), plot.locator("rect.pv").bounding_box()
    middle, y = dashed["x"] + dashed["width"] / 2, dashed["y"] + dashed["height"] / 2
    lab.page.mouse.move(dashed["x"] + dashed["width"], y)
    lab.page.mouse.down()
    lab.page.mouse.move(middle + whole["width"] / 4, y, steps=4)
    lab.page.mouse.up()
    expect(card.locator(".figures .soft").first).to_contain_text("now ±")
    now = plot.locator(".next").bounding_box()["width"]
    assert now == pytest.approx(whole["width"] / 2, rel=0.06)
    typed = card.get_by_label("+ε, typed")
    typed.fill("0.4")
    typed.press("Enter")
    assert spent(lab) == before
    lab.shot("card-thumb")
    card.get_by_role("button", name="Release").click()
    made = lab.output(2)
    expect(made).to_contain_text("ε 0.05 + ε 0.4")
    expect(made).to_contain_text("before, at ε 0.05")
    expect(lab.cell(2).locator(".cm-content")).to_contain_text("older = older.remeasure(epsilon=0.4)")
    expect(card.locator(".dpnb-again")).to_contain_text("older now holds another answer")
    expect(card.locator(".dpnb-newer")).to_contain_text("Paid for again since: ledger entry")
    assert spent(lab) != before
    made.get_by_role("button", name="more ε for").click()
    expect(made.locator("svg.trail rect.pv")).to_have_count(2)
    faint = made.locator("svg.trail rect.pv").evaluate_all(
        "all => all.map(one => +one.getAttribute('opacity'))"
    )
    assert faint == sorted(faint)
    assert faint[0] < faint[1] == 1


def test_an_old_card_says_what_was_paid_for_again(cards):
    """A line whose question was bought anew is marked, without a click, in each older card that shows it; a line more, and what is stored, mark nothing; another kernel knows of nothing."""
    asked = "first = hiv[hiv.age > 47].got.mean()\nother = hiv[hiv.age > 47].age.mean()"
    more = f"{asked}\nthird = hiv[hiv.age > 47].any.mean()"
    anew = "%%dp epsilon=0.05 fresh\nagain = hiv[hiv.age > 47].got.mean()"
    lab = cards("anew.ipynb", f"%%dp epsilon=0.06\n{asked}", f"%%dp epsilon=0.06\n{more}", anew)
    marks = lab.page.locator(".dpnb-newer:visible")
    expect(marks).to_have_count(2)
    for place in (1, 2):
        first = lab.output(place).locator(".line").first.locator(".dpnb-newer")
        expect(first).to_contain_text("has a newer answer")
    lab.shot("card-newer")
    lab.restart()
    lab.run_cell(0)
    expect(lab.output(1).locator(".line")).to_have_count(2)
    expect(marks).to_have_count(0)


def test_keys_alone_open_move_and_close_the_forecast(cards):
    """Enter opens it, arrows move it, Escape closes it and gives the focus back; the notebook hears none of these keys."""
    lab = cards("keys.ipynb", "%%dp epsilon=0.05\nold = hiv[hiv.age > 43].got.mean()")
    card = lab.output(1)
    button = card.get_by_role("button", name="more ε for old")
    button.focus()
    lab.page.keyboard.press("Enter")
    slider = card.get_by_role("slider", name="+ε")
    expect(slider).to_be_visible()
    slider.focus()
    for key, said in (("ArrowRight", "ε 0.051 more"), ("ArrowLeft", "ε 0.05 more")):
        lab.page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{re.escape(said)}"))
    lab.page.keyboard.press("Escape")
    expect(slider).to_have_count(0)
    expect(button).to_be_focused()
    expect(lab.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_a_stored_answer_says_where_it_came_from(cards):
    """Run again, the line has the badge "stored · ε 0"; click and Enter open it; more can be paid for it beside it; the whole is clean, in both themes."""
    asked = "%%dp epsilon=0.05\nyoung = hiv[hiv.age < 23].got.mean()\nages = hiv[hiv.age < 23].age.mean()"
    lab = cards("badge.ipynb", asked, asked, "%dp stored young")
    stored = "details:has(> summary.paid)"
    expect(lab.output(1).locator(stored)).to_have_count(0)
    card = lab.output(2)
    expect(card.locator(f"{stored} > summary")).to_have_text(["stored · ε 0"] * 2)
    first = card.locator(stored).first
    first.locator("summary").click()
    for words in ("ε 0.025 on 20", "ledger entry", "Restart and Run All", "ε 0.025 for new noise"):
        expect(first).to_contain_text(words)
    second = card.locator(stored).nth(1)
    second.locator("summary").focus()
    lab.page.keyboard.press("Enter")
    expect(second).to_have_attribute("open", "")
    card.get_by_role("button", name="more ε for young").click()
    expect(card.get_by_role("slider", name="+ε")).to_be_visible()
    shown = lab.output(3).last
    expect(shown).to_contain_text("Where this answer came from")
    expect(shown).to_contain_text("fresh pays ε 0.025 again")
    shown.get_by_role("button", name="More ε").click()
    expect(shown.get_by_role("slider", name="+ε")).to_be_visible()
    if AXE.is_file():
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            lab.theme(theme)
            expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
            assert not serious(lab.page, ".dpnb-Card"), theme
            lab.shots(card, f"card-stored-{theme.split()[-1].lower()}")


def test_a_second_click_pays_nothing(cards):
    """The interaction is bound to the answer that came, and its Release is off until the slider was moved again."""
    lab = cards("twice.ipynb", "%%dp epsilon=0.05\nonce = hiv[hiv.age > 53].got.mean()", "%dp remeasure once")
    shown = lab.output(2).last
    typed, release = shown.get_by_label("+ε, typed"), shown.get_by_role("button", name="Release")
    typed.fill("0.02")
    typed.press("Enter")
    expect(release).to_be_enabled()
    release.click()
    expect(lab.output(3)).to_contain_text("ε 0.05 + ε 0.02")
    expect(shown.locator("svg.trail rect.pv")).to_have_count(2)
    expect(release).to_be_disabled()
    expect(shown).to_contain_text("Move the slider first to pay once more.")
    lab.shot("card-paid")
    typed.fill("0.03")
    typed.press("Enter")
    expect(shown).to_contain_text("ε 0.1 for both together")
    release.click()
    expect(lab.output(3).first).to_contain_text("ε 0.05 + ε 0.02 + ε 0.03")
    expect(release).to_be_disabled()
    lab.restart()
    expect(release).to_be_disabled()
    expect(shown).to_contain_text("Run the cells above, then this one")


def test_a_saved_card_without_its_session_says_what_to_do(cards):
    """After a restart and after a reload the trusted card stands, its control asks to load dpnb, and then for its cell."""
    lab = cards("saved.ipynb", "%%dp epsilon=0.05\nkept = hiv[hiv.age > 39].got.mean()")
    lab.command("docmanager:save")
    opened = lab.output(1).locator(".dpnb-again")
    lab.output(1).get_by_role("button", name="more ε for kept").click()
    expect(lab.output(1).get_by_role("slider", name="+ε")).to_be_visible()
    lab.restart()
    expect(opened).to_contain_text("%load_ext dpnb")
    lab.run_cell(0)
    expect(opened).to_contain_text("No variable of this notebook holds this answer. Give it a name")
    lab.run_cell(1)
    expect(lab.output(1).locator("summary.paid")).to_have_text("stored · ε 0")
    lab.command("docmanager:save")
    lab.shutdown()
    lab.open("saved.ipynb")
    card = lab.output(1)
    expect(card.locator(".dpnb .line")).to_have_count(1)
    card.get_by_role("button", name="more ε for kept").click()
    expect(card.locator(".dpnb-again")).to_contain_text("%load_ext dpnb")
    # the same notebook from somebody else: no control, and nothing of it is markup
    notebook = nbformat.read(lab.server.work / "saved.ipynb", 4)
    for output in notebook.cells[1].outputs:
        if MIME in output.get("data", {}):
            output.data[MIME]["lines"][0]["name"] = "<img src=x onerror=alert(1)>"
            output.data["text/html"] += "<img src=x onerror=alert(2)>"
    nbformat.write(notebook, lab.server.work / "foreign.ipynb")
    lab.shutdown()
    lab.show("foreign.ipynb")
    alone = lab.output(1).locator(".dpnb-Release")
    expect(alone).to_contain_text("<img src=x onerror=alert(1)>: hiv[hiv.age > 39].got.mean()")
    assert alone.locator("img").count() == 0
    assert lab.output(1).get_by_role("button").count() == 0


WRONG = """
from IPython.display import display
def show(record, lines=1):
    card = "<div class='dpnb'>" + "<div class='line'><div class='row'><h4>m</h4><span class='paid'>e</span></div></div>" * lines + "</div>"
    display({"text/html": card, "text/plain": "m", "MIME": record}, raw=True)
good = {"name": "m", "question": "q", "entries": [], "releases": ["r"], "again": "ε"}
show({"format": 1, "lines": [good]})
show({"format": 1, "lines": [good, good]})
show({"format": 2, "lines": [good]})
show({"format": 1, "lines": [{**good, "again": "<b>"}]})
show([1, 2])
show({"format": 1, "lines": [{**good, "releases": [1, None]}]})
""".replace("MIME", MIME)


def test_a_wrong_record_leaves_the_card_still(cards):
    """Of another version, of another card, or no record at all: the card that every notebook shows, without controls; one that asks nonsense is answered."""
    lab = cards("wrong.ipynb", WRONG)
    shown = lab.output(1)
    expect(shown).to_have_count(6)
    for place, controls in enumerate((1, 0, 0, 0, 0, 1)):
        expect(shown.nth(place).locator(".dpnb .line").first).to_be_visible()
        expect(shown.nth(place).get_by_role("button")).to_have_count(controls)
    for place, words in ((0, "No variable of this notebook"), (5, "does not say which answer")):
        shown.nth(place).get_by_role("button").click()
        expect(shown.nth(place).locator(".dpnb-again")).to_contain_text(words)


def test_cards_fit_their_window(cards):
    """From 320 to 1,600 pixels an open card does not stick out sideways; pictures for a person to look at."""
    asked = "%%dp epsilon=0.06\nwide = hiv[hiv.age > 33].got.mean()\nage = hiv[hiv.age > 33].age.mean()\nby = hiv[hiv.age > 33].groupby('any').got.mean()"
    lab = cards("wide.ipynb", asked, asked)
    lab.command("application:toggle-left-area")
    card = lab.output(2)
    card.locator("summary").first.click()
    card.get_by_role("button", name="more ε for age").click()
    expect(card.get_by_role("slider", name="+ε")).to_be_visible()
    for width in (320, 700, 1600):
        lab.page.set_viewport_size({"width": width + 110, "height": 1400})
        body = card.locator(".dpnb-again:not([hidden])")
        inner = body.evaluate("one => one.scrollWidth - one.clientWidth")
        assert inner <= 0, json.dumps({"width": width, "over": inner})
        for theme in lab.shots.themes:
            lab.theme(theme)
            expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)  # it covers the page for a moment
            lab.shots(card, f"card-{width}-{theme.split()[-1].lower()}")


def test_a_busy_kernel_answers_a_card(cards):
    """While a cell runs the forecast opens and is moved: its question has a way of its own."""
    lab = cards("busy.ipynb", "%%dp epsilon=0.05\nbusy = hiv[hiv.age > 45].got.mean()")
    lab.page.evaluate(
        """() => {
            const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
            window.dpnbDone = false;
            const asked = kernel.requestExecute({ code: 'import time; time.sleep(300)' });
            asked.done.then(() => { window.dpnbDone = true; }, () => { window.dpnbDone = true; });
        }"""
    )
    card = lab.output(1)
    card.get_by_role("button", name="more ε for busy").click()
    slider = card.get_by_role("slider", name="+ε")
    expect(slider).to_be_visible()
    wide = half_width(card)
    slider.focus()
    for _ in range(3):
        lab.page.keyboard.press("PageUp")
    expect(slider).not_to_have_attribute("aria-valuetext", re.compile(r"^ε 0\.05 more"))
    assert half_width(card) < wide
    assert lab.page.evaluate("window.dpnbDone") is False
