"""An owner's deposit by key alone: from a file nobody declared to a closed dataset with a published page, in JupyterLab."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import expect

import dpnb
from dpnb import widgets
from dpnb.__main__ import main
from dpnb.client import api
from tests.browser.test_accessibility import serious
from tests.examples import mostly_long
from tests.owner.conftest import write_people

ROWS = "who,age,sex,income\n" + "".join(
    f"{i % 280},{20 + i % 60},{'fm'[i % 2]},{1000 + 90 * i}\n" for i in range(300)
)
FILLED = {
    "dataset": {"unit": "who", "most": "2", "epsilon": "2"},
    "columns": [{"name": "sex", "values": "f, m"}, {"name": "income", "upper": "200000"}],
}


def deposit(folder, step=0, **chosen):
    """A deposit as it stands on one of its steps."""
    (folder / "people.csv").write_text(ROWS)
    made = widgets.deposit(folder / "people.csv")
    form = made._first.changed(FILLED if step else {}).to_json()
    made.chosen = {"form": form, "step": step, "rows": 300, **chosen}
    return made


PICKS = {"picks": ["average_age", "people_by_sex", "middle_income"], "shares": [0.5, 0.3, 0.2], "loss": 1.6}


@pytest.mark.parametrize(
    ("step", "scheme"),
    mostly_long(
        itertools.product(range(4), ("light", "dark")), (0, "light"), (1, "dark"), (2, "light"), (3, "dark")
    ),
)
def test_the_four_steps_are_clean_and_fit(show, shots, tmp_path, dpnb_home, step, scheme):
    """Each step from 390 to 1,400 pixels: nothing sticks out, axe finds nothing serious; a picture of each for a person to look at."""
    page = show(deposit(tmp_path, step, **PICKS, end="close"), scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shots(page, f"deposit-{step + 1}-{width}-{scheme}", full_page=True)
    assert not serious(page, "main")


def test_a_step_is_left_only_when_it_is_filled_in(show, tmp_path):
    """Without a kernel what is blank is said, and nothing is claimed to be written."""
    page = show(deposit(tmp_path))
    expect(page.get_by_role("status").first).to_contain_text("Still blank – whose row it is")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page = show(deposit(tmp_path, 1))
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("The kernel does not answer")).to_be_visible()


KEY, THOUGHT = 0.28, 1.35
"""Seconds for a key of an average typist, and for making up one's mind before a control (Card, Moran & Newell 1980)."""


class Hand:
    """A keyboard that counts its keys, and the controls that were reached."""

    def __init__(self, keyboard):
        self.keyboard, self.keys, self.controls = keyboard, 0, 0

    def press(self, key):
        """Press a key."""
        self.keys += 1
        self.keyboard.press(key)

    def type(self, words):
        """Type some words."""
        self.keys += len(words)
        self.keyboard.type(words)

    @property
    def seconds(self):
        """What a person needs for this, who reads nothing."""
        return KEY * self.keys + THOUGHT * self.controls


class Keys:
    """A page by key alone."""

    def __init__(self, page):
        self._page, self.keyboard = page, Hand(page.keyboard)

    def __getattr__(self, name):
        return getattr(self._page, name)


def tab_to(page, wanted):
    """Press Tab until a control has the focus."""
    page.keyboard.controls += 1
    for _ in range(60):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab reaches {wanted}")


def said_below(page, words):
    """Wait for what a cell printed."""
    expect(page.locator(".jp-OutputArea-output").filter(has_text=words)).to_be_visible()


def enter(page, wanted):
    """Reach a control by Tab and press it."""
    expect(wanted).to_be_enabled()
    tab_to(page, wanted)
    page.keyboard.press("Enter")


def declare(page, screen):
    """Whose rows, how many each, and what no name tells; a mistake is said at its field, and mended."""
    screen.get_by_label("Whose row is it?").focus()
    page.keyboard.type("the column who")
    tab_to(page, screen.get_by_label("Most rows one person can have"))
    page.keyboard.type("two")
    expect(screen.get_by_role("alert").filter(has_text="whole number, not 'two'")).to_be_visible()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    tab_to(page, screen.get_by_role("group", name="sex").get_by_label("values"))
    page.keyboard.type("f, m")
    tab_to(page, screen.get_by_role("group", name="income").get_by_label("highest"))
    page.keyboard.type("100000")
    expect(screen.locator("pre.toml")).to_contain_text("upper = 100000")
    expect(screen.locator("table.rows tbody tr")).to_have_count(5)
    enter(page, screen.get_by_role("button", name="Next"))


def choose(page, screen):
    """One key more of ε, then on: the declaration is written."""
    slider = screen.get_by_role("slider", name="ε for everything")
    tab_to(page, slider)
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    enter(page, screen.get_by_role("button", name="Next"))
    expect(screen.get_by_text("Wrote town.dpnb.toml")).to_be_visible()


def release(page, screen):
    """Two statistics, made equally near, a fifth kept, a divider moved, and released once."""
    for name in ("age: average", "sex: how many in each group"):
        tab_to(page, screen.get_by_role("checkbox", name=name))
        page.keyboard.press("Space")
        expect(screen.get_by_role("checkbox", name=name)).to_be_checked()
    enter(page, screen.get_by_role("button", name="Even out the relative ±"))
    enter(page, screen.get_by_role("button", name="Keep 20 %"))
    tab_to(page, screen.get_by_role("slider", name="divider"))
    page.keyboard.press("ArrowRight")
    enter(page, screen.get_by_role("button", name=re.compile("Release these 2 statistics for ε")))
    said_below(page, "released from town")


def close(page, screen):
    """Close for ever, asked once, with a reason that a shell would trip over."""
    following = screen.get_by_role("button", name="Next")
    following.focus()  # the cell that ran has the focus
    page.keyboard.press("Enter")
    expect(screen.get_by_text("It is open.")).to_be_visible()
    tab_to(page, screen.get_by_role("radio", name="Keep it open"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(screen.get_by_role("radio", name="Close it for ever")).to_be_checked()
    tab_to(page, screen.get_by_role("textbox", name="Reason"))
    page.keyboard.type("the study's end; 5 $x {y}")
    enter(page, screen.get_by_role("button", name="Close it for ever"))
    enter(page, screen.get_by_role("button", name="Yes, for ever"))
    said_below(page, "closed for ever")
    expect(screen.get_by_text("It is closed.")).to_be_visible()


def test_an_owner_deposits_a_file_by_key_alone(lab, shots):
    """Declare, choose, pick, release, close and publish; what was published opens, and holds what was picked."""
    (lab.server.work / "town.csv").write_text(ROWS)
    lab.server.notebook("deposit.ipynb", ["%load_ext dpnb\n%dp deposit town.csv"])
    lab.show("deposit.ipynb")
    lab.run_all()
    page, screen = Keys(lab.page), lab.page.locator(".dpnb-w.deposit")
    declare(page, screen)
    choose(page, screen)
    release(page, screen)
    shots(page, "deposit-lab")
    close(page, screen)
    publish = screen.get_by_role("button", name="Write the published page")
    expect(publish).to_be_enabled()
    publish.focus()  # as above
    page.keyboard.press("Enter")
    said_below(page, "Published 2 statistics")

    published = dpnb.open(lab.server.work / "town-published" / "town.releases.json").published
    assert set(published) == {"average_age", "people_by_sex"}
    assert 20 < published["average_age"].value < 80
    hand = page.keyboard
    print(f"{hand.keys} keys, {hand.controls} controls: about {hand.seconds:.0f} s")
    assert hand.seconds < 300


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A page that an owner published of a closed dataset."""
    folder = tmp_path_factory.mktemp("owner")
    write_people(folder)
    picked = "\n".join(f'{name} = "{line}"' for name, line in PUBLISHED.items())
    (folder / "picked.toml").write_text(f"[statistics]\n{picked}\n")
    asked = [str(folder / "people.dpnb.toml"), "--statistics", str(folder / "picked.toml"), "--epsilon", "3"]
    why = ["--reason", "the study ended", "--yes"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(folder / "home"))
        assert main(["admin", "release", *asked, "--yes"]) == 0
        assert main(["admin", "close", "people", *why]) == 0
        assert main(["admin", "publish", *asked, "--to", str(folder / "out"), *why]) == 0
        api.close()
    return folder / "out" / "people.html"


PUBLISHED = {
    "mean_age": "people.age.mean()",
    "by_sex": "people.groupby('sex').count()",
    "quarters": "people.age.quantile([0.25, 0.5, 0.75])",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_published_page_is_clean_and_fits(browser, shots, published, scheme):
    """From 390 to 1,400 pixels nothing sticks out, axe finds nothing serious, and nothing is asked of a network."""
    page = browser.new_context(
        color_scheme=scheme, viewport={"width": 390, "height": 900}, offline=True
    ).new_page()
    wanted = []
    page.on("request", lambda request: wanted.append(request.url))
    page.goto(published.as_uri())
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shots(page, f"published-{width}-{scheme}", full_page=True)
    assert not serious(page, "main")
    assert wanted == [published.as_uri()]
    page.context.close()
