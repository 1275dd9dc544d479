"""Axes have round numbers; many numbers are a picture first."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

import dpnb
from dpnb.cards.curves import ticks
from dpnb.cards.facts import Entry, Line
from dpnb.cards.released import estimate_card, line_html
from dpnb.cards.tracks import Scale, entry_scales
from tests.cards import made


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


def fitted(*halves: float, axis: str = "term") -> Line:
    """A fit of a term for each half width of its interval, of numbers so large that all of them are about 20 of these."""
    entries = tuple(
        Entry(f"x{place}", 20 * half, (19 * half, 21 * half), (18 * half, 22 * half), None, None)
        for place, half in enumerate(halves)
    )
    return made.fit(*entries, axis=axis)


def places(line: Line) -> list[float]:
    """From where to where each privacy interval is drawn, in percent of the drawing."""
    bars = re.findall(
        r'<rect x="[\d.]+%" y="[\d.]+" width="([\d.]+)%" height="6" class="pv"', str(line_html(line))
    )
    return [float(wide) for wide in bars]


def test_each_coefficient_has_an_axis_of_its_own_where_one_for_all_would_make_dots_of_some():
    """An intercept in thousands and a slope in thousandths are both read; two slopes alike stand on one axis."""
    apart, alike = fitted(500.0, 0.002), fitted(500.0, 300.0)
    assert min(places(apart)) > 20
    assert str(line_html(apart)).count('class="tick"') > 4
    assert "0.04" in str(line_html(apart))
    assert "10,000" in str(line_html(apart))
    assert str(line_html(alike)).count('height="18"') == 1
    shared = Scale.over(apart.entries)
    assert entry_scales(fitted(500.0, 0.002, axis="region"), shared) is None
