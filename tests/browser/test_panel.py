"""The panel and the living budget under a real hand: pointed at, typed in, dragged from, and in step with the kernel."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

import dpnb
from dpnb import widgets
from dpnb.client import api
from tests.browser.conftest import ROOT
from tests.browser.reading import unreadable
from tests.browser.test_extension import LOAD, MOVED, OPEN, spent

SOURCE = "i => window.jupyterapp.shell.currentWidget.content.widgets[i].model.sharedModel.source"


@pytest.fixture
def panel(data, monkeypatch):
    """The panel of a session that has released three answers."""
    for i, epsilon in enumerate(("0.5", "1", "0.25")):
        dpnb.release([data.x.clip(0, 10 - i).mean()], epsilon=epsilon)
    monkeypatch.setattr(api, "session", lambda: data.session)
    return widgets.panel()


def unfold(page, words):
    """Open a part of the panel."""
    page.locator("summary", has_text=words).first.click()


# the bar ---------------------------------------------------------------------------------------------------


def test_blocks_say_what_they_paid_for(show, panel):
    """Pointed at, or walked through with the arrow keys, a block says its question, its loss and its time; one tab stop."""
    page = show(panel)
    blocks, read = page.locator("rect.used[tabindex]"), page.locator(".read")
    expect(blocks).to_have_count(3)
    expect(read).to_contain_text("Point at a block")
    blocks.nth(1).hover()
    expect(read).to_contain_text(re.compile(r"ε 1: small\.x\.clip\(0, 9\)\.mean\(\) · \d\d:\d\d"))
    page.mouse.move(5, 5)
    expect(read).to_contain_text("Point at a block")
    blocks.nth(0).focus()
    expect(read).to_contain_text("ε 0.5: ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(read).to_contain_text("ε 0.25: small.x.clip(0, 8).mean()")
    page.keyboard.press("Home")
    expect(blocks.nth(0)).to_be_focused()
    assert page.locator('rect.used[tabindex="0"]').count() == 1
    assert "ε 0.5" in blocks.nth(0).get_attribute("aria-label")


def test_toggle_counts_the_promise_both_ways(show, panel):
    """ZCDP v adding: closed at first; opened, both counts, the tighter one, the δ; another δ, another ρ."""
    page = show(panel)
    toggle = page.get_by_role("button", name="Compare zCDP with adding up")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    toggle.focus()
    page.keyboard.press("Enter")
    counted = page.locator(".counting")
    expect(counted).to_contain_text("Adding (this budget) ε 1.75 of 10")
    expect(counted).to_contain_text("is the tighter count here")
    expect(counted).to_contain_text("δ = 10⁻⁶")
    before = counted.inner_text()
    counted.get_by_label("δ of the comparison").select_option(label="10⁻⁵")
    expect(counted).to_contain_text("δ = 10⁻⁵")
    assert counted.inner_text() != before


# the ledger ------------------------------------------------------------------------------------------------


def test_a_thousand_entries_are_found_and_sorted(show, panel):
    """Of a thousand entries fifty are drawn; each word typed narrows them; heads sort; more are drawn on a wish."""
    facts = panel.facts
    (one,) = facts["datasets"]
    row = next(row for row in one["ledger"] if row["kind"] == "charge")
    many = [
        {
            **row,
            "entry": i,
            "loss": i / 1e4,
            "paid": f"ε {i / 1e4:g}",
            "questions": [f"small.x.sum({i})"],
            "here": i > 990,
        }
        for i in range(1, 1001)
    ]
    panel.facts = {**facts, "datasets": [{**one, "ledger": many, "entries": 1000}]}
    page = show(panel)
    rows, find = page.locator("table.ledger tbody tr"), page.get_by_label("find in the ledger")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("sum(1000)")
    took = find.evaluate(
        """async field => {
            const frame = () => new Promise(done => requestAnimationFrame(done));
            const start = performance.now();
            field.value = 'sum(77';
            field.dispatchEvent(new Event('input', { bubbles: true }));
            const script = performance.now() - start;
            await frame();
            return script;
        }"""
    )
    print(f"filter of 1,000 entries: {took:.1f} ms")
    expect(rows).to_have_count(11)
    find.fill("nothing like it")
    expect(page.locator("main")).to_contain_text("No entry matches.")
    find.fill("")
    page.get_by_role("button", name="loss", exact=True).click()
    expect(rows.first).to_contain_text("ε 0.1")
    page.get_by_role("button", name="loss", exact=True).click()
    expect(rows.first).to_contain_text("sum(1)")
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(550)
    page.get_by_label("whose entries").select_option("here")
    expect(rows).to_have_count(10)
    assert page.locator("rect.used[tabindex]").count() < 130


def test_long_values_and_questions_stay_inside(show, panel):
    """A category of many values and a long question go on in the next line, after a mark and never inside a word."""
    (one,) = panel.facts["datasets"]
    kind, asked = (
        "category surgery/medicine/maternity/emergency",
        "small[small.x > 64].income_of_households.mean()",
    )
    columns = [{**column, "kind": kind} for column in one["columns"]]
    ledger = [{**row, "questions": [asked]} if row["kind"] == "charge" else row for row in one["ledger"]]
    panel.facts = {**panel.facts, "datasets": [{**one, "columns": columns, "ledger": ledger}]}
    page = show(panel, width=260)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    expect(page.get_by_text(kind).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 260
    assert unreadable(page, ".entry, .entry *, th, th *") == []


def panel_data(panel):
    """The dataset of a panel of one."""
    (one,) = api.session().datasets.values()
    assert one.name == panel.facts["datasets"][0]["name"]
    return one


# in JupyterLab ---------------------------------------------------------------------------------------------


def test_a_column_or_a_question_is_put_into_the_cell(open_):
    """By click, by Enter, and by drag: what lands in the cell is the column as the notebook calls it, or a line that asks."""
    people = 'people = dpnb.open("hiv", mode="guard-rail", quiet=True)'
    lab = open_(LOAD, people, "%%dp plan epsilon=0.5\n", "%%dp plan epsilon=0.5\n")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.gauge.click()
    unfold(lab.panel, "columns")
    lab.cell(2).locator(".cm-content").click()
    lab.page.keyboard.press("Control+End")
    lab.panel.get_by_title("put people.age into the cell").click()
    lab.page.wait_for_function(f"({SOURCE})(2).endsWith('people.age')")
    asked = lab.panel.get_by_title("put average_age = people.age.mean() into the cell")
    asked.focus()
    lab.page.keyboard.press("Enter")
    lab.page.wait_for_function(f"({SOURCE})(2).endsWith('people.age\\naverage_age = people.age.mean()')")
    expect(lab.panel).to_contain_text("Put into the cell.")
    asked.drag_to(lab.cell(3).locator(".cm-content"))
    lab.page.wait_for_function(f"({SOURCE})(3).includes('average_age = people.age.mean()')")


def test_a_model_is_built_by_hand_and_gives_its_table(open_):
    """Variables dragged onto y and x, one more by keyboard: the cell is priced, Release runs it, the table is there; then free."""
    lab = open_(LOAD, OPEN)
    lab.run_all()
    lab.gauge.click()
    unfold(lab.panel, "Build a regression")
    chips = lab.panel.locator("details", has_text="Build a regression").locator(".asks .chip")
    chips.get_by_text("got", exact=True).drag_to(lab.panel.locator("[data-zone=y]"))
    chips.get_by_text("age", exact=True).drag_to(lab.panel.locator("[data-zone=x]"))
    lab.panel.get_by_label("x, explaining").select_option("any")
    loss = lab.panel.get_by_label("ε for the moments")
    loss.fill("0.4375")
    cell = lab.panel.locator("code.cell")
    expect(cell).to_contain_text('zz = hiv.moments("got", "any", "age")')
    expect(cell).to_contain_text('fit = zz.ols("got ~ age + any")')
    expect(lab.panel).to_contain_text("Cost: ε 0.4375.")
    lab.panel.get_by_role("button", name="Release").click()
    expect(lab.output(2).last).to_contain_text("Intercept")
    expect(lab.output(2).last).to_contain_text("any")
    expect(lab.panel).to_contain_text("Cost: free.")
    lab.panel.get_by_role("button", name="take any off x").click()
    expect(cell).to_have_text('fit = zz.ols("got ~ age")\nfit')
    before = lab.gauge.inner_text()
    lab.panel.get_by_role("button", name="Run it, free").click()
    expect(lab.output(3).last).to_contain_text("Intercept")
    expect(lab.gauge).to_have_text(before)


def test_the_panel_in_the_notebook_can_do_the_same(open_):
    """In an output: the paragraph for a paper, a model's cell, its Release; after a restart it says how it stood, and when."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.28125\nolder = hiv.distvct.mean()", "dpnb.panel()")
    lab.run_all()
    out = lab.output(3).last
    expect(out).to_contain_text("hiv.distvct.mean()")
    out.get_by_role("button", name="Copy as methods paragraph").click()
    text = out.get_by_role("textbox", name="methods paragraph")
    expect(text).to_be_visible()
    expect(text).to_have_value(re.compile("differential privacy"))
    unfold(out, "Build a regression")
    out.get_by_label("y, explained").select_option("got")
    out.get_by_label("x, explaining").select_option("distvct")
    out.get_by_label("ε for the moments").fill("0.15625")
    expect(out).to_contain_text("Cost: ε 0.1562")
    out.get_by_role("button", name="Release").click()
    expect(lab.output(4).last).to_contain_text("Intercept")
    expect(out).to_contain_text('hiv.moments("got", "distvct")')
    lab.restart()
    expect(out).to_contain_text("This was the state at")


def test_what_is_typed_and_unfolded_stays_while_cells_run(open_):
    """A cell that charges brings the panel in step, and takes nothing from under the hand: fold, text and focus stay."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.046875\nq = hiv.tinc.mean()")
    lab.run_cell(0)
    lab.run_cell(1)
    lab.gauge.click()
    unfold(lab.panel, "Build a regression")
    loss = lab.panel.get_by_label("ε for the moments")
    loss.fill("0.3")
    lab.run_cell(2)
    expect(lab.panel).to_contain_text("ε 0.04688")
    expect(loss).to_have_value("0.3")
    expect(loss).to_be_visible()


OTHER = """
import dpnb
hiv = dpnb.open("hiv", mode="guard-rail", quiet=True)
dpnb.release({{"q": {question}}}, epsilon="{epsilon}")
"""


def other_kernel(lab, question, epsilon):
    """Charge the same dataset from another process, as a second kernel would."""
    text = OTHER.format(question=question, epsilon=epsilon)
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**lab.server.environment(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_charge_of_another_kernel_is_shown_idle_and_busy(open_):
    """Gauge and both panels show what another kernel is charged: while this one is idle, and while it runs a cell that has not ended."""
    lab = open_(LOAD, OPEN, "dpnb.panel()", "import time; time.sleep(120)")
    for index in range(3):
        lab.run_cell(index)
    lab.gauge.click()
    out, before = lab.output(2).last, spent(lab)
    other_kernel(lab, "hiv[hiv.age > 61].got.mean()", "0.0059")
    lab.page.wait_for_function(MOVED, arg=[before, 0.0059])
    for view in (lab.panel, out):
        expect(view).to_contain_text("hiv[hiv.age > 61].got.mean()")
    lab.select(3)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
    expect(lab.cell(3).locator(".jp-InputPrompt")).to_contain_text("*")
    other_kernel(lab, "hiv[hiv.age > 62].got.mean()", "0.0061")
    for view in (lab.panel, out):
        expect(view).to_contain_text("hiv[hiv.age > 62].got.mean()")
    expect(lab.cell(3).locator(".jp-InputPrompt")).to_contain_text("*")
    lab.command("notebook:interrupt-kernel")


def test_a_refused_cell_can_be_answered_with_one_click(open_):
    """Over budget: the refusal has three ways out above it; leaving a statistic out leaves and runs the cell with its weight at 0."""
    over = "%%dp epsilon=6 weights=a:4,b:1\na = nsw.age.mean()\nb = nsw.educ.mean()"
    lab = open_(LOAD, 'nsw = dpnb.open("nsw", mode="guard-rail", quiet=True)', over)
    for index in range(3):
        lab.run_cell(index)
    ways = lab.cell(2).locator("ul.ways li")
    expect(ways).to_have_count(3)
    expect(lab.cell(2)).to_contain_text("This cell asks for ε 6")
    expect(ways.nth(0)).to_contain_text("Ask ε 4")
    for theme in lab.shots.themes:
        lab.theme(theme)
        lab.shot(f"ways-{theme.split()[-1].lower()}")
    lab.theme("JupyterLab Light")
    expect(lab.gauge).to_contain_text("nsw: ε 0 of 4")
    ways.nth(2).get_by_role("button", name="Leave out a").click()
    left_out = over.replace("epsilon=6 weights=a:4,b:1", "epsilon=1.2 weights=a:0,b:1")
    lab.page.wait_for_function(f"({SOURCE})(3) === {json.dumps(left_out)}")
    expect(lab.gauge).to_contain_text("nsw: ε 1.2 of 4")
    expect(ways.nth(2)).to_contain_text("the cell is free")


def test_the_current_plan_stands_in_the_panel(open_):
    """A plan of the session is in the panel with its split board; its Release leaves the cell in the notebook, and ends it."""
    asked = (
        "%%dp plan epsilon=0.0234\nlow = hiv[hiv.age > 71].got.mean()\nhigh = hiv[hiv.age > 72].got.mean()"
    )
    lab = open_(LOAD, OPEN, asked)
    lab.run_all()
    lab.gauge.click()
    unfold(lab.panel, "Current plan")
    expect(lab.panel).to_contain_text("Current plan ε 0.0234")
    divider = lab.panel.get_by_role("slider", name=re.compile("^divider"))
    divider.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.panel.get_by_role("button", name="Release", exact=True).first.click()
    lab.page.wait_for_function(f"({SOURCE})(3).includes('low = hiv[hiv.age > 71].got.mean()')")
    expect(lab.output(3).last).to_contain_text("low")
    expect(lab.panel.get_by_text("Current plan")).to_be_hidden()
