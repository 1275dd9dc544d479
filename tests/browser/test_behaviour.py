"""What is shown stays true whatever happens to kernel, curator, page and versions; and neither page nor console complains."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.test_extension import LOAD, MOVED, OPEN, spent

BUSY = """import time, pathlib
end = time.monotonic() + 60
while time.monotonic() < end:
    time.sleep(0.05)
pathlib.Path("minute-over").touch()"""
WAITS = """async text => {
    const gauge = document.querySelector('.dpnb-Gauge');
    const start = performance.now();
    while (!gauge.textContent.includes(text)) {
        if (performance.now() - start > 10_000) return Infinity;
        await new Promise(next => setTimeout(next, 10));
    }
    return performance.now() - start;
}"""


# every text of the gauge from now on, and whether a kernel has answered what dpnb asks it first: does it know dpnb?
QUIET = """() => new Promise((done) => {
    let timer;
    const again = () => { clearTimeout(timer); timer = setTimeout(done, 1000); };
    new MutationObserver(again).observe(document.querySelector('.dpnb-Gauge'), { subtree: true, childList: true, characterData: true });
    again();
})"""
"""Until the gauge was not drawn for a second: what the cells before have spent is told by then."""

LISTEN = """() => {
    const gauge = document.querySelector('.dpnb-Gauge');
    const asked = new Set();
    window.dpnbHeard = [];
    window.dpnbAnswered = false;
    new MutationObserver(() => {
        if (window.dpnbHeard.at(-1) !== gauge.textContent) window.dpnbHeard.push(gauge.textContent);
    }).observe(gauge, { subtree: true, childList: true, characterData: true });
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    kernel.anyMessage.connect((_, { msg, direction }) => {
        if (direction === 'send' && msg.content.target_name === 'dpnb.session') asked.add(msg.header.msg_id);
        if (direction === 'recv' && asked.has(msg.parent_header.msg_id) && msg.header.msg_type === 'comm_info_reply')
            setTimeout(() => { window.dpnbAnswered = true; });
    });
}"""


def kill_curator(lab):
    """Kill the curator of the server's home, as an operator or a lack of memory would."""
    pid = json.loads((lab.server.home / "curator.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)


def begin(lab, index):
    """Run a cell without waiting for its end; return when the kernel has begun it."""
    lab.select(index)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
    expect(lab.cell(index).locator(".jp-InputPrompt").first).to_contain_text("*")
    lab.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
    )


def interrupt(lab):
    """Interrupt the kernel, and wait until it is idle."""
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()")
    lab.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )


@contextlib.contextmanager
def busy(lab, index):
    """A cell runs, for a whole minute unless it is interrupted when the block ends."""
    begin(lab, index)
    try:
        yield
        assert not (lab.server.work / "minute-over").exists(), "the cell had ended: this showed nothing"
    finally:
        interrupt(lab)


def set_source(lab, index, text):
    """Type a cell's text, all at once."""
    lab.page.evaluate(
        "([i, s]) => window.jupyterapp.shell.currentWidget.content.widgets[i].model.sharedModel.setSource(s)",
        [index, text],
    )


def ready(open_, *cells):
    """A notebook with the dataset open."""
    lab = open_(LOAD, OPEN, *cells)
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_contain_text(re.compile(r"hiv: ε [\d.]+ of 4"))
    return lab


def test_a_killed_curator_is_said_while_the_kernel_is_idle(open_):
    """No cell runs: the gauge says so by itself, the panel what to type; that brings back the same budget."""
    lab = ready(open_, "%dp budget")
    before = lab.gauge.inner_text()
    lab.gauge.click()
    kill_curator(lab)
    waited = lab.page.evaluate(WAITS, "curator ended")
    print(f"the end of the curator was shown after {waited:.0f} ms")
    expect(lab.gauge).to_have_text("dp: curator ended")
    expect(lab.panel).to_contain_text("What was spent stays in its ledger. Run %dp budget to start it again.")
    lab.shot("curator-gone")
    lab.run_cell(2)
    expect(lab.gauge).to_have_text(before)


def test_a_killed_curator_is_said_while_a_cell_runs(open_):
    """Also when the kernel is busy, and the cell is not disturbed by it."""
    lab = ready(open_, BUSY)
    before = lab.gauge.inner_text()
    with busy(lab, 2):
        kill_curator(lab)
        expect(lab.gauge).to_have_text("dp: curator ended")
    set_source(lab, 2, "hiv.budget.spent")
    lab.run_cell(2)
    expect(lab.gauge).to_have_text(before)


def test_a_kernel_busy_for_a_minute_still_answers(open_):
    """While a cell runs: the price of another is read, the panel answers and the methods paragraph is made; the page can be reloaded."""
    ask = "%%dp epsilon=0.03125\nmean_distance = hiv.age.clip(0, 91).mean()"
    lab = ready(open_, ask, BUSY, "%%dp epsilon=0.125\nq = hiv.age.mean()")
    lab.run_cell(2)
    lab.gauge.click()
    before = lab.gauge.inner_text()
    tag = lab.cell(4).locator(".dpnb-Tag")
    with busy(lab, 3):
        set_source(lab, 4, "%%dp epsilon=0.75\nq = hiv.age.clip(0, 92).mean()")
        expect(tag).to_contain_text("ε 0.75")
        lab.panel.get_by_role("button", name="Copy as methods paragraph").click()
        expect(lab.panel.get_by_role("textbox", name="methods paragraph")).to_have_value(
            re.compile("pure ε-differential privacy")
        )
        lab.page.reload()
        expect(lab.gauge).to_have_text(before)
    expect(lab.gauge).to_have_text(before)


def test_a_charge_is_shown_before_its_cell_has_ended(open_):
    """A long cell that releases in its middle: the gauge follows the ledger, not the cell."""
    cell = "dpnb.release({'q': hiv.age.clip(0, 93).mean()}, epsilon=0.0625)\n" + BUSY
    lab = ready(open_, cell)
    before = spent(lab)
    with busy(lab, 2):
        lab.page.wait_for_function(MOVED, arg=[before, 0.0625])


def test_versions_that_do_not_match_say_what_to_type(open_):
    """A kernel whose dpnb speaks another protocol: gauge and panel say which side is older; nothing of its state is drawn."""
    fake = """import dpnb.widgets.snapshot, dpnb.notebook.comm
told = dpnb.notebook.comm.snapshot
dpnb.notebook.comm.snapshot = lambda session: {**told(session), 'protocol': 99, 'version': '9.9', 'datasets': 3}"""
    lab = open_(fake, LOAD, "%%dp epsilon=1\nq = hiv.age.mean()")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_have_text("dp: versions differ")
    lab.gauge.click()
    expect(lab.panel).to_contain_text(
        "The kernel has dpnb 9.9, which is newer than the extension of this page."
    )
    expect(lab.cell(2).locator(".dpnb-Tag")).to_have_text("protected")


def test_unloading_and_loading_again_are_followed(open_):
    """`%unload_ext` is "not loaded"; loading again is "live"."""
    lab = ready(open_, "%unload_ext dpnb", "%load_ext dpnb")
    before = lab.gauge.inner_text()
    lab.run_cell(2)
    expect(lab.gauge).to_have_text("dp: not loaded")
    lab.run_cell(3)
    expect(lab.gauge).to_have_text(before)


@pytest.mark.parametrize("queued", [0, 3])
def test_a_restart_is_said_until_dpnb_is_loaded_again(open_, queued):
    """Restarted as the menu does, from a busy kernel with or without cells in wait: "restarted" and nothing else, until loaded."""
    lab = ready(open_, BUSY, *(f"print({number})" for number in range(queued)))
    before = lab.gauge.inner_text()
    begin(lab, 2)
    for index in range(3, 3 + queued):
        lab.select(index)
        lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
        expect(lab.cell(index).locator(".jp-InputPrompt").first).to_contain_text("*")
    lab.page.evaluate(QUIET)
    lab.page.evaluate(LISTEN)
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    lab.page.wait_for_function("() => window.dpnbAnswered")
    expect(lab.gauge).to_have_text("dp: restarted")
    assert lab.page.evaluate("() => window.dpnbHeard") == ["dp: restarted"]
    lab.gauge.click()
    expect(lab.panel).to_contain_text(
        "The kernel was restarted. What was spent stays in the ledger. Run: %load_ext dpnb"
    )
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_have_text(before)
    assert not (lab.server.work / "minute-over").exists(), "the cell had ended: this showed nothing"


def test_the_cost_of_a_cell_knows_what_is_stored(open_):
    """Before a run the loss, after it what was paid and that it is stored; with one more question, what is new; too much, what is left."""
    one = "a = hiv.age.clip(0, 95).mean()"
    lab = ready(open_, f"%%dp epsilon=0.03\n{one}", "1")
    tag = lab.cell(2).locator(".dpnb-Tag")
    expect(lab.cell(0).locator(".dpnb-Tag")).to_have_count(0)
    expect(tag).to_contain_text(re.compile(r"± [\d.]+ to ± [\d.]+ · ε 0\.03 · ε [\d.]+ left after"))
    expect(tag).to_have_attribute("title", re.compile("to .* for 4,820 to 482 people"))
    lab.shot("tag-price")
    lab.run_cell(2)
    expect(tag).to_contain_text("ε 0.03 · stored")
    lab.shot("tag-stored")
    set_source(lab, 3, f"%%dp epsilon=0.06\n{one}\nb = hiv.age.clip(0, 96).mean()")
    other = lab.cell(3).locator(".dpnb-Tag")
    expect(other).to_contain_text("ε 0.06 · 1 stored, ε 0.03 new")
    lab.shot("tag-part")
    set_source(lab, 3, "%%dp epsilon=40\nb = hiv.age.clip(0, 97).mean()")
    expect(other).to_contain_text("ε 40 · only ε")
    before = lab.gauge.inner_text()
    lab.run_cell(2)
    expect(tag).to_contain_text("stored")
    expect(lab.gauge).to_have_text(before)


def test_a_notebook_for_which_no_kernel_is_chosen_has_none(open_):
    """Said while somebody is asked for one, and after nobody chose; a kernel that is chosen later is asked."""
    lab = open_("1")
    expect(lab.gauge).to_contain_text("not loaded")
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), lab.server.work / "none.ipynb"
    )
    lab.page.evaluate(
        "() => { window.jupyterapp.commands.execute('docmanager:open', { path: 'none.ipynb' }) }"
    )
    dialogue = lab.page.locator(".jp-Dialog")
    expect(dialogue).to_contain_text("Select kernel")
    expect(lab.gauge).to_contain_text("no kernel")
    dialogue.get_by_role("button", name="No Kernel").click()
    expect(dialogue).to_have_count(0)
    expect(lab.gauge).to_contain_text("no kernel")
    lab.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.changeKernel({ name: 'python3' }).then(() => null)"
    )
    expect(lab.gauge).to_contain_text("not loaded")


INSIDE = """() => {
    const button = document.querySelector('.dpnb-Gauge'), at = button.getBoundingClientRect();
    const found = document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2);
    return at.left >= 0 && at.right <= innerWidth && button.scrollWidth <= button.clientWidth && button.contains(found);
}"""


def test_a_narrow_window_keeps_the_gauge(open_):
    """What was spent stays in the status bar, whole and within the window, without the dataset's name; a state as well."""
    lab = open_("1", LOAD, OPEN)
    for width in (600, 480):
        lab.page.set_viewport_size({"width": width, "height": 800})
        expect(lab.gauge).to_be_visible()
        expect(lab.gauge).to_have_text("dp: not loaded")
        lab.page.wait_for_function(INSIDE)
    lab.run_cell(1)
    lab.run_cell(2)
    for width in (480, 600):
        lab.page.set_viewport_size({"width": width, "height": 800})
        expect(lab.gauge).to_have_text(re.compile(r"^hiv: ε [\d.]+ of 4$"))
        lab.page.wait_for_function(
            "() => /^ε [\\d.]+ of 4$/.test(document.querySelector('.dpnb-Gauge').innerText.trim())"
        )
        expect(lab.gauge).to_have_attribute("aria-label", re.compile(r"Privacy budget: hiv: ε"))
        lab.page.wait_for_function(INSIDE)
        lab.shot(f"gauge-{width}")


SLOW = """import dpnb.notebook.comm as told, threading
held, price_of = threading.Event(), told.price_of
def slowly(*asked):
    held.wait(60)
    return price_of(*asked)
told.price_of = slowly"""


def test_the_price_of_an_older_text_is_never_shown_as_that_of_a_newer(open_):
    """Marked as soon as the text changes, and gone where the kernel is slow; words tell what ran from what did not."""
    lab = ready(open_, SLOW, "held.set()", "%%dp epsilon=0.5\nq = hiv.age.clip(0, 98).mean()", "1")
    tag = lab.cell(4).locator(".dpnb-Tag")
    expect(tag).to_have_text(re.compile(r"^\s*± \S+ to ± \S+ · ε 0\.5 · ε \S+ left after\s*$"))
    look = tag.evaluate(
        "node => [getComputedStyle(node), getComputedStyle(document.body)].map(one => one.color)"
    )
    assert tag.evaluate("node => getComputedStyle(node).fontSize") == "15px"
    assert look[0] == look[1], look
    expect(tag).to_have_attribute("title", re.compile(r"± \S+ to ± \S+ for 4,820 to 482 people"))
    lab.run_cell(2)
    marked = lab.page.evaluate(
        """text => {
            const cell = window.jupyterapp.shell.currentWidget.content.widgets[4];
            cell.model.sharedModel.setSource(text);
            return cell.node.querySelector('.dpnb-Tag').getAttribute('aria-busy');
        }""",
        "%%dp epsilon=0.75\nq = hiv.age.clip(0, 98).mean()",
    )
    assert marked == "true"
    expect(tag).to_have_text("…")
    lab.run_cell(3)
    expect(tag).to_have_text(re.compile(r"^\s*± .* · ε 0\.75 · "))
    expect(tag).not_to_have_attribute("aria-busy", "true")
    set_source(lab, 5, "%%dp epsilon=0.5\nq = hiv.agee.mean()")
    refused = re.compile(r"^ would be refused: .*Did you mean age\?$")
    expect(lab.cell(5).locator(".dpnb-Tag")).to_have_text(refused)
    lab.shot("tag-refused")
    set_source(lab, 5, "%%dp epsilon=0.5\nz = len([1])")
    expect(lab.cell(5).locator(".dpnb-Tag")).to_have_text("asks nothing")


BELOW = """() => {
    const area = document.querySelectorAll('.jp-Notebook .jp-Cell')[2].querySelector('.jp-InputArea');
    const at = name => area.querySelector(name).getBoundingClientRect();
    const [tag, code, all] = [at('.dpnb-Tag'), at('.jp-InputArea-editor'), area.getBoundingClientRect()];
    return tag.height > 0 && tag.top >= code.bottom - 0.5 && tag.bottom <= all.bottom + 0.5
        && tag.left >= all.left - 0.5 && tag.right <= all.right + 0.5 && all.right - code.right < 8;
}"""


def test_the_tag_never_lies_over_the_code(open_):
    """In every width it stands below the code, within the cell, and a long line of code is not shortened by it."""
    long = "%%dp plan epsilon=0.5\na = hiv.age.mean()\nb = (" + " + ".join(["hiv.distvct"] * 12) + ").mean()"
    lab = ready(open_, long)
    lab.run_cell(2)
    expect(lab.cell(2).locator(".dpnb-Tag")).to_contain_text(
        re.compile(r"plan · nothing spent · now .*± .* · ε 0\.5")
    )
    for width in (1360, 700, 480):
        lab.page.set_viewport_size({"width": width, "height": 800})
        lab.page.wait_for_function(BELOW)
        for theme in lab.shots.themes:
            lab.theme(theme)
            expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)  # it covers the page for a moment
            lab.shot(f"tag-{width}-{theme.split()[-1].lower()}")
