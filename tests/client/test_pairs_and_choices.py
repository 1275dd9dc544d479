"""Covariance, correlation, mode and top_k as they are typed: handles, the whole path through the curator, and their cards."""

from __future__ import annotations

import pytest

from dpnb.errors import PlanError


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
