"""A saved notebook that holds the record of a release without its card still shows the release, as text."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from dpnb.cards.released import estimate_card
from dpnb.inference.seeded_bits import SeededBits
from tests.contracts.questions import TABLES, UNITS, X, asked, released, schema

MIME = "application/vnd.dpnb.release+json"


def test_a_record_alone_is_drawn_as_a_table(lab):
    """Value, both intervals and the price stand in it; markup in a name stays text."""
    where = schema(UNITS["change-one"])
    item = asked({"target": X}, "mean", where, "epsilon", "0.5")
    estimate = released(item, TABLES["constant"], where, SeededBits(3))
    record = estimate_card(estimate).json
    lab.server.notebook("record.ipynb", ["1"])
    path = lab.server.work / "record.ipynb"
    notebook = nbformat.read(path, 4)
    other = {**record, "name": "<img src=x onerror=alert(1)>"}
    notebook.cells[0].outputs = [
        nbformat.v4.new_output("display_data", {MIME: shown, "text/plain": "a release"})
        for shown in (record, other, {"format": 99})
    ]
    nbformat.write(notebook, path)
    lab.show("record.ipynb")
    drawn = lab.page.locator(".dpnb-Release")
    expect(drawn).to_have_count(3)
    expect(drawn.nth(0)).to_contain_text("small.x.mean() · ε 0.5")
    expect(drawn.nth(0).locator("td").nth(1)).to_contain_text(" to ")
    expect(drawn.nth(1)).to_contain_text("<img src=x onerror=alert(1)>")
    expect(drawn.nth(2)).to_contain_text("another version of dpnb")
    assert drawn.locator("img").count() == 0
    for theme in lab.shots.themes:
        lab.theme(theme)
        lab.shot(f"renderer-{theme.split()[-1].lower()}")
