"""Long answers along a number are one picture: steps over bins, nothing lost at the ends, the same facts in every form."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpnb.cards.curves import Beside, Curve, curve_of, curve_svg, draw_curve, sparkline
from dpnb.cards.facts import line_of, record_of
from dpnb.cards.released import line_html, line_text
from dpnb.estimate import Estimate
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import Ref
from tests.contracts.questions import TABLES, UNITS, asked, released, schema


def tree() -> Estimate:
    """A released tree of a hundred and one values."""
    where = schema(UNITS["add-remove"])
    item = asked({"target": Ref("x")}, "tree", where, "epsilon", 1)
    return released(item, TABLES["two rows"], where, SeededBits(3))


def test_bins_are_steps_and_points_are_carried_to_the_next() -> None:
    """A value over a bin starts at its left edge; a distribution function holds its value until the next point."""
    bins = Curve(np.array([0.0, 1.0, 3.0]), np.array([5.0, 7.0]), {})
    assert [list(map(float, c)) for c in bins.path(bins.values)] == [[0, 1, 1, 3], [5, 5, 7, 7]]
    points = Curve(np.array([0.0, 1.0]), np.array([0.2, 1.0]), {})
    assert [list(map(float, c)) for c in points.path(points.values)] == [[0, 1, 1], [0.2, 0.2, 1.0]]


def test_pooling_keeps_mean_and_outermost_ends() -> None:
    """A picture of a thousand bins in ten: the mean is the mean, and a band holds all that it held."""
    values = np.random.default_rng(1).normal(size=1000)
    whole = Curve(np.arange(1001.0), values, {"privacy": (values - 1, values + 2)})
    few = whole.pooled(10)
    assert few.values.size == 10
    assert few.across[[0, -1]].tolist() == [0, 1000]
    assert few.values.mean() == pytest.approx(values.mean())
    low, high = few.bands["privacy"]
    assert low.min() == values.min() - 1
    assert high.max() == values.max() + 2


def test_a_tree_and_its_readings_are_curves_and_a_short_answer_is_not() -> None:
    """The leaves, the distribution function and the density are drawn; two quantiles are a table."""
    root = tree()
    for estimate in (root, root.cdf(), root.density(levels=5)):  # type: ignore[attr-defined]
        curve = curve_of(estimate)
        assert curve is not None
        assert curve.values.size == estimate.size
        line = line_of(estimate, "t")
        html, text = line_html(line), line_text(line)
        assert "<polyline" in html or "<rect" in html
        assert "t.table() lists all" in html
        assert "▁" in text or "█" in text
        assert not re.search("nan|inf", html)
    assert curve_of(root.quantile([0.25, 0.75])) is None  # type: ignore[attr-defined]
    assert "counts of 7 levels" in line_text(line_of(root, "t"))
    assert line_of(root.cdf()).paid == f"read from {line_of(root).paid}"  # type: ignore[attr-defined]


def test_the_record_of_a_card_holds_the_picture() -> None:
    """Who draws a card from its record has the same points; a thousand are pooled to a screen's width."""
    record = record_of(line_of(tree(), "t"))["curve"]
    assert len(record["across"]) == len(record["values"]) + 1 == 102
    assert set(record["bands"]) == {"privacy"}
    wide = Curve(np.arange(1001.0), np.ones(1000), {}).to_json()
    assert len(wide["values"]) <= 240


def test_a_curve_of_equal_values_is_drawn() -> None:
    """A flat line has a height of its own: nothing is divided by zero."""
    flat = Curve(np.arange(20.0), np.zeros(20), {})
    assert "<svg" in curve_svg(flat, "flat")
    assert sparkline(flat).count("▁") == 20


def test_a_figure_has_both_bands() -> None:
    """The static figure names the value, what the noise hides, and what sampling hides too."""
    root = tree()
    labels = root.cdf().plot().get_legend_handles_labels()[1]  # type: ignore[attr-defined]
    assert labels == ["privacy interval", "confidence interval", "value"]
    curve = curve_of(root)
    assert curve is not None
    axes = Figure().add_subplot()
    draw_curve(axes, curve, "t", Beside(np.zeros(101)))
    assert "beside" in axes.get_legend_handles_labels()[1]
