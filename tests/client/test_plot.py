"""Pictures of released values: on axes of their own or given ones, as rows, bars or a curve."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import dpnb
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
