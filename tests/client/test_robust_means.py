"""A mean in a private range as it is typed: the whole path through the curator, and what is read beside it."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import Unavailable
from dpnb.trusted.privacy.loss import PrivacyLoss


def test_readings_give_the_range_and_the_rows_outside(session, data):
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
