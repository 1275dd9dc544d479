"""What a machine can check of accessibility: axe finds nothing serious in any interaction, light or dark."""

from __future__ import annotations

import os

import pytest

import dpnb
from dpnb import widgets
from dpnb.widgets import _base
from tests.browser.conftest import ROOT
from tests.curator import small

AXE = ROOT / "labextension/node_modules/axe-core/axe.min.js"

pytestmark = pytest.mark.skipif(
    not (_base.built() and AXE.is_file()) and os.environ.get("CI") != "true",
    reason="the front end or its tools are not there",
)


@pytest.fixture
def made(dpnb_home):
    """One of each."""
    service = small.curator(dpnb_home)
    data = small.opened(small.session(service, "ann"), dpnb_home)
    released = dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]
    items = {"a": data.x.mean(), "b": data.y.mean(), "c": data.x.median()}
    yield [
        widgets.seesaw(data.y.mean(), assume_n=40),
        widgets.odds(),
        widgets.noises(),
        widgets.drag_person(),
        widgets.clamp(),
        widgets.plan(dpnb.plan(items, epsilon=1, assume_n=40)),
        widgets.budget(dpnb.plan(items, epsilon=20, assume_n=40)),
        widgets.remeasure(released, name="m"),
    ]
    service.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, made, tmp_path, scheme):
    """Names, roles, values, contrast: no finding of impact serious or critical."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    (tmp_path / "page.html").write_text(widgets.page(made), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("div.dpnb-w").nth(len(made) - 1).wait_for()
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("() => axe.run('main').then(r => r.violations)")
    context.close()
    serious = [
        (one["id"], node["html"][:160], node["failureSummary"][:300])
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]
    assert not serious
