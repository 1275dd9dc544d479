"""Every interaction under a real hand: dragged, typed, tabbed; the same text for whoever hears it; no network, no kernel."""

from __future__ import annotations

import re
from functools import cache, partial

import pytest
from playwright.sync_api import expect

import dpnb
from dpnb import widgets
from tests.browser.conftest import until
from tests.browser.reading import unreadable
from tests.widgets.test_interactions import MAKERS, planned


def range_of(page, label):
    """Return the slider with this label."""
    return page.get_by_role("slider", name=label, exact=True)


def drag_to(page, slider, place):
    """Press on a slider at a place from 0 to 1."""
    box = slider.bounding_box()
    page.mouse.click(box["x"] + place * box["width"], box["y"] + box["height"] / 2)


def frame(page):
    """Wait until the next frame is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_seesaw_tips_both_ways(show, data):
    """Dragging ε moves ±; typing ± solves ε; what is more than is left says so; arrow keys step; the odds are said."""
    page = show(widgets.seesaw(data.x.mean(), assume_n=40, epsilon=0.5))
    loss, width = range_of(page, "ε"), range_of(page, "±")
    shown = page.locator(".figures strong").first
    before = shown.inner_text()
    drag_to(page, loss, 0.9)
    frame(page)
    assert shown.inner_text() != before
    assert "an honest 10 % guess" in loss.get_attribute("aria-valuetext")
    typed = page.get_by_label("ε, typed")
    typed.fill("0.5")
    typed.press("Enter")
    frame(page)
    assert shown.inner_text() == before
    expect(page.locator("[aria-live]").first).to_contain_text("15.5 %")
    loss.focus()
    page.keyboard.press("ArrowRight")
    frame(page)
    assert typed.input_value() == "0.51"
    wide = page.get_by_label("±, typed")
    wide.fill("1")
    wide.press("Enter")
    frame(page)
    assert shown.inner_text().startswith("± 1.0")
    assert float(typed.input_value()) == pytest.approx(
        widgets.seesaw(data.x.mean(), assume_n=40).curve.loss_for(1), rel=0.02
    )
    assert width.get_attribute("aria-valuetext").startswith("± 1.0")


def test_seesaw_point_is_dragged_in_the_picture(show, data):
    """The point on the curve follows the pointer, and stays inside the drawing."""
    page = show(widgets.seesaw(data.x.sum(), epsilon=1))
    point, plot = page.locator("svg.plot circle.dot").first, page.locator("svg.plot").first
    box = plot.bounding_box()
    before = point.bounding_box()["x"]
    page.mouse.move(before + 5, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 20, steps=5)
    page.mouse.move(box["x"] - 400, box["y"] + 20, steps=3)
    page.mouse.up()
    frame(page)
    assert box["x"] < point.bounding_box()["x"] < before


def test_a_redraw_takes_nothing_from_who_types(show, data):
    """What is typed and not entered yet outlives a picture drawn again meanwhile, and is what Enter enters; left, the field follows again."""
    answer = dpnb.release({"t": data.x.mean()}, epsilon=0.25)["t"]
    page = show(widgets.remeasure(answer, name="t"))
    field, loss = page.get_by_label("+ε, typed"), range_of(page, "+ε")
    field.fill("0.7")
    for width in (500, 900):
        page.set_viewport_size({"width": width, "height": 900})
        frame(page)
        assert field.input_value() == "0.7"
    field.press("Enter")
    expect(loss).to_have_attribute("aria-valuetext", re.compile("^ε 0.7 more"))
    loss.focus()
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("0.71")


def test_one_person_is_dragged_to_the_worst(show):
    """A dragged person moves the mean by no more than the worst, and the worst by no more than the sensitivity."""
    page = show(widgets.drag_person([21, 35, 44, 60], low=20, high=70))
    moved, worst, ever = (page.locator(".figures strong").nth(i) for i in range(3))
    handle = page.get_by_role("slider", name="person 1 of 4")
    box = handle.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 5, steps=6)
    page.mouse.up()
    frame(page)
    assert 0 < float(moved.inner_text().strip("+")) <= float(worst.inner_text()) <= float(ever.inner_text())
    page.get_by_role("button", name="Show the worst case").click()
    frame(page)
    assert float(moved.inner_text().strip("+−")) == pytest.approx(float(worst.inner_text()), rel=0.05)
    assert float(ever.inner_text()) == pytest.approx(12.5)
    page.get_by_role("button", name="Put everybody back").click()
    frame(page)
    assert moved.inner_text() == "0"
    handle.focus()
    page.keyboard.press("ArrowRight")
    frame(page)
    assert float(moved.inner_text().strip("+")) > 0


def test_board_writes_the_split_on_the_magic_line(show, data):
    """Dragging a divider moves two ± and two costs, writes weights=, and never touches the body; equal shares take it back."""
    page = show(widgets.plan(planned(data)))
    line = page.locator("code.cell")
    expect(line).to_have_text("%%dp epsilon=0.9 assume_n=40")
    costs = page.locator("table.planned tbody tr td.num")
    first = page.get_by_role("slider", name="divider between m and share")
    box, board = first.bounding_box(), page.locator("svg.plot").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(board["x"] + board["width"] * 0.5, box["y"] + 10, steps=6)
    page.mouse.up()
    frame(page)
    assert costs.all_inner_texts() == ["ε 0.45", "ε 0.15", "ε 0.3"]
    expect(line).to_have_text("%%dp epsilon=0.9 weights=m:3,share:1,middle:2 assume_n=40")
    first.focus()
    page.keyboard.press("ArrowLeft")
    frame(page)
    assert costs.first.inner_text() == "ε 0.4385"
    page.get_by_role("button", name="Equal shares").click()
    expect(line).to_have_text("%%dp epsilon=0.9 assume_n=40")


def test_release_without_jupyterlab_shows_the_cell_to_copy(show, data):
    """The button spends nothing by itself: it leaves the cell, and a plan that does not fit cannot be released."""
    page = show(widgets.plan(planned(data)))
    page.get_by_role("button", name="Release").click()
    text = page.get_by_label("the cell that releases this")
    assert text.input_value().splitlines() == [
        "%%dp epsilon=0.9 assume_n=40",
        "m = small.x.mean()",
        "share = small.y.mean()",
        "middle = small.x.quantile(0.5)",
    ]
    assert data.budget.spent.amount == 0
    page.evaluate("document.querySelector('button.strong').dispatchEvent(new MouseEvent('click'))")
    dpnb.release({"x": data.x.sum()}, epsilon=9.5)
    over = show(widgets.plan(planned(data)))
    expect(over.get_by_role("button", name="Release")).to_be_disabled()
    expect(over.locator("[aria-live]")).to_contain_text("it would be refused")


def gap(data, epsilon="0.9"):
    """A plan of two shares and of what is computed from them."""
    a, b = data.y.mean(), data.g.mean()
    named = {"a": a, "b": b, "gap": a - b, "spread": (a * (1 - a)) ** 0.5, "product": a * b}
    return dpnb.plan(named, epsilon=epsilon, assume_n=33)


def test_what_does_not_fit_has_three_ways_out(show, data):
    """Over budget: the largest loss that fits, a stored answer, one question less, as the budget bar has them; each fits by one click."""
    dpnb.release({"m": data.x.mean()}, epsilon=6)
    items = {"m": data.x.mean().weight(5), "share": data.y.mean().weight(2)}
    view = dpnb.plan(items, epsilon=14, assume_n=40)
    offered = show(widgets.budget(view)).locator("ul.ways li").all_inner_texts()
    page = show(widgets.plan(view))
    ways = page.locator("ul.ways li")
    assert [one.partition("\n")[0] for one in offered] == ["Ask ε 8.4", "Use the stored m", "Leave out m"]
    assert ways.all_inner_texts() == offered
    release, line = page.get_by_role("button", name="Release"), page.locator("code.cell")
    expect(release).to_be_disabled()
    expect(page.locator("[aria-live]")).to_contain_text("only ε 4 is left")
    expect(
        page.get_by_text("m was answered before at ε 6; at a larger share it is bought again")
    ).to_be_visible()
    page.get_by_role("button", name="Use the stored m").click()
    expect(page.locator("table.planned tbody tr").first).to_contain_text("stored · ε 0")
    expect(release).to_be_enabled()
    expect(line).to_have_text("%%dp epsilon=10 weights=m:3,share:2 assume_n=40")
    expect(ways).to_have_count(0)
    page.get_by_role("checkbox", name="ask share").uncheck()
    expect(line).to_contain_text("weights=m:1,share:0")
    expect(page.locator("[aria-live]")).to_contain_text("would cost ε 0;")
    page.get_by_role("checkbox", name="ask m").uncheck()
    expect(page.locator("[aria-live]")).to_contain_text("Every question is left out")
    expect(release).to_be_disabled()
    page.get_by_role("checkbox", name="ask share").check()
    expect(release).to_be_enabled()
    assert data.budget.spent.amount == 6


def test_clamp_handles_trade_bias_for_noise(show):
    """Dragging the upper bound out lowers the bias and raises the noise; the bounds never cross; keys move them too."""
    page = show(widgets.clamp([1, 2, 3, 4, 5, 8, 13, 40], low=0, high=6, epsilon=1))
    bias, noise, _ = (page.locator(".figures strong").nth(i) for i in range(3))
    before = bias.inner_text(), noise.inner_text()
    upper = page.get_by_role("slider", name="upper bound")
    box = upper.bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 9, steps=6)
    frame(page)
    assert abs(float(bias.inner_text().strip("−+"))) < abs(float(before[0].strip("−+")))
    assert float(noise.inner_text()) > float(before[1])
    page.mouse.move(box["x"] - 900, box["y"] + 9, steps=6)
    page.mouse.up()
    frame(page)
    lower = page.get_by_role("slider", name="lower bound")
    assert float(lower.get_attribute("aria-valuenow")) < float(upper.get_attribute("aria-valuenow"))
    wide = float(upper.get_attribute("aria-valuenow"))
    upper.focus()
    page.keyboard.press("ArrowRight")
    frame(page)
    assert float(upper.get_attribute("aria-valuenow")) > wide


def test_noises_have_an_axis_of_spreads(show):
    """Both noises stand on powers of ten that fit their picture; no share is said, or drawn, to be off by more than 1."""
    for width in (1200, 390):
        page = show(widgets.noises(0.4, n=100, epsilon=0.02), width=width)
        frame(page)
        both, errors = page.locator("svg.plot").all()
        told = [one.strip() for one in both.locator("text").all_text_contents()]
        assert "sd 1" in told
        assert sum(one.startswith(("sd ", "0.", "10⁻")) for one in told) >= 2, told
        assert unreadable(page, "code") == []
        assert errors.locator("text").all_text_contents() == ["−1.0", "the truth", "+1.0"]
        expect(page.locator("[aria-live]").first).to_contain_text("privacy alone by any share")


def test_remeasure_shrinks_its_forecast(show, data):
    """Paying more narrows the dashed interval; the solid one stays; Release leaves the line that pays."""
    answer = dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]
    page = show(widgets.remeasure(answer, name="m"))
    typed = page.get_by_label("+ε, typed")
    shown = page.locator(".figures strong").first
    widths = []
    for loss in ("0.1", "1", "5"):
        typed.fill(loss)
        typed.press("Enter")
        frame(page)
        widths.append(float(shown.inner_text().removeprefix("± ")))
    assert widths == sorted(widths, reverse=True)
    page.get_by_role("button", name="Release").click()
    assert page.get_by_label("the cell that releases this").input_value() == "m = m.remeasure(epsilon=5)\nm"
    release = page.get_by_role("button", name="Release")
    expect(release).to_be_disabled()
    expect(page.get_by_text("Move the slider first to pay once more.")).to_be_visible()
    typed.fill("3")
    typed.press("Enter")
    expect(release).to_be_enabled()
    typed.fill("9.5")
    typed.press("Enter")
    expect(release).to_be_disabled()


def test_more_opened_twice_pays_what_was_set_last(show, data):
    """What stood on the slider before it was closed is forgotten: the cell, and the slider after it, say what was set last."""
    answer = dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]
    page = show(widgets.stored(answer, name="m"))
    more, typed = page.get_by_role("button", name="More ε"), page.get_by_label("+ε, typed")
    for loss in ("0.5", "2"):
        more.click()
        typed.fill(loss)
        typed.press("Enter")
        if loss == "0.5":
            more.click()
    page.get_by_role("button", name="Release").click()
    assert page.get_by_label("the cell that releases this").input_value() == "m = m.remeasure(epsilon=2)\nm"
    frame(page)
    assert typed.input_value() == "2"
    expect(page.get_by_text("Move the slider first to pay once more.")).to_be_visible()


def guided(data):
    """A guide on the screen where its loss is chosen."""
    guide = widgets.guide(data)
    guide.chosen = {"goal": "average", "column": "x", "screen": 3}
    return guide


@cache
def bench():
    """Every attack; what takes a while to compute and no test changes is made once."""
    made = widgets.attack_bench("linkage")
    made.complete()
    return made


@cache
def studies():
    """Fifty studies, simulated."""
    return widgets.coverage_lab("mean", "declared", rho=0.5, reps=50, methods=["naive", "unbiased"]).run()


@cache
def exhibited():
    """A page of the gallery with its lever."""
    made = widgets.exhibits("resized-bootstrap")
    made.complete()
    return made


def wall(data):
    """Three answers to one question, and their average."""
    first = dpnb.release({"w": data.x.mean()}, epsilon=0.5)["w"]
    more = [dpnb.release({"w": data.x.mean()}, epsilon=0.5, fresh=True)["w"] for _ in range(2)]
    return widgets.wall([first, *more])


def makers(data):
    """How one of each is made: as for the tests of the room, and larger, or further on, where a page then shows more."""
    return {
        **{name: partial(make, data) for name, make in MAKERS.items()},
        "guide": lambda: guided(data),
        "odds": widgets.odds,
        "noises": widgets.noises,
        "person": widgets.drag_person,
        "plan-derived": lambda: widgets.plan(gap(data)),
        "clamp": widgets.clamp,
        "attack": bench,
        "coverage": studies,
        "exhibits": exhibited,
        "wall": lambda: wall(data),
    }


def everything(data):
    """One of each."""
    return {name: make() for name, make in makers(data).items()}


def test_every_control_has_a_name_and_shows_the_focus(show, data):
    """Tab reaches every control in order, a group of radio buttons once, and outlines it; each slider has a name and words for its value; each picture has a text."""
    made = list(everything(data).values())
    page = show(*made)
    page.locator("[data-dpnb] > div.dpnb-w").nth(len(made) - 1).wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    frame(page)
    find = """() => [...document.querySelectorAll("a[href], input, select, textarea, button, summary, [tabindex='0']")].filter(e => !e.disabled && e.checkVisibility() && (e.type !== 'radio' || e.checked))"""
    look = """e => [e, e.labels?.[0], e.nextElementSibling].map(one => { if (!one) return '';
        const {outlineStyle, outlineWidth, outlineColor, boxShadow} = getComputedStyle(one);
        return [outlineStyle === 'none' || parseFloat(outlineWidth) < 2 ? 'none' : outlineColor, boxShadow].join(); }).join()"""
    before = page.evaluate(f"() => ({find})().map({look})")
    count = len(before)
    seen, unmarked = set(), set()
    for _ in range(count + 2):
        page.keyboard.press("Tab")
        place, now, tag = page.evaluate(
            f"() => {{ const e = document.activeElement; return [({find})().indexOf(e), ({look})(e), e.outerHTML.slice(0, 120)]; }}"
        )
        seen.add(place)
        if place >= 0 and now == before[place]:
            unmarked.add(tag)
    assert seen >= set(range(count))
    assert not unmarked
    assert count > 20
    for slider in page.get_by_role("slider").all():
        assert (
            slider.evaluate("e => (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? '').length")
            > 0
        )
        assert len(slider.get_attribute("aria-valuetext")) > 3
    for picture in page.locator("svg[role=img]").all():
        assert len(picture.get_attribute("aria-label")) > 10


def test_a_table_that_is_cut_says_so(show):
    """On a small screen a wide table says that it goes on, takes the focus and moves by key; on a wide one it is a table."""
    made = widgets.coverage_lab("mean", "declared", rho=0.5, reps=50, methods=["naive", "unbiased"]).run()
    page = show(made, width=320)
    page.get_by_text("Simulate anew, with tables").click()
    hint, region = page.get_by_text("scroll sideways"), page.get_by_role("region", name="coverage of each")
    expect(hint).to_be_visible()
    region.focus()
    region.press("ArrowRight")
    until(page, "() => document.activeElement.scrollLeft > 0")
    page.set_viewport_size({"width": 1000, "height": 900})
    expect(hint).to_be_hidden()
    expect(region).to_have_count(0)


def test_a_hurried_hand_asks_for_one_release(show, data):
    """A double click, and Enter held down, are one wish: paying on top would else be paid as often as the key repeats."""
    page = show(widgets.plan(planned(data)))
    page.evaluate("window.asked = 0; document.addEventListener('dpnb:release', () => window.asked++)")
    button = page.get_by_role("button", name="Release")
    button.dblclick()
    assert page.evaluate("window.asked") == 1
    button.focus()
    for _ in range(4):
        page.keyboard.down("Enter")
        button.focus()
    page.keyboard.up("Enter")
    assert page.evaluate("window.asked") == 2
