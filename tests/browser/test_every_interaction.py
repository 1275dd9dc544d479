"""How every interaction bears bad input, a dead or busy kernel, two hands, two views, and a hand that has keys alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.risk.odds import odds_sentence
from tests.browser.conftest import protected, show_on, until
from tests.browser.reading import LETTERS, SIZES, STYLES, WEIGHTS, WORDS, unreadable
from tests.browser.test_extension import LOAD
from tests.browser.test_interactions import everything, frame, makers, range_of
from tests.examples import mostly_long

NAMES = tuple(makers(None))
WIDTHS = (320, 390, 600, 800, 1200, 1600)
ON_AXES = ("attack", "compare", "coverage", "exhibits", "noises", "seesaw")
CLOSED = ("seesaw", "compare", "odds", "noises", "person", "clamp")
# the sliders of a loss; a lever of the exhibits moves a mechanism that breaks its promise, and is none of them
LOSS = re.compile(r"^\+?[ερ]( of this cell)?$")
NONSENSE = ("", "much", "-1", "0", "NaN", "1e999", "Infinity", "<b>1</b>", "1,5,5")
# a picture that lies: a number that is none, in any text or any attribute
LIES = r"""() => [...document.querySelectorAll('.dpnb-w, .dpnb-w *')].flatMap(node => [
    ...[...node.attributes].map(a => `${node.tagName} ${a.name}=${a.value.slice(0, 80)}`),
    ...[...node.childNodes].filter(c => c.nodeType === 3).map(c => c.textContent)
]).filter(text => /\bNaN\b|\bInfinity\b|\bundefined\b|\[object/.test(text))"""


@pytest.fixture(scope="module")
def each(tmp_path_factory):
    """One of each interaction, about forty rows that nobody spends from besides."""
    home = tmp_path_factory.mktemp("each")
    with pytest.MonkeyPatch.context() as patch, protected(home) as data:
        patch.setenv("DPNB_HOME", str(home))
        made = everything(data)
        patch.undo()
        yield made


@pytest.fixture(scope="module", params=NAMES)
def shown(request, each, offline_pages, tmp_path_factory):
    """One interaction after the other, on a page that the tests of all of them share: the first looks at it before any hand does."""
    with show_on(offline_pages, tmp_path_factory.mktemp("shown")) as show:
        yield show(each[request.param])


def test_nothing_moves_by_itself(shown):
    """With reduced motion no animation runs, and nothing is drawn until a hand moves."""
    page = shown
    assert page.evaluate("document.getAnimations().filter(a => a.playState === 'running').length") == 0
    counted = """() => new Promise(done => {
        let changes = 0;
        const watcher = new MutationObserver(found => { changes += found.length; });
        watcher.observe(document.body, { subtree: true, attributes: true, childList: true });
        let frames = 0;
        const tick = () => { if (++frames === 20) { watcher.disconnect(); done(changes); } else requestAnimationFrame(tick); };
        requestAnimationFrame(tick);
    })"""
    assert page.evaluate(counted) == 0


def test_a_loss_is_heard_with_its_odds(shown):
    """Every slider of an ε says what its value means for one person, as the formula has it; one of a ρ says in which measure it counts."""
    page = shown
    for slider in page.get_by_role("slider", name=LOSS).all():
        for key in ("", "ArrowRight", "ArrowLeft"):
            if key:
                slider.press(key)
                frame(page)
            heard = slider.get_attribute("aria-valuetext")
            if "ρ" in slider.evaluate("e => e.labels[0].textContent"):
                assert re.search(r"ρ [\d.e-]+ of zero-concentrated differential privacy", heard)
                continue
            loss = re.search(r"ε ([\d.e+-]+): an", heard)[1]
            bound = odds_sentence("0.1", loss).partition(":")[0].removeprefix("An ")
            assert f"ε {loss}: an {bound}" in heard


def test_every_slider_answers_the_keys(shown):
    """An arrow key moves each enabled slider, and what is heard of its value follows."""
    page = shown
    for slider in page.locator("input[type=range]:visible:enabled, [role=slider]:visible").all():
        name = slider.get_attribute("aria-label") or slider.evaluate("e => e.labels?.[0]?.textContent ?? ''")
        words = (
            "e => `${e.value ?? ''} ${e.getAttribute('aria-valuenow')} ${e.getAttribute('aria-valuetext')}`"
        )
        before, seen = slider.evaluate(words), set()
        slider.focus()
        for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
            page.keyboard.press(key)
            frame(page)
            seen.add(slider.evaluate(words))
        assert seen - {before}, name


def test_nonsense_in_number_fields_is_told(shown):
    """Whatever is typed into a number field, the picture shows numbers; what is refused is marked, with a sentence."""
    page = shown
    fields = page.locator("input[type=text][inputmode]:visible:enabled")
    for i in range(fields.count()):
        field = fields.nth(i)
        for text in NONSENSE:
            field.fill(text)
            field.press("Enter")
            frame(page)
            assert page.evaluate(LIES) == [], text
        field.fill("much")
        field.press("Enter")
        expect(field).to_have_attribute("aria-invalid", "true")
        said = page.locator("[role=alert], [role=status]").all_inner_texts()
        assert any(text.strip() for text in said)


WRONG = (
    {"epsilon": "much", "prior": "likely", "n": "many", "loss": "all", "low": None, "values": "x", "kind": 3},
    {"epsilon": -3, "prior": 7, "n": 0, "loss": -1, "delta": 2, "low": 1e9, "high": -1e9, "size": 0},
    {"epsilon": 1e300, "prior": 0, "n": 1e300, "loss": 1e300, "delta": -1, "kind": "mode", "shape": "cube"},
    {"values": [1], "arms": [7] * 30, "scores": [9] * 30, "shares": [0], "weights": [-1]},
)


@pytest.mark.parametrize("name", mostly_long(CLOSED, "compare", "clamp"))
def test_wrong_settings_leave_a_true_picture(show, data, name):
    """Settings that no hand could make, as a saved notebook may bring them, are left out or brought into their range."""
    made = [makers(data)[name]() for _ in WRONG]
    for one, wrong in zip(made, WRONG, strict=True):
        one.chosen = wrong
    page = show(*made)
    assert page.evaluate(LIES) == []
    for place, one in enumerate(made):
        one.card()
        drawn = page.locator("[data-dpnb]").nth(place)
        slider, field = range_of(drawn, "ε"), drawn.get_by_label("ε, typed")
        before = slider.get_attribute("aria-valuetext")
        field.fill("0.37")
        field.press("Enter")
        frame(page)
        assert slider.get_attribute("aria-valuetext") != before, WRONG[place]
        assert page.evaluate(LIES) == [], WRONG[place]


def test_a_population_of_one_value_is_drawn(show):
    """Values all alike: bounds around them are drawn, clamped and priced, without a number that is none."""
    page = show(widgets.clamp([5, 5, 5], low=0, high=10), widgets.drag_person([30, 30], low=20, high=40))
    assert page.evaluate(LIES) == []
    for kind in ("sd", "difference", "matched", "slope", "median"):
        page.get_by_role("combobox", name="statistic").select_option(kind)
        frame(page)
        page.get_by_role("button", name="Show the worst case").click()
        frame(page)
        assert page.evaluate(LIES) == [], kind


def test_every_interaction_with_a_loss_is_heard_above(show, each):
    """The sliders that the test above listens to are there: of each interaction that has one."""
    with_loss = {
        "guide",
        "seesaw",
        "odds",
        "noises",
        "person",
        "plan",
        "plan-derived",
        "clamp",
        "attack",
        "remeasure",
        "synthetic",
    }
    parts = show(*each.values()).locator("[data-dpnb]")
    found = {
        name
        for place, name in enumerate(each)
        if parts.nth(place).get_by_role("slider", name=LOSS).count() > 0
    }
    assert found >= with_loss


def test_outcomes_play_only_where_motion_is_welcome(show):
    """Hypothetical outcomes play and stop; with reduced motion they are stepped, one a click."""
    page = show(widgets.noises(0.4), motion="no-preference")
    said = page.locator("[aria-live]")
    before = said.inner_text()
    page.get_by_role("button", name="Play outcomes").click()
    expect(said).not_to_have_text(before)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Play outcomes")).to_be_visible()
    calm = show(widgets.noises(0.4))
    expect(calm.get_by_role("button", name="Play outcomes")).to_be_hidden()
    before = calm.locator("[aria-live]").inner_text()
    calm.get_by_role("button", name="Show another outcome").click()
    expect(calm.locator("[aria-live]")).not_to_have_text(before)


SEND = """(node, [kind, id, x, y]) => { const b = node.getBoundingClientRect();
    node.setPointerCapture = () => undefined;
    node.dispatchEvent(new PointerEvent(kind, {pointerId: id, button: 0, bubbles: true,
        clientX: b.left + x * b.width, clientY: b.top + y * b.height})); }"""


@pytest.mark.parametrize("name", ["seesaw", "clamp", "noises", "odds"])
def test_a_second_finger_does_not_take_over(show, data, name):
    """While one pointer drags in a drawing, another one pressed and moved there changes nothing; lifting it neither."""
    page = show(makers(data)[name]())
    plot, drawn, (x, y) = page.locator("svg.plot:has(.handle)").first, page.locator(".dpnb-w"), (0.4, 0.5)
    if plot.count() == 0:  # its slider is the handle, and the drawing is dragged anywhere
        plot = page.locator("svg.plot").first
    else:
        box, at = plot.bounding_box(), plot.locator(".handle").first.bounding_box()
        x = (at["x"] + at["width"] / 2 - box["x"]) / box["width"]
        y = (at["y"] + at["height"] / 2 - box["y"]) / box["height"]
    for event in (["pointerdown", 1, x, y], ["pointermove", 1, x + 0.05, y]):
        plot.evaluate(SEND, event)
    frame(page)
    before = drawn.inner_html()
    for event in (["pointerdown", 2, 0.8, y], ["pointermove", 2, 0.9, y], ["pointerup", 2, 0.9, y]):
        plot.evaluate(SEND, event)
    frame(page)
    assert drawn.inner_html() == before
    plot.evaluate(SEND, ["pointermove", 1, x + 0.02, y])
    frame(page)
    assert drawn.inner_html() != before


def test_a_lost_kernel_leaves_a_picture_that_drags(show, data):
    """Where the kernel hears nothing, the closed forms still follow the hand."""
    page = show(*(makers(data)[name]() for name in CLOSED), kernel=True)
    page.busy = True
    for i in range(len(CLOSED)):
        place = page.locator("[data-dpnb]").nth(i)
        numbers = place.locator(".figures, tbody")
        figure = (numbers if numbers.count() else place.locator("svg")).first
        slider = place.get_by_role("slider", name="ε")
        before = f"{figure.text_content()} {place.locator('[aria-live]').inner_text()}"
        slider.focus()
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
        frame(page)
        assert f"{figure.text_content()} {place.locator('[aria-live]').inner_text()}" != before, CLOSED[i]


def test_two_views_of_one_widget_are_in_step(open_):
    """What a hand sets in one view of a widget is what the other view shows; a busy kernel keeps neither from dragging."""
    cells = (
        LOAD,
        "from dpnb import widgets\nw = widgets.odds(0.1, epsilon=0.5)\nw",
        "w",
        "import time; time.sleep(300)",
    )
    lab = open_(*cells)
    for i in range(3):
        lab.run_cell(i)
    views = [lab.output(i).locator(".figures strong").first for i in (1, 2)]
    for view in views:
        expect(view).to_have_text("10 % → 15.5 %")
    lab.select(3)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")
    field = lab.output(1).get_by_label("ε, typed")
    field.fill("1")
    field.press("Enter")
    for view in views:
        expect(view).to_have_text("10 % → 23.2 %")
    expect(lab.cell(3).locator(".jp-InputPrompt").first).to_contain_text("*")  # the cell has not ended


def test_a_closed_widget_is_not_left_as_if_it_lived(open_):
    """After ``close()`` in the kernel its picture is taken away, and the page has no error."""
    lab = open_(LOAD, "from dpnb import widgets\nw = widgets.odds(0.1, epsilon=0.5)\nw", "w.close()")
    lab.run_cell(0)
    lab.run_cell(1)
    expect(lab.output(1).locator(".figures strong").first).to_be_visible()
    lab.run_cell(2)
    expect(lab.output(1).locator(".figures")).to_have_count(0)


# of each interaction what can be slid, by what it says: a second one of the same name sets the same number
SLID = """() => [...document.querySelectorAll("[data-dpnb]")].map(part =>
    [...part.querySelectorAll("input[type=range], [role=slider]")].filter(one => one.checkVisibility())
        .map(one => one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? ""))"""


@pytest.mark.parametrize("first", mostly_long(WIDTHS, 320, 1600))
def test_every_interaction_is_readable_at_any_width(show, shots, each, first):
    """From 320 to 1,600 pixels nothing needs a horizontal scroll, letters of pictures are readable, code breaks between words.

    Loaded at one width, the page is then made as wide as at the others; a slider on the axis of a drawing is the only one of its number.
    """
    scheme = "dark" if WIDTHS.index(first) % 2 else "light"
    page = show(*each.values(), width=first, scheme=scheme)
    page.locator("[data-dpnb] > div.dpnb-w").nth(len(each) - 1).wait_for()
    for width in (first, *(one for one in WIDTHS if one != first)):
        page.set_viewport_size({"width": width, "height": 900})
        until(page, f"() => ({LETTERS})().every(size => size > 10.99 && size < 14.01)")
        frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert unreadable(page, "code, code *, th, th *") == [], width
        shots(page, f"interactions-{width}-{scheme}", full_page=True)
    for name in ON_AXES:
        part = page.locator("[data-dpnb]").nth(list(each).index(name))
        expect(part.locator("svg .handle:not([role=slider])")).to_have_count(0)


def test_a_number_has_one_slider(show, each):
    """No interaction has a second slider for the same number: each is named, and named once."""
    for name, slid in zip(each, show(*each.values()).evaluate(SLID), strict=True):
        assert "" not in slid, name
        assert len(set(slid)) == len(slid), f"{name}: {slid}"


@pytest.mark.parametrize("name", ["clamp", "remeasure"])
def test_bars_stand_on_an_axis_with_numbers(show, data, name):
    """Bars and intervals have a scale: at least two round numbers beside those of what is under the hand."""
    page = show(makers(data)[name](), width=390)
    frame(page)
    said = page.locator("svg.plot").first.locator("text").all_text_contents()
    under_the_hand = {"clamp": 2, "remeasure": 0}[name]
    numbers = [one for one in said if re.fullmatch(r"[-+]?[\d,.]+", one.strip())]
    assert len(numbers) >= 2 + under_the_hand, said


#: Words that are seen before anything is unfolded, numbers and code apart; a form of a file, or an exhibit's text, has as many as it has.
MOST = {"coverage": 60, "lecture": 40}
LONG = ("deposit", "exhibits")


def test_few_words_in_few_styles(shown, request):
    """Four sizes of letters and two weights in every interaction, those of a lecture larger; and no more words than a screen bears."""
    name = request.node.callspec.params["shown"]
    if name != "lecture":
        for style in shown.evaluate(STYLES):
            size, weight = style.split(" ")
            assert size in SIZES, style
            assert weight in WEIGHTS, style
    assert len(shown.evaluate(WORDS)) <= MOST.get(name, 120) or name in LONG
