"""The coverage lab breathes: a drag of the loss moves forty intervals in the page, and no message goes to the kernel."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.widgets.kinds.coverage import Coverage
from tests.browser.conftest import unfolded, until
from tests.examples import mostly_long

HOLDS = ".shared figure:first-child svg path[stroke-width='2.6']"
CROSSES = ".shared figure:first-child svg path[stroke-width='1.8']"
ALIGNED = """() => {
    const range = document.querySelector(".shared input[type=range]:not([hidden] *)"), box = range.getBoundingClientRect();
    const thumb = box.left + 8 + (box.width - 16) * range.value / 1000;
    const line = document.querySelector(".shared figure:nth-child(2) svg.plot > path.ink-line").getBoundingClientRect();
    return Math.abs(thumb - line.left - line.width / 2) < 2;
}"""
FRAMES = """async () => {
    const svg = document.querySelector(".shared figure:nth-child(2) svg.plot");
    const box = svg.getBoundingClientRect(), times = [], drawn = new Set();
    const at = x => ({clientX: box.left + x * box.width, clientY: box.top + 100, pointerId: 1, button: 0, bubbles: true});
    svg.setPointerCapture = () => undefined;
    svg.dispatchEvent(new PointerEvent("pointerdown", at(0.5)));
    for (let i = 0; i < 120; i++) {
        window.drawn = 0;
        svg.dispatchEvent(new PointerEvent("pointermove", at(0.16 + 0.6 * Math.abs(((i / 60) % 2) - 1))));
        await new Promise(done => requestAnimationFrame(() => {
            // the lab asked for this frame first: it has drawn; what is left is the layout
            svg.getBoundingClientRect(); done();
        }));
        times.push(window.drawn);
        drawn.add(document.querySelector(".shared path[stroke-width='2.6']").getAttribute("d"));
    }
    svg.dispatchEvent(new PointerEvent("pointerup", at(0.5)));
    times.sort((a, b) => a - b);
    return {pictures: drawn.size, p95: times[Math.floor(0.95 * times.length)], most: times.at(-1)};
}"""

# the loss is dragged from one computed value to the next but one, by fortieths of a step: how many pictures the intervals have
PICTURES = """async () => {
    const svg = document.querySelector(".shared figure:nth-child(2) svg.plot"), box = svg.getBoundingClientRect();
    const read = () => [...document.querySelectorAll(".shared figure:first-child svg path[stroke-width='2.6'], " +
        ".shared figure:first-child svg path[stroke-width='3.4']")].map(one => one.getAttribute("d")).join("|");
    const said = () => document.querySelector(".found").textContent.split(/[,(]/)[0];
    const send = (kind, x) => svg.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + x * box.width / 360, clientY: box.top + 100, pointerId: 1, button: 0, bubbles: true
    }));
    svg.setPointerCapture = () => undefined;
    send("pointerdown", 150);
    const drawn = new Set(), values = new Set();
    for (let i = 0; i <= 20; i++) {
        send("pointermove", 150 + i);
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        drawn.add(read()); values.add(said());
    }
    return {drawn: drawn.size, values: values.size};
}"""


@pytest.fixture
def show(show):
    """Show a lab whose kernel hears it."""
    return lambda lab, **options: unfolded(show(lab, **{"kernel": True, "height": 1000, **options}))


def timed(page):
    """Time what runs in each frame: the callbacks of requestAnimationFrame, added up."""
    page.evaluate(
        """() => {
        const real = window.requestAnimationFrame.bind(window);
        window.requestAnimationFrame = call => real(at => {
            const start = performance.now(); call(at); window.drawn += performance.now() - start;
        });
    }"""
    )


def test_forty_intervals_follow_a_drag_without_the_kernel(show):
    """Opening draws at once; a drag draws another picture in every frame and sends nothing until it ends; then the loss is set."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    page = show(lab)
    page.set_default_timeout(5000)
    expect(page.get_by_role("heading", name="The same 1,000 studies at every ε")).to_be_visible()
    heard = []
    lab.observe(lambda change: heard.append(change["new"]), "chosen")
    timed(page)
    found = page.evaluate(FRAMES)
    print(f"frames of a drag: script and layout p95 {found['p95']:.1f} ms, most {found['most']:.1f} ms")
    assert found["pictures"] > 50
    expect(page.get_by_label("ε, typed")).not_to_have_value("0.5")
    assert len(heard) == 1  # the end of the drag, and nothing before it
    assert heard[0]["setup"]["loss"] != 0.5
    assert lab.facts["shared"]["of"] == 0  # the same studies as before


def selected():
    """A median on a grid too fine for a tree: a selection, with its limits."""
    rows = np.random.default_rng(1).integers(0, 10_000, 300) * 100
    return widgets.coverage_lab("median", rows, lower=0, upper=1_000_000, n=100, reps=40)


STATISTICS = {
    "mean": (lambda: widgets.coverage_lab("mean", "skewed", reps=40), True),
    "difference": (lambda: widgets.coverage_lab("difference", "declared", reps=40), True),
    "selection": (selected, False),
    "tree": (lambda: widgets.coverage_lab("median", "skewed", n=5000, reps=40), False),
    "correlation": (lambda: widgets.coverage_lab("correlation", "declared", reps=40), False),
}


@pytest.mark.parametrize("name", mostly_long(STATISTICS, "mean", "tree"))
def test_intervals_follow_or_stand_at_computed_losses(show, name):
    """A sum's intervals move with the hand; those of a selection, a tree and a correlation stand as computed at the loss that is named."""
    make, follows = STATISTICS[name]
    page = show(make())
    page.locator(HOLDS).wait_for(state="attached")
    found = page.evaluate(PICTURES)
    assert found["values"] >= 2, "no other computed loss was passed"
    if follows:
        assert found["drawn"] >= 15
    else:
        assert 1 < found["drawn"] <= found["values"]


def test_counts_and_words_are_those_of_the_nearest_loss(show):
    """The sentence names the computed loss; its count is the number of crosses; both are what Python says."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    page = show(lab)
    page.set_default_timeout(5000)
    said = page.locator(".shared-part .found")
    expect(said).to_contain_text("At ε 0.5,")
    held = int(re.search(r"(\d+) of these 40", said.inner_text())[1])
    assert (page.locator(CROSSES).get_attribute("d") or "").count("M") == 40 - held
    page.get_by_label("interval", exact=True).select_option("naive")
    expect(page.locator(HOLDS)).to_have_attribute("d", re.compile("M"))
    handle = page.get_by_role("slider", name="ε", exact=True)
    handle.focus()
    page.keyboard.press("Home")
    expect(said).to_contain_text("At ε 0.01,")
    expect(handle).to_have_attribute("aria-valuetext", re.compile("At ε 0.01"))


def test_the_axis_stays_while_the_loss_moves(show):
    """At a small loss bars leave the picture with arrowheads, and the same words stand at the same heights of the axis."""
    page = show(widgets.coverage_lab("mean", "skewed", n=500, epsilon=1, reps=40))
    page.locator(HOLDS).wait_for(state="attached")
    words = ".shared figure:first-child svg text"
    before = [(one.text_content(), one.get_attribute("y")) for one in page.locator(words).all()]
    assert "l4 -4l4 4" not in page.locator(HOLDS).get_attribute("d")
    page.get_by_role("slider", name="ε", exact=True).focus()
    page.keyboard.press("Home")
    expect(page.locator(HOLDS)).to_have_attribute("d", re.compile("l4 -4l4 4"))
    assert [(one.text_content(), one.get_attribute("y")) for one in page.locator(words).all()] == before


def test_a_miss_is_explained(show):
    """By the hand or by the keyboard a study is chosen, and words say what was released and why it missed."""
    page = show(widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.05))
    page.get_by_label("interval", exact=True).select_option("naive")
    page.get_by_role("button", name="Next miss").click()
    why = page.locator(".shared-part .study")
    expect(why).to_contain_text("It misses. The noise moved the answer by")
    study = page.get_by_role("slider", name="study")
    study.focus()
    page.keyboard.press("Home")
    expect(why).to_contain_text("Study 1 at ε 0.05: released")


def test_intervals_far_down_come_when_they_are_looked_at(show):
    """A miss beyond the forty, a key and a button bring another forty, with their own ends; the counts of all stay."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    page = show(lab)
    page.set_default_timeout(5000)
    where, why = page.get_by_text(re.compile("^studies ")), page.locator(".shared-part .study")
    expect(where).to_have_text("studies 1 to 40 of 1,000")
    study = page.get_by_role("slider", name="study")
    study.focus()
    page.keyboard.press("End")
    expect(where).to_have_text("studies 961 to 1,000 of 1,000")
    expect(why).to_contain_text("Study 1,000 at ε 0.5: released")
    released = np.frombuffer(lab.arrays["answers"], "<f4").reshape(25, 40)[
        lab.facts["shared"]["values"].index(0.5), 39
    ]
    expect(why).to_contain_text(f"released {released:.4g},")
    expect(page.get_by_role("button", name="Next forty")).to_be_disabled()
    page.get_by_role("button", name="Forty before").click()
    expect(where).to_have_text("studies 921 to 960 of 1,000")
    for _ in range(4):
        page.get_by_role("button", name="Next miss").click()
    expect(why).to_contain_text("It misses.")
    expect(where).not_to_have_text("studies 921 to 960 of 1,000")
    expect(page.locator(".shared-part .found")).to_contain_text("of all 1,000, ")


def test_a_guess_comes_first_where_it_is_wanted(show):
    """With the switch on nothing is shown until a guess is told; then both stand side by side."""
    page = show(widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5))
    page.get_by_label("guess before it is shown").check()
    expect(page.locator(".shared-part .found")).to_be_hidden()
    page.get_by_label("of 100 intervals, how many contain the truth?").fill("80")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("You guessed 80 of 100; 9")).to_be_visible()
    expect(page.locator(".shared-part .found")).to_be_visible()


def test_other_rows_leave_the_old_intervals_behind(show):
    """After another n the intervals from before stay as a shade, and nothing is blank."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    page = show(lab)
    page.set_default_timeout(5000)
    expect(page.locator(HOLDS)).to_have_attribute("d", re.compile("M.*M"))
    before = page.locator(HOLDS).get_attribute("d")
    assert before is not None
    page.get_by_label("n, typed").fill("2000")
    page.get_by_label("n, typed").press("Enter")
    expect(page.locator(".shared .ghost")).to_have_attribute("d", re.compile("M.*M"))
    expect(page.locator(HOLDS)).not_to_have_attribute("d", before)


def test_a_run_is_run_again_and_never_wiped(show):
    """Another n runs again what was run, on release; until there is something new, what was found stands there, pale."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5, reps=60).run()
    page = show(lab)
    page.set_default_timeout(5000)
    rows = page.get_by_role("table").locator("tbody tr").first
    expect(rows).to_contain_text("%")
    page.busy = True  # the moment before the kernel has anything
    before = rows.inner_text()
    page.get_by_label("n, typed").fill("2000")
    page.get_by_label("n, typed").press("Enter")
    expect(rows).to_have_text(re.compile(re.escape(before.split()[0])))
    page.busy = False
    page.get_by_label("n, typed").fill("3000")
    page.get_by_label("n, typed").press("Enter")
    expect(page.get_by_text("60 of 60 studies")).to_be_visible()
    expect(rows).not_to_have_text(before)
    assert (lab.setup.n, lab.facts["studies"]) == (3000, 60)


def test_studies_come_in_blocks_while_the_page_asks(show, monkeypatch):
    """A lab that was opened in a live kernel draws its first block, and asks for the rest by itself."""
    monkeypatch.setattr(Coverage, "complete", lambda lab: None)
    lab = widgets.coverage_lab("mean", "skewed", n=60, epsilon=0.5)
    counts = []
    lab.observe(lambda change: counts.append((change["new"]["shared"] or {}).get("studies")), "facts")
    page = show(lab)
    expect(page.get_by_role("heading", name="The same 1,000 studies at every ε")).to_be_visible()
    found = [*dict.fromkeys(counts)]
    assert found == sorted(found)
    assert found[:2] + found[-1:] == [10, 40, 1000]


def test_one_slider_stands_on_the_axis_of_the_loss(show):
    """ε has one slider: its thumb stands under the line that it moves, from the left end to the right one."""
    page = show(widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5))
    page.set_default_timeout(5000)
    slider = page.get_by_role("slider", name="ε", exact=True)
    expect(page.locator(".shared").get_by_role("slider", name="ε", exact=True)).to_have_count(1)
    for key in ("Home", "End", "ArrowLeft"):
        slider.focus()
        page.keyboard.press(key)
        until(page, ALIGNED)
