"""Axes have round numbers; many numbers are a picture first."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpnb
from dpnb.cards.released import estimate_card
from dpnb.cards.ticks import ticks
from tests.curator import small


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(3, 6))
def test_ticks_are_few_even_and_inside(low, wide, most):
    """At most as many as asked for, evenly apart, between the ends; and never none where there is room."""
    high = low + wide
    if not high > low + abs(low) * 1e-9:
        return
    found = ticks(low, high, most)
    assert 1 <= len(found) <= most
    assert all(low <= x <= high for x in found)
    steps = [b - a for a, b in pairwise(found)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-6, abs_tol=abs(low) * 1e-9) for step in steps)


def test_ticks_of_no_stretch_are_none():
    """Nothing is drawn where there is no length."""
    assert ticks(1.0, 1.0) == ticks(0.0, math.inf) == ()
    assert ticks(0.62, 0.79, 4) == (0.65, 0.7, 0.75)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A handle on the small dataset."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(home))
        service = small.curator(home)
        yield small.opened(small.session(service, "ann"), home)
        service.close()


def test_a_histogram_is_bars_with_error_bars(data):
    """Each bin has a bar and a thick line; the numbers beside the picture are round, and in pixels; the table is folded."""
    html = str(estimate_card(dpnb.release({"h": data.x.histogram(bins=5)}, epsilon=1)["h"]).html)
    picture = html[html.index("<svg") : html.index("</svg></svg>")]
    assert picture.count("<rect") == picture.count('class="er"') == 5
    assert "viewBox" not in picture[: picture.index(">")], "type does not shrink with the card"
    assert len(re.findall(r'class="tick"', picture)) >= 7
    assert "<summary>Numbers</summary>" in html[html.index("</svg></svg>") :]


def test_a_table_of_keys_is_a_heat_map(data):
    """Darker is more; the intervals are folded under it. Four cells are told as they were."""
    tables = dpnb.release({"t": data.crosstab("g", "y")}, epsilon=4)
    html = str(estimate_card(tables["t"]).html)
    shares = [int(one) for one in re.findall(r"var\(--dp-accent\) (\d+)%", html)]
    drawn = 'class="rows slim heat"' in html
    assert drawn == (tables["t"].size > 4) == bool(shares)
    assert not drawn or max(shares) >= 40
    assert not drawn or html.index('class="rows slim heat"') < html.index("<summary>Intervals</summary>")


def test_moments_are_folded(data):
    """What regressions are read from is working material."""
    html = str(estimate_card(dpnb.release({"zz": data.moments("x", "y")}, epsilon=1)["zz"]).html)
    assert "numbers themselves</summary>" in html
