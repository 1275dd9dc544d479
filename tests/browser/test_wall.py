"""The class wall under a teacher's eyes: it fills in while files arrive, in JupyterLab, and stops when it is closed; what it draws is what it says."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

import dpnb
from dpnb import widgets
from tests.browser.conftest import rest, until
from tests.browser.test_accessibility import serious
from tests.browser.test_extension import LOAD
from tests.browser.test_interactions import frame
from tests.widgets.test_wall import answers_of, made

LINES = "svg.wall > g"
# what a page would do every second, to be done by hand
TIMERS = "window.due = []; window.setInterval = call => window.due.push(call);"
# what is done every second from now on, until it is done no more
LOOKING = """() => {
    const [begin, end] = [window.setInterval, window.clearInterval];
    window.looking = new Set();
    window.setInterval = (...given) => {
        const timer = begin(...given);
        if (String(given[0]).includes('look')) window.looking.add(timer);
        return timer;
    };
    window.clearInterval = timer => { window.looking.delete(timer); end(timer); };
}"""


@pytest.fixture
def taught(monkeypatch):
    """A wall of thirty made-up answers around 4, every tenth off by more than its interval is wide."""
    from dpnb.widgets.kinds import wall

    offsets = [3.5 if place % 10 == 9 else ((place * 7) % 5 - 2) / 2 for place in range(30)]
    held = [made(4 + off, 2.0) for off in offsets]
    monkeypatch.setattr(wall, "_held", lambda _: held)
    return lambda: widgets.wall([], truth=4)


def test_a_wall_fills_in_while_answers_arrive(open_, data, shots):
    """No cell is run again: an empty folder waits, each file becomes a dot, a damaged one is named; closed, it asks no more."""
    lab = open_(
        LOAD,
        "w = dpnb.widgets.wall('answers', truth=5)\nw",
        "print('looks', w.chosen['look'])",
        "w.close()",
        "print('looks', w.chosen['look'])",
        "print('looks', w.chosen['look'])",
    )
    folder = lab.server.work / "answers"
    folder.mkdir(exist_ok=True)
    lab.run_cell(0)
    lab.page.evaluate(LOOKING)
    lab.run_cell(1)
    wall = lab.output(1)
    expect(wall.get_by_text("Waiting for answers in answers")).to_be_visible()
    first, second, third = answers_of(data, 3)
    first.to_json(folder / "ada.json")
    expect(wall.locator(LINES)).to_have_count(1)
    second.to_json(folder / "ben.json")
    dpnb.archive(folder / "cleo.zip", {"m": third})
    expect(wall.locator(LINES)).to_have_count(3)
    (folder / "dan.json").write_text("{")
    expect(wall.get_by_text("dan.json is left out")).to_be_visible()
    expect(wall.get_by_text("These are not TEACHING data")).to_be_visible()
    expect(wall.locator(".figures strong").last).to_have_text("ε 1.5")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)
        assert not serious(lab.page, ".jp-OutputArea .dpnb-w")
        shots(lab.output(1).first, f"wall-lab-{theme.split()[-1].lower()}")
    lab.theme("JupyterLab Light")
    lab.run_cell(2)
    assert looks(lab, 2) >= 1
    assert lab.page.evaluate("window.looking.size") == 1
    lab.run_cell(3)
    expect(wall.locator(LINES)).to_have_count(0)
    until(lab.page, "() => window.looking.size === 0")
    lab.run_cell(4)
    lab.run_cell(5)
    assert looks(lab, 5) == looks(lab, 4)


def looks(lab, index):
    """How often the page had asked for a look, as a cell printed it."""
    expect(lab.output(index)).to_contain_text(re.compile(r"looks \d+"))
    return int(re.search(r"looks (\d+)", lab.output(index).inner_text())[1])


def test_a_wall_says_what_it_draws(show, taught):
    """A line and a dot for each answer, a cross for each that misses, the truth across, the average below; the same in words and in a table."""
    page = show(taught())
    assert page.locator(LINES).count() == page.locator("svg.wall circle").count() == 30
    assert page.locator("svg.wall circle.miss").count() == 3
    assert page.locator("svg.wall g:has(circle.miss) > path").count() == 6
    assert page.locator("svg.wall .dashed").count() == page.locator("svg.wall .mean").count() == 1
    expect(page.locator(".figures strong")).to_have_text(["30", "27 of 30", "± 0.37", "ε 30"])
    expect(page.locator("[aria-live]").first).to_contain_text(
        "27 of 30 intervals contain the truth, 4.00: 90 %, where 95 % is promised."
    )
    assert "27 of 30" in page.locator("svg.wall").get_attribute("aria-label")
    summary = page.get_by_text("The answers as a table")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details tbody tr")).to_have_count(31)
    expect(page.locator("details tbody td", has_text="✕ missed")).to_have_count(3)


def test_a_wall_is_sorted_by_key(show, taught):
    """The order is chosen by keyboard; the dots then go from left to right, and the table with them."""
    page = show(taught())
    dots = (
        "() => [...document.querySelectorAll('svg.wall circle')].map(dot => Number(dot.getAttribute('cx')))"
    )
    came = page.evaluate(dots)
    page.get_by_label("in order").focus()
    page.keyboard.press("ArrowDown")
    frame(page)
    assert page.evaluate(dots) == sorted(came) != came


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1000, "light")])
def test_a_wall_fits_its_window(show, taught, shots, width, scheme):
    """Nothing sticks out and nothing is too faint; two hundred answers are drawn in a page's height or two."""
    page = show(taught(), width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not serious(page, "main")
    shots(page, f"wall-thirty-{width}-{scheme}", full_page=True)
    assert page.locator("svg.wall > text").count() >= 2  # an axis of one mark has no scale
    box = page.locator("svg.wall").bounding_box()
    for mark in page.locator("svg.wall text").all():
        at = mark.bounding_box()
        assert box["x"] - 1 <= at["x"]
        assert at["x"] + at["width"] <= box["x"] + box["width"] + 1


def test_an_answer_is_text_on_the_page_too(show, data, tmp_path):
    """A file whose name is markup is drawn as that name; nothing of it becomes an element."""
    record = answers_of(data, 1)[0].to_dict()
    (tmp_path / "<img src=x onerror=alert(1)>.json").write_text(json.dumps(record))
    page = show(widgets.wall(tmp_path))
    assert page.locator("main img").count() == 0
    expect(page.locator("svg.wall g > title")).to_contain_text("<img")


def test_a_page_without_a_kernel_asks_for_nothing(show, data, tmp_path):
    """An exported page stands still: when it is time no look is asked for, as it is where a kernel is there; its answers stay."""
    answers_of(data, 1)[0].to_json(tmp_path / "ada.json")
    asked = []
    for still in (False, True):
        page = show(widgets.wall(tmp_path), kernel=True, still=still, timers=TIMERS)
        asked.append(
            page.evaluate("() => { window.due.forEach(call => call()); return window.dpnbAsked ?? 0; }")
        )
        assert page.locator(LINES).count() == 1
        rest(page)
    assert asked == [1, 0]
