"""The coverage lab under a real hand: started, paused, resumed, cancelled, swept; its kernel is the object in this process."""

from __future__ import annotations

import json
import os
import re

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from tests.browser.conftest import rest, unfolded, until

# what the second cell printed, as the notebook holds it: the page may draw it a moment later
PRINTED = (
    "() => window.jupyterapp.shell.currentWidget.content.widgets[1].model.outputs.get(0).data['text/plain']"
)


@pytest.fixture
def show(show):
    """Show a lab whose kernel hears it, unless a test says otherwise."""
    return lambda lab, **options: unfolded(show(lab, **{"kernel": True, "height": 1000, **options}))


def button(page, name):
    """Return a button by its name."""
    return page.get_by_role("button", name=name, exact=True)


def pause(page, part):
    """Press Pause in the very frame that shows so much, for a slow machine may draw the rest before a hand is there; it is at rest then."""
    pressed = """part => document.querySelector('progress').value > part &&
        [...document.querySelectorAll('button')].find(one => one.textContent === 'Pause').click() === undefined"""
    until(page, pressed, part)
    expect(button(page, "Resume")).to_be_visible()
    rest(page)


def test_a_thousand_studies_are_started_and_told(show, shots):
    """Start simulates them; the table says what Python says; misses have a cross each; the words name who covers too few."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    page = show(lab)
    expect(page.locator("[aria-live]")).to_contain_text("Press Start: 1,000 studies")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    told = "naive: 189 of 1,000 intervals missed, more than the 50 promised."
    expect(page.locator("[aria-live]")).to_contain_text(told)
    expect(page.locator("ul.told li", has_text="naive")).to_contain_text(f"✕ {told}")
    expect(page.locator("ul.told li", has_text="confidence")).to_contain_text("as promised.")
    expect(page.locator("tbody tr", has_text="confidence")).to_contain_text("95.4 %")
    figure = page.locator("figure.stack", has=page.locator("svg[aria-label^='intervals of naive']"))
    label = figure.locator("svg").get_attribute("aria-label")
    missed = int(re.search(r"(\d+) of the last 40 miss", label)[1])
    assert missed == sum(not held for *_, held in lab.facts["run"]["methods"]["naive"]["stack"])
    assert figure.locator("svg path").last.get_attribute("d").count("M") == missed > 0
    shots(page, "coverage-studies", full_page=True)


def test_paused_resumed_and_cancelled(show):
    """Pause stops after a block and the code says which, Resume goes on to the same numbers, Clear begins anew."""
    lab = widgets.coverage_lab("mean", "skewed", n=2000, epsilon=0.5, reps=4000)
    page = show(lab)
    bar = page.locator("progress")
    button(page, "Start").click()
    pause(page, 0.2)
    part = lab.result.studies
    assert 0 < part < 4000
    rest(page)
    assert lab.result.studies == part
    expect(button(page, "Cancel")).to_be_enabled()
    expect(page.locator("summary").last).to_have_text(
        f"The code that reproduces these {part:,} studies, to the bit"
    )
    assert f"reps={part}," in page.get_by_label("the code that reproduces this").input_value()
    button(page, "Resume").click()
    expect(button(page, "Again")).to_be_visible()
    expect(page.locator("summary").last).to_have_text("The code that reproduces this, to the bit")
    whole = widgets.coverage_lab("mean", "skewed", n=2000, epsilon=0.5, reps=4000).run()
    assert dict(lab.table().columns) == dict(whole.table().columns)
    button(page, "Clear").click()
    expect(button(page, "Start")).to_be_visible()
    assert (lab.result.studies, bar.evaluate("e => e.value")) == (0, 0)


def test_methods_are_toggled(show):
    """A hidden method leaves table, pictures and code, and comes back without a new run; one method always stays."""
    lab = widgets.coverage_lab("mean", "bell", methods=["confidence", "naive"]).run()
    page = show(lab)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("checkbox", name="naive").uncheck()
    expect(rows).to_have_count(1)
    expect(page.locator(".stacks").first.locator("figure")).to_have_count(1)
    assert "naive" not in page.get_by_label("the code that reproduces this").input_value()
    page.get_by_role("checkbox", name="confidence").click()
    expect(page.get_by_role("checkbox", name="confidence")).to_be_checked()
    page.get_by_role("checkbox", name="naive").check()
    expect(rows).to_have_count(2)
    assert lab.result.studies == 1000


def test_a_new_setup_begins_anew(show):
    """Another statistic brings populations that fit it; a size that is none is refused beside its field."""
    lab = widgets.coverage_lab().run()
    page = show(lab)
    page.get_by_label("statistic").select_option("proportion")
    expect(page.get_by_label("population", exact=True)).to_have_value("half")
    expect(button(page, "Start")).to_be_visible()
    page.get_by_label("population", exact=True).select_option("rare")
    expect(page.locator(".head code")).to_contain_text("Bernoulli(0.01)")
    studies = page.get_by_label("studies", exact=True)
    studies.fill("0")
    studies.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="A whole number")).to_be_visible()
    studies.fill("500")
    studies.press("Enter")
    size = page.get_by_label("n, typed")
    size.fill("100")
    size.press("Enter")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    assert (lab.setup.reps, lab.setup.n, lab.setup.population) == (500, 100, "rare")


def test_sweep_has_a_cursor(show, shots):
    """The cursor is dragged and stepped from value to value; the table tells the numbers that stand there."""
    lab = widgets.coverage_lab("mean", "skewed")
    page = show(lab)
    page.get_by_label("view").select_option("loss")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    cursor = page.get_by_role("slider", name="cursor of the sweep")
    cursor.focus()
    page.keyboard.press("End")
    expect(cursor).to_have_attribute("aria-valuenow", "8")
    naive = next(row for row in lab.facts["sweep"]["rows"] if row["name"] == "naive")
    row = page.locator("tbody tr", has_text="naive")
    expect(row).to_contain_text(f"{100 * naive['coverage'][8]:.1f}".removesuffix(".0"))
    box = page.locator("svg[aria-label^='coverage along']").bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(cursor).to_have_attribute("aria-valuenow", "0")
    expect(row).to_contain_text(f"{100 * naive['coverage'][0]:.1f}".removesuffix(".0"))
    shots(page, "coverage-sweep-loss", full_page=True)


def test_bootstrap_tells_its_price(show, shots):
    """The view sets a mean and ρ, draws the published intervals along k, and says what is charged and what is proved."""
    lab = widgets.coverage_lab("median", "bell", n=200, reps=60)
    page = show(lab)
    page.get_by_label("view").select_option("k")
    expect(page.get_by_label("statistic")).to_be_hidden()
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    cursor = page.get_by_role("slider", name="cursor of the sweep")
    cursor.focus()
    page.keyboard.press("Home")
    expect(
        page.get_by_text("Published as ρ 0.5, ε 4.89 at δ 10⁻⁶. It costs more with 10 resamples")
    ).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(7)
    shots(page, "coverage-bootstrap", full_page=True)
    page.get_by_label("view").select_option("studies")
    expect(page.locator("figure.stack", has=page.locator("svg[aria-label^='intervals of']"))).to_have_count(7)


def test_the_published_table_stands_beside_its_price(show, shots):
    """One button sets it; each row has its coverage, the one in print, the charge in print and the true one; why is shown."""
    lab = widgets.coverage_lab()
    page = show(lab)
    button(page, "The published table").click()
    expect(page.locator(".head code")).to_contain_text("California 2000: ages of adults")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    for name, words in (("unbiased", "80.1 %"), ("conservative", "97.1 %"), ("most conservative", "100.0 %")):
        row = page.locator("tbody tr", has=page.get_by_role("rowheader", name=name, exact=True))
        cells = row.locator("td").all_inner_texts()
        here, print_ = (float(cells[i].split(" %")[0]) / 100 for i in (0, 3))
        low, high = (float(word.strip(")")) / 100 for word in cells[3].split("(")[1].split(" to "))
        assert cells[3].startswith(words)
        assert low <= print_ <= high
        apart = abs(here - print_) / max((print_ * (1 - print_) * 2 / 1000) ** 0.5, 1e-3)
        line = page.locator("ul.told li", has_text=f"{100 * here:.1f} % here, {words} in print")
        chance = "no more than chance" if apart < 1.9 else "more than chance explains"
        expect(line.filter(has_text=re.compile(f"^{name}:"))).to_contain_text(chance)
        expect(row).to_contain_text("ε 5.16 to 6.74")
        expect(row).to_contain_text("ρ 0.5 (ε 4.89)")
    spike = page.locator("figure.stack", has_text="are zero").first
    expect(spike).to_contain_text("unbiased")
    expect(spike.locator("path.spike")).to_have_count(1)
    button(page, "one resample").click()
    expect(page.get_by_text("A row that occurs twice moves the answer twice as far")).to_be_visible()
    which = page.get_by_role("slider", name="which resample")
    which.focus()
    page.keyboard.press("End")
    counts = lab.facts["partition"]["counts"][23]
    expect(page.get_by_text(f"leaves out {counts[0]} of 500 rows")).to_be_visible()
    shots(page, "coverage-published", full_page=True)
    button(page, "z-scores").click()
    expect(page.get_by_text("in standard errors")).to_be_visible()
    button(page, "releases").click()
    expect(page.get_by_text("the average of k resamples").first).to_be_visible()
    page.get_by_role("checkbox", name="with the noise that keeps its promise").check()
    expect(button(page, "Start")).to_be_visible()
    assert lab.setup.repaired


def test_a_kernel_that_does_not_answer_is_named(show):
    """Where no answer comes the lab says so, draws nothing that it does not know, and hears of it later."""
    page = show(widgets.coverage_lab())
    page.busy = True
    button(page, "Start").click()
    status = page.locator("p.warn[role=status]:visible")
    expect(
        status.filter(has_text=re.compile("No answer from the kernel|Nothing can be simulated"))
    ).to_be_visible()
    expect(page.locator("progress")).to_have_js_property("value", 0)
    button(page, "Pause").click()
    expect(button(page, "Start")).to_be_visible()
    page.busy = False
    page.get_by_role("checkbox", name="monte carlo").check()  # what was asked before comes with it
    expect(button(page, "Again")).to_be_visible()
    expect(status.filter(has_text=re.compile("No answer|Nothing can"))).to_have_count(0)


def test_a_page_without_a_kernel_does_not_pretend(show):
    """A saved page says at once that nothing can be simulated there."""
    page = show(widgets.coverage_lab(), kernel=False)
    button(page, "Start").click()
    expect(page.get_by_text("Nothing can be simulated on this page")).to_be_visible()
    expect(page.locator("progress")).to_have_js_property("value", 0)


def test_a_million_studies_can_be_watched_and_left(show):
    """Asked for 10⁶ studies the page goes on block after block, pauses when told; curve and facts stay in bounds."""
    lab = widgets.coverage_lab("proportion", "half", n=50, reps=1_000_000, methods=["confidence", "naive"])
    page = show(lab)
    button(page, "Start").click()
    until(page, "() => document.querySelector('progress').value >= 0.005")
    button(page, "Pause").click()
    expect(button(page, "Resume")).to_be_visible()
    first = len(json.dumps(lab.facts))
    button(page, "Resume").click()
    until(page, "() => document.querySelector('progress').value >= 0.02")
    plot = "svg[aria-label^='running coverage']"
    button(page, "Pause").click()
    expect(button(page, "Resume")).to_be_visible()
    # curves, not strokes at the left end; measured within the page, whose last block may still be drawn
    until(
        page,
        """lines => {
            const drawn = [...document.querySelectorAll(lines)];
            return drawn.length === 2 && drawn.every(one => one.getBBox().width > 0.3 * 640);
        }""",
        arg=f"{plot} path[fill='none']",
    )
    button(page, "Cancel").click()
    expect(button(page, "Start")).to_be_visible()
    assert len(json.dumps(lab.facts)) < 2 * first < 240_000
    expect(page.get_by_text("of 1,000,000 studies")).to_be_visible()


def simulated(lab):
    """Ask the kernel how many studies there are, and whether it has answered all that it was asked for."""
    lab.run_cell(1)
    return json.loads(lab.page.evaluate(PRINTED).lower())


def test_lab_lives_in_jupyterlab(lab, shots):
    """A real kernel answers also while a cell waits; one that cannot answer is named and waited for; a restarted one is gone."""
    lab.server.notebook(
        "coverage.ipynb",
        [
            "import dpnb, time; lab = dpnb.widgets.coverage_lab(reps=300_000, n=1000); lab",
            "[lab.result.studies, lab.facts['pulled'] == lab.chosen.get('pull')]",
            "import ctypes; ctypes.PyDLL(None).open(b'held', 0)  # holds the interpreter until somebody writes there",
        ],
    )
    held = lab.server.work / "held"
    os.mkfifo(held)
    lab.show("coverage.ipynb")
    lab.run_cell(0)
    page = lab.page.locator(".jp-OutputArea .dpnb-w").first
    page.locator("details").first.wait_for()
    unfolded(lab.page)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("tbody tr").first).to_contain_text("%")
    assert simulated(lab)[0] >= 1000
    lab.select(2)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
    busy = page.get_by_text("it is running a cell, or has ended")
    expect(busy).to_be_visible()
    lab.shot("coverage-busy")
    held.write_text("")
    expect(busy).to_be_hidden()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    while not (part := simulated(lab))[1]:
        pass  # the block that was asked for last is not here yet
    expect(page.get_by_text(f"{part[0]:,} of 300,000 studies")).to_be_visible()
    rest(lab.page)
    assert simulated(lab) == part
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    lab.shot("coverage-jupyterlab")
    lab.restart()
    expect(lab.page.get_by_text("The kernel that drew this has ended").first).to_be_visible()
    expect(page.get_by_text("The kernel has ended, and its simulation with it")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_disabled()
