"""Covariance, correlation, mode and top_k as they are typed: handles, the whole path through the curator, and their cards."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.errors import PlanError
from tests.curator import small


def test_they_read_as_typed(data):
    """A second column is named or written; short names of pandas ask the same questions."""
    assert data.x.covariance("y").text == 'small.x.covariance("y")'
    assert data.x.corr(data.y, method="separate").text == "small.x.correlation(\"y\", method='separate')"
    assert data.x.cov(data.y * 2).text == "small.x.covariance(small.y * 2)"
    assert data[data.x > 3].groupby("g").x.correlation("y").shape == (2,)
    assert data.x.top_k(5).text == "small.x.top_k(5)"
    assert data.x.top_k(5).shape == (5,)
    assert data.groupby("g").x.mode().shape == (2,)


def test_rows_of_other_selections_do_not_mix(data):
    """The second column must be of the same rows."""
    with pytest.raises(PlanError, match="another selection"):
        data.x.covariance(data[data.x > 3].y)


def test_a_large_loss_finds_the_most_frequent_value(session, dpnb_home):
    """With little noise the mode is numpy's, and top_k lists the counts in order."""
    raw = small.rows()
    raw["x"] = np.repeat([7.0, 2.0, 9.0], [20, 13, 7])
    data = small.opened(session, dpnb_home, raw, epsilon=1000)
    mode, top = data.x.mode(), data.x.top_k(3)
    dpnb.release([mode, top], epsilon=400)
    assert mode.value == 7
    assert top.value.tolist() == [7, 2, 9]
    assert (mode.labels, top.labels.tolist(), data.x.mode().text) == (7, [7, 2, 9], "small.x.mode()")
    assert repr(mode) == "<small.x.mode(): 7>"
    mean = data.x.mean()
    dpnb.release([mean], epsilon=1)
    assert mean.labels is None
    assert (mean + 1).labels is None
