"""Plans and datasets in JupyterLab: the card of a cell is the board itself, and what it leaves behind is written into cells."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.test_accessibility import AXE, serious
from tests.browser.test_extension import LOAD, OPEN
from tests.browser.test_panel import other_kernel

BODY = (
    "young = hiv[hiv.age < 31].got.mean()\n"
    "old = hiv[hiv.age > 61].got.mean()\n"
    "gap = old - young\n"
    "spread = (young * (1 - young)) ** 0.5"
)
SOURCE = "i => window.jupyterapp.shell.currentWidget.content.widgets[i]?.model.sharedModel.source ?? ''"


def source(lab, index):
    """Return the text of a cell."""
    return lab.page.evaluate(SOURCE, index)


def row(lab, cell, name):
    """Return the accuracy and the cost of a line of a plan."""
    found = (
        lab.output(cell).locator("table.planned tbody tr").filter(has=lab.page.locator("th", has_text=name))
    )
    return found.first.locator("td").all_inner_texts()


def test_a_plan_is_dragged_and_released_in_its_place(open_, shots):
    """A divider moved by keys moves both ± and those of derived values; Release rewrites the magic line alone, and runs it."""
    lab = open_(LOAD, OPEN, f"%%dp plan epsilon=0.04 assume_n=1500\n{BODY}")
    lab.run_all()
    board = lab.output(2).locator(".dpnb .dpnb-w")
    divider = board.get_by_role("slider", name="divider between young and old")
    expect(divider).to_be_visible()
    before = {name: row(lab, 2, name)[0] for name in ("young", "old", "gap", "spread")}
    divider.focus()
    for _ in range(25):
        divider.press("ArrowRight")
    line = "%%dp epsilon=0.04 weights=young:3,old:1 assume_n=1500"
    expect(board.locator("code.cell")).to_have_text(line)
    after = {name: row(lab, 2, name)[0] for name in before}
    assert all(after[name] != before[name] for name in before), (before, after)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
        lab.shot(f"plan-card-{theme.split()[-1].lower()}")
        if AXE.is_file():
            assert not serious(lab.page, ".jp-OutputArea-output"), theme
    lab.theme("JupyterLab Light")
    board.get_by_role("button", name="Release").click()
    expect(lab.output(2)).to_contain_text("Released from hiv")
    assert source(lab, 2) == f"{line}\n{BODY}"
    expect(lab.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(3)


def test_a_plan_follows_what_others_release(open_, shots):
    """All of it bought in another notebook, it costs nothing more, and each ± is that of what is stored; without its kernel Release is off, and says how to go on."""
    body = "low = hiv[hiv.age < 27].got.mean()\nhigh = hiv[hiv.age > 57].got.mean()\ngap = high - low"
    lab = open_(LOAD, OPEN, f"%%dp plan epsilon=0.02\n{body}")
    lab.run_all()
    board = lab.output(2).locator(".dpnb .dpnb-w")
    expect(board.locator("[aria-live]")).to_contain_text("ε 0.02")
    before = row(lab, 2, "gap")
    assert "±" in before[0]
    for question in ("hiv[hiv.age < 27].got.mean()", "hiv[hiv.age > 57].got.mean()"):
        other_kernel(lab, question, "0.01")
    for name in ("low", "high"):
        cost = lab.output(2).locator("table.planned tbody tr").filter(has_text=name).first
        expect(cost).to_contain_text("stored · ε 0")
    now = row(lab, 2, "gap")
    assert now[0].startswith("±")
    assert "if all" not in now[0]
    assert now[1] == before[1] == "free"
    release = board.get_by_role("button", name="Release")
    expect(release).to_be_enabled()
    lab.restart()
    expect(release).to_be_disabled()
    expect(board).to_contain_text("Run the cells above, then this one")
    lab.page.evaluate(
        "text => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.setSource(text)",
        "input()",
    )
    lab.select(0)
    lab.page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-cell'); }")
    expect(board).to_contain_text("The session is starting")
    expect(board).not_to_contain_text("No kernel")
    lab.page.locator(".jp-Stdin-input").press("Enter")
    expect(board).to_contain_text("Run the cells above, then this one")
    lab.shot("plan-without-kernel")


def test_questions_are_taken_from_the_card_of_a_dataset(open_, shots):
    """The card of dpnb.open opens its columns; what is taken is written below under the notebook's own name, line by line."""
    lab = open_(
        LOAD,
        'mine = dpnb.open("hiv", mode="guard-rail")',
        "%%dp epsilon=0.02\nd = mine[mine.age > 35].count()",
    )
    lab.run_cell(0)
    lab.run_cell(1)
    card = lab.output(1).locator(".dpnb")
    before = card.get_by_text("spent ε").first.inner_text()
    lab.run_cell(2)
    expect(card.get_by_text("spent ε").first).not_to_have_text(before)
    lab.select(1)
    column = card.get_by_role("button", name="age", exact=True)
    column.click()
    card.get_by_role("button", name="middle").first.click()
    expect(card.locator("[role=status]", has_text="Written into")).to_be_visible()
    assert source(lab, 2).endswith("\nmiddle_age = mine.age.median()")
    for theme in lab.shots.themes:
        lab.theme(theme)
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
        lab.shot(f"dataset-card-{theme.split()[-1].lower()}")
    lab.theme("JupyterLab Light")
