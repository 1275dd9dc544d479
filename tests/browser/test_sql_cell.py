"""A cell of SQL in JupyterLab: its colours, its price while it is typed, completion, a refusal, and its card on a wide and a narrow page."""

from __future__ import annotations

import re

from playwright.sync_api import expect

LOAD = '%load_ext dpnb\nimport dpnb\nhiv = dpnb.open("hiv", mode="guard-rail", quiet=True)'
HEAD = "%%dp sql epsilon=0.05"
SELECT = 'by << SELECT "any" AS paid, COUNT(*) AS n, AVG(got) AS share, AVG(age) AS age\nFROM hiv WHERE age < 77 GROUP BY 1'
WRITE = """([i, text]) => {
    const cell = window.jupyterapp.shell.currentWidget.content.widgets[i];
    cell.model.sharedModel.setSource(text);
    cell.editor.focus();
    cell.editor.setCursorPosition(cell.editor.getPositionAt(text.length));
}"""
LANGUAGE = "i => window.jupyterapp.shell.currentWidget.content.widgets[i].model.mimeType"
# asked again until it is shown in a list, or written at once where it is the only one: a first answer may come too late to be shown
OFFERED = """async ([i, offer]) => {
    const { commands, shell } = window.jupyterapp;
    const { sharedModel } = shell.currentWidget.content.widgets[i].model;
    const there = () => [...document.querySelectorAll('.jp-Completer-item')].some(one => one.textContent.includes(offer));
    for (let tries = 0; tries < 60 && !there() && !sharedModel.getSource().includes(offer); tries++) {
        await commands.execute('completer:invoke-notebook');
        await new Promise(done => setTimeout(done, 1000));
    }
    if (!there() && !sharedModel.getSource().includes(offer)) throw new Error(`${offer} is not offered`);
}"""


def test_a_cell_of_sql_is_coloured_priced_completed_and_drawn(open_):
    """One notebook from the first word to the card."""
    lab = open_(LOAD, f"{HEAD}\n{SELECT}", "hiv")
    editor, tag = lab.cell(1).locator(".cm-content"), lab.cell(1).locator(".dpnb-Tag")
    expect(editor.locator(".dpnb-option").first).to_have_text("sql")
    expect(editor.get_by_text("SELECT", exact=True)).to_have_count(1)  # a word with a colour of its own
    assert [lab.page.evaluate(LANGUAGE, i) for i in (1, 2)] == ["text/x-pgsql", "text/x-ipython"]
    lab.run_cell(0)
    expect(tag).to_contain_text("ε 0.05")
    for text, offer in (("SELECT AVG(ti", "tinc"), ("SELECT COUNT(*) FROM hiv WHERE got = ", "1")):
        lab.select(1)
        lab.page.evaluate(WRITE, [1, f"{HEAD}\n{text}"])
        lab.page.evaluate(OFFERED, [1, offer])
        lab.page.keyboard.press("Escape")
    lab.page.evaluate(WRITE, [1, f"{HEAD}\nSELECT AVG(agee) FROM hiv"])
    expect(tag).to_contain_text("would be refused: hiv has no column agee")
    # Python again where the magic line says so
    lab.page.evaluate(WRITE, [1, "%%dp epsilon=0.05\nn = hiv.count()"])
    expect(tag).to_contain_text("ε 0")
    assert lab.page.evaluate(LANGUAGE, 1) == "text/x-ipython"
    lab.page.evaluate(WRITE, [1, f"{HEAD}\n{SELECT}"])
    lab.run_cell(1)
    card = lab.output(1).locator(".dpnb").last
    expect(card.locator("table.select tbody tr:not(.scale)")).to_have_count(2)
    expect(card).to_contain_text("ε 0.05 paid")
    expect(tag).to_contain_text("stored")
    assert re.search(r"\[[\d,]+ to [\d,]+\]", card.inner_text())
    alone = lab.page.context.new_page()
    alone.set_content(f'<meta charset="utf-8">{card.evaluate("one => one.outerHTML")}')
    for width in (1400, 390):
        alone.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            alone.emulate_media(color_scheme=scheme)
            lab.shots(alone, f"sql-{width}-{scheme}", full_page=True)
        assert alone.locator("table.select td.track svg").first.is_visible() is (width == 1400)
        assert alone.evaluate("document.documentElement.scrollWidth") <= width
    alone.close()
    # a figure of the table is paid for again under a name of its own, and the old card then says so
    card.get_by_role("button", name="more ε for by.n").click()
    expect(card.get_by_role("slider", name="+ε")).to_be_visible()
    lab.shot("sql-more")
    card.get_by_role("button", name="Release").click()
    expect(lab.output(2)).to_contain_text("ε 0.01667 + ε 0.017")
    expect(lab.cell(2).locator(".cm-content")).to_contain_text("by_n = by['n'].remeasure(epsilon=")
    newer = card.locator(".dpnb-newer:visible")
    expect(newer).to_have_count(1)
    expect(newer).to_contain_text("Paid for again since: ledger entry")
    assert not lab.errors
