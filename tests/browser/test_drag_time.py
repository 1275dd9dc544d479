"""Dragging is smooth: script and layout of each redraw, measured in the page, one event at a time."""

from __future__ import annotations

import pytest

from dpnb.widgets import _base
from tests.browser.dragging import AT_ONCE, MAKERS, REDRAWS, part

pytestmark = pytest.mark.skipif(not _base.built(), reason="the front end is not built")

BUDGET_MS = 8.0


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_redraw_fits_in_half_a_frame(show, data, name):
    """Half of all redraws take less than 8 ms of script and layout; ``bench_drag.py`` prints the rest for a person to judge."""
    page = show(MAKERS[name](data))
    page.evaluate(AT_ONCE)
    times = page.evaluate(REDRAWS)
    assert len(times) >= 200
    assert part(times, 0.5) < BUDGET_MS
