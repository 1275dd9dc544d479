"""Pictures of released values: on axes of their own or given ones, as rows, bars or a curve."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import dpnb
from dpnb.cards.curves import Curve, bars_of, draw_curve
from dpnb.errors import OptionError

mpl.use("agg")


@pytest.fixture
def bins(data):
    """A released histogram of five bins."""
    found = data.x.histogram(bins=5)
    dpnb.release([found], epsilon=2)
    return found


def test_a_histogram_has_touching_bars_of_the_released_heights(bins):
    """Each bin is a bar of its value, next to its neighbour, with the noise on its top; the labels are the bins."""
    axes = bins.plot()
    assert isinstance(axes, Axes)
    bars = list(axes.patches)
    assert [bar.get_height() for bar in bars] == np.ravel(bins.value).tolist()
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert all(right == pytest.approx(left) for (_, right), (left, _) in pairwise(ends))
    assert [label.get_text() for label in axes.get_xticklabels()] == list(bins.axes[0].keys)
    (whiskers,) = [one for one in axes.containers if one.get_label() == "privacy interval"]
    low = np.ravel(bins.interval(0.95, "privacy").low)
    assert [line[0, 1] for line in whiskers[2][0].get_segments()] == pytest.approx(low.tolist())


def test_bars_do_not_go_below_zero(data):
    """A noised count below zero has a bar of none, inside its interval, in figure and card; its number stays as released."""
    found = data.x.histogram(bins=10)
    dpnb.release([found], epsilon=0.02)
    assert np.min(found.value) < 0
    low, high = found.interval(0.95, "privacy")
    for drawn in (np.array([bar.get_height() for bar in found.plot().patches]), bars_of(found).values):
        assert drawn.min() == 0
        assert ((low <= drawn) & (drawn <= high)).all()
        assert (drawn == np.clip(found.value, 0, drawn.max())).all()
    assert bars_of(found).low == 0
    assert min(found.table()["value"]) == np.min(found.value)


def test_a_picture_takes_matplotlib_s_words(bins):
    """Colour and the like go to what shows the values; a word that matplotlib does not know is told."""
    axes = bins.plot(color="0.5", alpha=0.4)
    assert {bar.get_facecolor() for bar in axes.patches} == {(0.5, 0.5, 0.5, 0.4)}
    points = bins.plot(kind="points", color="red", marker="s")
    (value,) = [line for line in points.lines if line.get_label() == "value"]
    assert (value.get_color(), value.get_marker()) == ("red", "s")
    with pytest.raises(OptionError, match="matplotlib does not take colour= here"):
        bins.plot(colour="red")


def test_a_curve_takes_matplotlib_s_words():
    """Those of matplotlib's line."""
    axes = Figure().subplots()
    draw_curve(axes, Curve(np.arange(4.0), np.arange(3.0), {}), "q", None, {"color": "green", "linewidth": 3})
    (value,) = [line for line in axes.lines if line.get_label() == "value"]
    assert (value.get_color(), value.get_linewidth()) == ("green", 3)


def test_a_histogram_has_edges_before_and_after_its_release(data):
    """They are public, and fit ``plt.stairs``; an answer without bins says what it has."""
    found = data.x.histogram(bins=5)
    assert found.edges.tolist() == [0, 2, 4, 6, 8, 10]
    dpnb.release([found], epsilon=2)
    assert found.edges.size == found.value.size + 1
    for other in (data.x.mean(), data.groupby("g").count(), found[1], found * 2):
        with pytest.raises(OptionError, match=r"has no bins\. A whole histogram has \.edges"):
            _ = other.edges


def test_plots_compose_on_given_axes(bins):
    """Two pictures stand side by side on one figure, each with its title; nothing else is drawn."""
    figure = Figure()
    left, right = figure.subplots(ncols=2)
    assert bins.plot(ax=left, title="bars") is left
    assert bins.plot(ax=right, kind="points") is right
    assert left.get_title() == "bars"
    assert right.get_title() == ""
    assert left.patches
    assert figure.axes == [left, right]
    assert not figure.legends
    assert "value" in [text.get_text() for text in right.get_legend().get_texts()]


def test_a_kind_that_does_not_fit_names_those_that_do(bins):
    """An unknown kind, and a curve of five bins."""
    with pytest.raises(OptionError, match='kind="points", kind="bars" or kind="curve"'):
        bins.plot(kind="pie")
    for word in ("curve", "line"):
        with pytest.raises(OptionError, match=r'not a curve.*kind="points"'):
            bins.plot(kind=word)
    assert len(bins.plot(kind="bar").patches) == len(bins.plot(kind="bars").patches)
