"""Dragging is smooth because a redraw is little work; ``bench_drag.py`` prints what that takes on a clock."""

from __future__ import annotations

import pytest

from tests.browser.dragging import AT_ONCE, MAKERS, WORK
from tests.examples import mostly_long

MOST_CHANGES, MOST_NODES = 60, 60


@pytest.mark.parametrize("name", mostly_long(sorted(MAKERS), *sorted(MAKERS)[::3]))
def test_a_redraw_is_little_work(show, data, name):
    """One event under the hand moves the picture, sets few attributes and makes few nodes, however many points it draws."""
    page = show(MAKERS[name](data))
    page.evaluate(AT_ONCE)
    work = page.evaluate(WORK)
    assert sum(changes > 0 for changes, _ in work) >= 20, "nothing moved"
    assert max(changes for changes, _ in work) <= MOST_CHANGES
    assert max(nodes for _, nodes in work) <= MOST_NODES
