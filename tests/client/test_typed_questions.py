"""Pairs of columns, choices, robust means and squares as they are typed: the whole path through the curator."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import PlanError, Unavailable
from dpnb.trusted.privacy.loss import PrivacyLoss


def test_pairs_and_modes_read_as_typed(data):
    """A second column is named or written; short names of pandas ask the same questions."""
    assert data.x.covariance("y").text == 'small.x.covariance("y")'
    assert data.x.corr(data.y, method="separate").text == "small.x.correlation(\"y\", method='separate')"
    assert data.x.cov(data.y * 2).text == "small.x.covariance(small.y * 2)"
    assert data[data.x > 3].groupby("g").x.correlation("y").shape == (2,)
    assert data.x.top_k(5).text == "small.x.top_k(5)"
    assert data.x.top_k(5).shape == (5,)
    assert data.groupby("g").x.mode().shape == (2,)


def test_two_columns_are_of_the_same_rows(data):
    """The second column must be of the same rows."""
    with pytest.raises(PlanError, match="another selection"):
        data.x.covariance(data[data.x > 3].y)


def test_labels_in_any_order_are_one_choice(data):
    """And the answer is one of them."""
    one = data.choose({"low": data.x < 3, "high": data.x > 6})
    two = data.choose({"high": data.x > 6, "low": data.x < 3})
    assert one.measurement.question == two.measurement.question
    assert one.text == "small.choose({'high': small.x > 6, 'low': small.x < 3})"
    dpnb.release([one], epsilon=1)
    assert one.labels == ("high", "low")[int(one.value)]


def test_too_few_candidates_are_refused(data):
    """One candidate is no choice."""
    with pytest.raises(PlanError, match="two labelled candidates"):
        data.choose({"low": data.x < 3})


def test_a_robust_mean_reads_its_range_and_the_rows_outside(session, data):
    """Bounds and rows outside are free and inside the declared bounds; a range has no interval, a number of rows has one."""
    mean = data.x.robust_mean()
    bounds, outside = mean.bounds(), mean.outside()
    done = dpnb.release({"mean": mean, "bounds": bounds, "outside": outside}, epsilon=2)
    assert done.charged.fits_in(PrivacyLoss.pure(2))
    low, high = bounds.value
    assert 0 <= low < high <= 10
    assert low <= mean.value <= high
    low, high = outside.interval(kind="privacy")
    assert 0 <= low <= high < float("inf"), (
        "noise may leave a number of rows below 0, and its interval ends there"
    )
    with pytest.raises(Unavailable, match="estimates nothing"):
        bounds.interval(kind="privacy")
    assert mean.interval(kind="privacy").width > 0
    assert "range unclear" in mean.flags
    assert "moved into the range" in mean.interval(kind="privacy").note
    assert str(mean.explain())
    assert (mean * 2).interval(kind="privacy").width > 0


def test_a_singular_square_says_how_to_write_it(data):
    """The middle of the declared bounds is taken off; without a square, or where it is centred, nothing is said."""
    fits = {
        "square": data.ols("y ~ x + x**2"),
        "centred": data.ols("y ~ x + (x - 5)**2"),
        "plain": data.ols("y ~ x"),
    }
    dpnb.release(fits, epsilon=3)
    assert "singular" in fits["square"].flags
    assert "Write (x - 5)**2 for x**2: the model is the same" in repr(fits["square"].summary())
    for name in ("centred", "plain"):
        assert "Write" not in repr(fits[name].summary())
