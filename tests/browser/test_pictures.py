"""The pictures of the documentation are what a browser draws today."""

from __future__ import annotations

import pytest
from dpnb_site import live

from tests.browser.pictures import FOLDER, SCHEMES, difference, shot, smaller

#: On the README, and so drawn in every run; the others are drawn in a longer run.
FIRST = ("remeasure", "plan", "coverage")
OTHERS = sorted(set(live.examples()) - set(FIRST))
#: Mean distance of small grey forms: times and noise of a new session change less, another layout or theme more.
NEAR = 0.03


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return what writes the live pages that are asked for, in a home of their own."""
    folder = tmp_path_factory.mktemp("pictures")
    written: set[str] = set()

    def page(name):
        if name not in written:
            written.update(live.write(folder / f"live-{name}", FIRST if name in FIRST else [name]))
        found = [*folder.glob(f"*/{name}.html")]
        assert found, "the front end is not built"
        return found[0]

    return page


@pytest.mark.parametrize("name", [*FIRST, *(pytest.param(name, marks=pytest.mark.soak) for name in OTHERS)])
def test_a_picture_is_what_a_browser_draws(browser, pages, name):
    """Light and dark; draw it anew with ``python -m tests.browser.pictures NAME``."""
    for scheme, mark in SCHEMES.items():
        drawn = smaller(shot(browser, pages(name), scheme))
        assert difference((FOLDER / f"{name}{mark}.png").read_bytes(), drawn) < NEAR


def test_pictures_of_two_themes_and_of_two_interactions_are_told_apart():
    """The measure is no rubber stamp: dark is not light, and a plan is not a forecast."""
    plan, dark, other = ((FOLDER / f"{name}.png").read_bytes() for name in ("plan", "plan-dark", "remeasure"))
    assert difference(plan, plan) == 0
    assert difference(plan, dark) > NEAR
    assert difference(plan, other) > NEAR
