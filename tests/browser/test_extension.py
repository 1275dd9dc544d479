"""The JupyterLab extension: the budget is always in sight, and what is shown is what the ledger says."""

from __future__ import annotations

import re

from playwright.sync_api import expect

LOAD = "%load_ext dpnb\nimport dpnb"
OPEN = 'hiv = dpnb.open("hiv", mode="guard-rail", quiet=True)'
MOVED = """([before, by]) => {
    const spent = /ε ([\\d.]+)/.exec(document.querySelector('.dpnb-Gauge').textContent);
    return spent !== null && Math.abs(Number(spent[1]) - before - by) < 0.002;
}"""
ASK = "%%dp epsilon=0.25\ncollected = hiv.got.mean()"


def spent(lab):
    """Return what the gauge says was spent: four digits."""
    return float(re.search(r"ε ([\d.]+)", lab.gauge.inner_text())[1])


def test_gauge_follows_the_session(open_):
    """Late %load_ext, a first dataset, a release, a free second run, a restart and a shutdown: the gauge says each."""
    # a question of its own: one that another test has asked already would be answered from the store
    own = ASK.replace("hiv.got", "hiv[hiv.age > 20].got")
    lab = open_("6 * 7", LOAD, OPEN, own, own, "import time; time.sleep(0.1)")
    expect(lab.gauge).to_contain_text("not loaded")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_contain_text("no dataset")
    lab.run_cell(2)
    expect(lab.gauge).to_contain_text(re.compile(r"hiv: ε [\d.]+ of 4"))
    before = spent(lab)
    lab.run_cell(3)
    lab.page.wait_for_function(MOVED, arg=[before, 0.25])
    after = lab.gauge.inner_text()
    lab.run_cell(4)
    lab.run_cell(5)
    expect(lab.gauge).to_have_text(after)
    lab.restart()
    expect(lab.gauge).to_contain_text("restarted")
    lab.run_cell(1)
    lab.run_cell(2)
    # the kernel is new; what was spent is still spent
    expect(lab.gauge).to_have_text(after)
    lab.shutdown()
    expect(lab.gauge).to_contain_text("no kernel")


def test_plan_button_runs_the_cell_as_its_plan(open_):
    """The Plan command puts the cell's plan below it, and nothing is charged."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.75\nq = hiv.got.variance()")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.gauge).to_contain_text("of 4")
    before = lab.gauge.inner_text()
    lab.select(2)
    lab.command("dpnb:plan-cell")
    expect(lab.output(3).last).to_contain_text("Nothing was spent")
    expect(lab.gauge).to_have_text(before)


def test_without_dpnb_the_notebook_is_left_alone(open_):
    """In a kernel that never loads dpnb there is no tag, no error and no question that fails."""
    lab = open_("1 + 1", "2 + 2")
    lab.run_all()
    expect(lab.output(1)).to_have_text("4")
    expect(lab.gauge).to_contain_text("not loaded")
    expect(lab.page.locator(".dpnb-Tag")).to_have_count(0)


def test_each_notebook_shows_its_own_session(open_):
    """Of two notebooks the one in front is told; what its kernel's session says is there again when it comes back."""
    lab = open_(LOAD, OPEN, "%%dp epsilon=0.0078125\nq = hiv.tinc.mean()", name="first.ipynb")
    lab.run_all()
    expect(lab.gauge).to_contain_text(re.compile(r"hiv: ε [\d.]+ of 4"))
    before = lab.gauge.inner_text()
    lab.server.notebook("second.ipynb", ["1"])
    lab.command(
        "docmanager:open", {"path": "second.ipynb", "factory": "Notebook", "kernel": {"name": "python3"}}
    )
    expect(lab.gauge).to_contain_text("not loaded")
    lab.command("docmanager:open", {"path": "first.ipynb", "factory": "Notebook"})
    expect(lab.gauge).to_have_text(before)
