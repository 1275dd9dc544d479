"""A choice among labelled totals as it is typed: the whole path through the curator."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import PlanError
from dpnb.trusted.privacy.loss import PrivacyLoss


def test_it_is_released_by_the_curator(session, data):
    """Labels in any order are one question; the answer is one of them, for exactly the loss asked."""
    one = data.choose({"low": data.x < 3, "high": data.x > 6})
    two = data.choose({"high": data.x > 6, "low": data.x < 3})
    assert one.measurement.question == two.measurement.question
    assert one.text == "small.choose({'high': small.x > 6, 'low': small.x < 3})"
    done = dpnb.release([one], epsilon=1)
    assert done.charged == PrivacyLoss.pure(1)
    assert one.labels == ("high", "low")[int(one.value)]
    assert str(one.explain())
    assert "of the largest" in repr(dpnb.plan([data.choose({"a": data.x, "b": data.y})], epsilon=1))


def test_too_few_candidates_are_refused(data):
    """One candidate is no choice."""
    with pytest.raises(PlanError, match="two labelled candidates"):
        data.choose({"low": data.x < 3})
