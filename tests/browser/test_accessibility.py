"""What a machine can check of accessibility: axe finds nothing serious in any interaction, light or dark."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from dpnb import widgets
from tests.browser.conftest import ROOT
from tests.browser.test_extension import ASK, LOAD, OPEN
from tests.browser.test_interactions import everything
from tests.widgets.test_interactions import planned

AXE = ROOT / "labextension/node_modules/axe-core/axe.min.js"

pytestmark = pytest.mark.skipif(
    not AXE.is_file() and os.environ.get("CI") != "true", reason="the tools of the front end are not there"
)


def serious(page, *places):
    """Return what axe finds of impact serious or critical in some places of a page."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))  # a script tag is what the page's policy refuses
    report = page.evaluate("places => axe.run({ include: places })", list(places))
    found, fine = report["violations"], {one["id"] for one in report["passes"]}
    assert "color-contrast" in fine | {one["id"] for one in found}, "no text could be judged"
    return [
        (one["id"], node["html"][:160], node["failureSummary"][:300])
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


HALF_AND_HALF = pytest.mark.parametrize(
    "schemes", [("light", "dark"), pytest.param(("dark", "light"), marks=pytest.mark.soak)], ids="-".join
)


@HALF_AND_HALF
def test_axe_finds_nothing_serious(show, data, schemes):
    """Names, roles, values, contrast, of every interaction: no finding of impact serious or critical; half of them in the light, half in the dark."""
    made = [
        *everything(data).values(),
        widgets.budget(planned(data, epsilon=20)),
        widgets.clamp(data.x),
        widgets.coverage_lab("mean", "bell", rho=0.5, n=50, reps=20).run("k"),
    ]
    page = show(*made)
    page.locator("[data-dpnb] > div.dpnb-w").nth(len(made) - 1).wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.evaluate("document.querySelectorAll('[data-dpnb]').forEach((part, i) => { part.id = `part-${i}`; })")
    for half, scheme in enumerate(schemes):
        page.emulate_media(color_scheme=scheme)
        assert not serious(page, *(f"#part-{i}" for i in range(half, len(made), 2))), scheme


@pytest.mark.parametrize("shape", ["densities", "totals"])
def test_other_shapes_of_two_noises_are_clean(show, shape):
    """Densities and distribution functions have names and contrast too."""
    page = show(widgets.noises(0.4))
    page.get_by_label("drawn as").select_option(shape)
    assert not serious(page, "main")


@HALF_AND_HALF
def test_every_screen_of_the_guide_is_clean(show, data, schemes):
    """The five screens, each as it stands when it is reached; one in the light, the next in the dark."""
    guide = widgets.guide(data)
    guide.chosen = {"goal": "average", "column": "x"}
    page = show(guide)
    following = page.get_by_role("button", name="Next")
    for screen in range(5):
        page.emulate_media(color_scheme=schemes[screen % 2])
        assert not serious(page, "main"), screen
        if screen < 4:
            following.click()
    expect(page.locator("pre")).to_contain_text("%%dp")


def test_what_jupyterlab_shows_is_clean(open_):
    """Side panel, gauge and the price of a cell in JupyterLab, in both of its themes."""
    lab = open_(LOAD, OPEN, ASK)
    lab.run_all()
    lab.gauge.click()
    expect(lab.panel).to_contain_text("hiv.got.mean()")
    lab.panel.get_by_role("button", name="Copy as methods paragraph").click()
    expect(lab.panel.get_by_role("textbox", name="methods paragraph")).to_be_visible()
    for part in ("columns", "Build a regression"):
        lab.panel.locator("summary", has_text=part).click()
    lab.panel.get_by_role("button", name="Compare zCDP with adding up").click()
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)  # it covers the page for a moment
        lab.shot(f"tools-{theme.split()[-1].lower()}")
        assert not serious(lab.page, "#dpnb-panel", ".dpnb-Gauge", ".dpnb-Tag"), theme
