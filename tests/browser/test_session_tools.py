"""What the extension offers around a session: hover help for columns, settings, and the paragraph for a paper."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_extension import ASK, LOAD, OPEN

PEOPLE = 'people = dpnb.open("hiv", mode="guard-rail", quiet=True)'


def hover(lab, cell, word):
    """Rest the pointer on the first place of a word in a cell's text."""
    box = (
        lab.cell(cell)
        .locator(".cm-content")
        .evaluate(
            """(node, word) => {
            const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
            for (let text = walker.nextNode(); text; text = walker.nextNode()) {
                const at = text.data.indexOf(word);
                if (at >= 0) {
                    const range = document.createRange();
                    range.setStart(text, at);
                    range.setEnd(text, at + word.length);
                    const box = range.getBoundingClientRect();
                    return [box.x + box.width / 2, box.y + box.height / 2];
                }
            }
        }""",
            word,
        )
    )
    lab.page.mouse.move(box[0] - 3, box[1])
    lab.page.mouse.move(*box)


def helped(lab, cell, word):
    """Rest the pointer on a word until its help is there: what is drawn late moves the cells below it.

    The editor draws help outside of the window first, and leaves it there when its word has moved out of sight meanwhile.
    """
    for _ in range(20):
        lab.cell(cell).locator(".cm-content").scroll_into_view_if_needed()
        hover(lab, cell, word)
        with contextlib.suppress(AssertionError):
            expect(lab.page.locator(".dpnb-Hover")).to_be_in_viewport(ratio=1, timeout=1_500)
            return
    pytest.fail(f"no help for {word}")


def test_a_column_is_explained_under_the_pointer(open_):
    """In a %%dp cell a column after its dataset's name shows label, bounds and missing rule; elsewhere nothing is shown."""
    lab = open_(LOAD, PEOPLE, "%%dp plan epsilon=0.5\nq = people.age.mean()", "people.age")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_contain_text("of 4")
    expect(lab.cell(2).locator(".dpnb-Tag")).to_contain_text("ε 0.5")
    before = lab.gauge.inner_text()
    help_ = lab.page.locator(".dpnb-Hover")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)
        lab.page.mouse.move(5, 5)
        expect(help_).to_have_count(0)
        helped(lab, 2, "age")
        expect(help_).to_contain_text("hiv.age")
        expect(help_).to_contain_text("type and bounds")
        expect(help_).to_contain_text(re.compile(r"missing values\s*(left out|counted as)"))
        assert help_.evaluate(
            """node => {
                const box = node.getBoundingClientRect();
                const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                return node.contains(top);
            }"""
        ), "something lies over the help"
        lab.shot(f"hover-{theme.split()[-1].lower()}")
    lab.theme("JupyterLab Light")
    lab.page.mouse.move(5, 5)
    expect(help_).to_have_count(0)
    hover(lab, 3, "age")
    lab.page.evaluate("() => new Promise(done => setTimeout(done, 700))")  # longer than a pointer has to rest
    expect(help_).to_have_count(0)
    expect(lab.gauge).to_have_text(before)


def test_a_column_of_a_part_is_explained_too(open_):
    """After a filter, and under the name that the cell itself gives to a part: `young = people[people.age < 30]`, then `young.got`."""
    cell = "%%dp plan epsilon=0.5\nyoung = people[people.age < 30]\nq = young.got.mean()"
    lab = open_(LOAD, PEOPLE, cell)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.cell(2).locator(".dpnb-Tag")).to_contain_text("ε 0.5")
    help_ = lab.page.locator(".dpnb-Hover")
    helped(lab, 2, "got")
    expect(help_).to_contain_text("hiv.got")


def test_settings_are_read_live(open_):
    """Gauge, price and Plan button go when they are switched off, and come back, without a reload."""
    lab = open_(LOAD, OPEN, ASK)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.select(2)
    tag = lab.cell(2).locator(".dpnb-Tag")
    plan = lab.cell(2).locator('[data-command="dpnb:plan-cell"]')
    shown = {"gauge": lab.gauge, "price": tag, "plan": plan}
    change = """async ([name, value]) => {
        const app = window.jupyterapp;
        const all = await app.resolveOptionalService(
            [...app.pluginRegistry._services.keys()].find(token => token.name.endsWith(':ISettingRegistry'))
        );
        await all.set('dpnb:session', name, value);
    }"""
    for name, what in shown.items():
        expect(what).to_be_visible()
        lab.page.evaluate(change, [name, False])
        expect(what).to_be_hidden()
        others = [one for other, one in shown.items() if other != name]
        for one in others:
            expect(one).to_be_visible()
        lab.page.evaluate(change, [name, True])
        expect(what).to_be_visible()


def test_the_methods_paragraph_is_copied(open_):
    """The panel asks the kernel for the paragraph: a reason while nothing is released, then the text; nothing is charged."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.015625\nwilling = hiv[hiv.age > 21].got.mean()")
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.run_cell(0)
    lab.run_cell(1)
    lab.gauge.click()
    button = lab.panel.get_by_role("button", name="Copy as methods paragraph")
    button.click()
    expect(lab.panel).to_contain_text("This notebook holds no released answer of hiv")
    before = lab.gauge.inner_text()
    lab.run_cell(2)
    expect(lab.gauge).not_to_have_text(before)
    after = lab.gauge.inner_text()
    lab.theme("JupyterLab Light")
    button.click()
    text = lab.panel.get_by_role("textbox", name="methods paragraph")
    expect(text).to_have_value(re.compile("pure ε-differential privacy"))
    expect(lab.panel.get_by_text("Copied.")).to_be_visible()
    assert lab.page.evaluate("navigator.clipboard.readText()") == text.input_value()
    lab.shot("methods")
    expect(lab.gauge).to_have_text(after)


def test_the_ledger_is_exported(open_):
    """The panel's buttons hand over a file that has the charges in it."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.015625\nq = hiv.age.clip(0, 84).mean()")
    lab.run_all()
    lab.gauge.click()
    for name in ("JSON", "CSV"):
        with lab.page.expect_download() as coming:
            lab.panel.get_by_role("button", name=name, exact=True).click()
        assert coming.value.suggested_filename == f"hiv-ledger.{name.lower()}"
        assert "hiv.age.clip(0, 84)" in coming.value.path().read_text(encoding="utf-8")
