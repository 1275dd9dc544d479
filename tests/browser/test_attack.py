"""The attack bench under a hand: attacks and publications are chosen, ε is dragged, and the words follow; no kernel."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.widgets.kinds.attack import Attack
from tests.browser.test_interactions import drag_to, frame, range_of
from tests.examples import mostly_long


@pytest.fixture
def talking(show):
    """Show a bench whose kernel hears it."""
    return lambda made, **options: show(made, **{"kernel": True, **options})


@pytest.fixture(scope="module")
def laid():
    """Every attack, computed once."""
    return widgets.attack_bench("reconstruction", reps=2).run()


def test_dragging_epsilon_raises_what_is_recovered(show, laid):
    """At the left end guessing is all; at the right end everything is recovered; the words for the ear agree."""
    page = show(laid)
    slider, shown = range_of(page, "ε"), page.locator("table.bars strong").last
    drag_to(page, slider, 0.01)
    frame(page)
    assert int(shown.inner_text().split()[0]) <= 55
    expect(page.locator("[aria-live]")).to_contain_text(
        re.compile(r"no attack can expect more than 5[0-5]\S* % \(5\d\d of 1,000\)")
    )
    drag_to(page, slider, 0.99)
    frame(page)
    assert shown.inner_text() == "100 %"
    assert "100 % recovered" in slider.get_attribute("aria-valuetext")


def test_the_point_is_dragged_in_the_picture_and_stays_inside(show, laid):
    """The pointer moves ε; beyond the edge it stops at the largest."""
    page = show(laid)
    plot = page.locator("svg.plot")
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 40, steps=4)
    page.mouse.up()
    frame(page)
    assert float(page.get_by_label("ε, typed").input_value()) == 1000


def test_no_loss_beyond_the_axis_is_shown(show, laid):
    """A loss that another attack allows is brought onto the axis of this one, in the box as in the picture."""
    page = show(laid)
    typed, attacks = page.get_by_label("ε, typed"), page.get_by_label("attack", exact=True)
    most = {}
    for name in attacks.locator("option").all_inner_texts():
        attacks.select_option(name)
        range_of(page, "ε").press("End")
        most[name] = float(typed.input_value().replace(",", ""))
    least, largest = min(most, key=most.get), max(most, key=most.get)
    assert most[least] < most[largest]
    for name in (largest, least):
        attacks.select_option(name)
        range_of(page, "ε").press("End")
        attacks.select_option(least)
        frame(page)
        assert float(typed.input_value()) <= most[least]


def test_an_attack_that_was_not_computed_says_what_is_missing(show, monkeypatch):
    """Until a kernel has answered nothing is invented; what was computed comes back."""
    monkeypatch.setattr(Attack, "complete", lambda _: None)
    page = show(widgets.attack_bench("linkage"))
    chosen = page.get_by_label("attack", exact=True)
    chosen.select_option("averaging")
    expect(page.get_by_role("status").first).to_contain_text("The kernel computes this attack")
    assert not range_of(page, "ε").is_visible()
    chosen.select_option("linkage")
    expect(range_of(page, "ε")).to_be_visible()


@pytest.mark.parametrize("width", mostly_long([320, 800, 1600], 320))
def test_the_names_of_the_lines_stand_beside_them(show, laid, width):
    """In every attack both names are in the picture, right of all that is drawn, and apart."""
    page = show(laid, width=width)
    for name in laid.facts["attacks"]:
        page.get_by_label("attack", exact=True).select_option(name)
        frame(page)
        plot = page.locator("svg.plot")
        most, guessing = (plot.get_by_text(words).bounding_box() for words in ("the most", "guessing"))
        edges = plot.locator("path").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
        assert max(edges) < min(most["x"], guessing["x"])
        assert most["y"] + most["height"] <= guessing["y"]
        box = plot.bounding_box()
        for one in (most, guessing):
            assert one["x"] + one["width"] <= box["x"] + box["width"]
            assert box["y"] - 1 <= one["y"] <= box["y"] + box["height"] - one["height"]


@pytest.mark.parametrize(
    ("width", "scheme"),
    mostly_long(
        [(320, "light"), (320, "dark"), (1000, "light"), (1600, "dark")], (320, "light"), (1600, "dark")
    ),
)
def test_every_attack_fits_its_window(show, laid, width, scheme):
    """From 320 to 1,600 pixels nothing sticks out sideways, whichever attack lies on the bench."""
    page = show(laid, width=width, scheme=scheme)
    for name in laid.facts["attacks"]:
        page.get_by_label("attack", exact=True).select_option(name)
        frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_repeating_is_started_and_paused_and_ends(talking):
    """Each repetition is drawn while the hand drags; a pause asks for nothing more; the last one ends it; the code says how many."""
    made = widgets.attack_bench("linkage", reps=200)
    page = talking(made)
    button = page.get_by_role("button", name="Repeat on new people")
    button.click()
    expect(page.get_by_text("3 of 200 repetitions")).to_be_visible()
    drag_to(page, range_of(page, "ε"), 0.9)
    page.get_by_role("button", name="Pause").click()
    expect(button).to_be_visible()
    assert float(page.get_by_label("ε, typed").input_value()) > 5
    done = made.result.reps
    times = page.get_by_label("repetitions", exact=True)
    times.fill(str(done + 2))
    times.press("Enter")
    button.click()
    expect(page.get_by_text(f"{done + 2} of {done + 2} repetitions")).to_be_visible()
    expect(button).to_be_disabled()
    expect(page.get_by_label("the code that reproduces this")).to_have_value(made.code())
    assert f"reps={done + 2}" in made.code()


def test_a_seed_is_typed_and_starts_anew(talking):
    """Other people, one repetition; what is no seed is refused beside the field and changes nothing."""
    made = widgets.attack_bench("linkage", reps=2).run("linkage")
    page = talking(made)
    seed, shown = page.get_by_label("seed", exact=True), page.locator("table.bars strong").last
    before = page.locator("table.bars td.num").all_inner_texts()
    for nonsense in ("", "x", "-1", "1.5", "NaN", "1e99", "<b>"):
        seed.fill(nonsense)
        seed.press("Enter")
        expect(page.get_by_role("alert").filter(has_text="whole number from 0")).to_be_visible()
        assert page.locator("table.bars td.num").all_inner_texts() == before
    seed.fill("12")
    seed.press("Enter")
    expect(page.get_by_text("1 of 2 repetitions")).to_be_visible()
    assert made.facts["rng"] == 12
    assert page.locator("table.bars td.num").all_inner_texts() != before
    assert shown.is_visible()


def test_an_attack_chosen_from_a_kernel_is_computed(talking):
    """The kernel answers with the attack, and its own publications are on the bench."""
    page = talking(widgets.attack_bench("linkage"))
    page.get_by_label("attack", exact=True).select_option("floating point")
    expect(page.get_by_label("noise in floats")).to_be_visible()


def test_a_busy_kernel_is_waited_for(talking):
    """Where no answer comes the bench says so and still drags; when the answer comes the sentence goes."""
    made = widgets.attack_bench("linkage", reps=2)
    page = talking(made)
    page.busy = True
    page.get_by_role("button", name="Repeat on new people").click()
    expect(page.get_by_text("No answer from the kernel yet")).to_be_visible()
    drag_to(page, range_of(page, "ε"), 0.01)
    frame(page)
    expect(range_of(page, "ε")).to_have_attribute("aria-valuetext", re.compile("recovered"))
    page.busy = False
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Repeat on new people").click()
    expect(page.get_by_text("2 of 2 repetitions")).to_be_visible()
    expect(page.get_by_text("No answer from the kernel yet")).to_be_hidden()


def test_bench_and_gallery_in_jupyterlab(lab):
    """A real kernel repeats and opens pages; after a restart both say that it is gone, and what is there still moves."""
    lab.server.notebook(
        "bench.ipynb",
        ["%load_ext dpnb\n%dp attack linkage", "%dp exhibits matching", "import time; time.sleep(2)"],
    )
    lab.show("bench.ipynb")
    lab.run_cell(0)
    lab.run_cell(1)
    board, gallery = (lab.output(place).locator(".dpnb-w").first for place in (0, 1))
    board.get_by_role("button", name="Repeat on new people").click()
    expect(board.get_by_text("10 of 10 repetitions")).to_be_visible()
    gallery.get_by_role("button", name="Next").click()
    expect(gallery.locator(".exhibit h3")).to_have_text("M ± 2.996 σ")
    expect(gallery.get_by_role("slider")).to_be_visible()
    gallery.locator(".exhibit h3").focus()
    lab.page.keyboard.press("ArrowLeft")
    expect(gallery.locator(".exhibit h3")).to_contain_text("Matching costs")
    lab.shot("bench-and-gallery")
    lab.restart()
    for place in (0, 1):
        expect(lab.output(place).get_by_text("The kernel that drew this has ended")).to_be_visible()
    gallery.get_by_role("button", name="Next").click()
    expect(gallery.locator(".exhibit h3")).to_have_text("M ± 2.996 σ")
    slider = board.get_by_role("slider", name="ε", exact=True)
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    for _ in range(20):
        lab.page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
