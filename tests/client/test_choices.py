"""A choice among labelled totals as it is typed: the whole path through the curator."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import PlanError


def test_labels_in_any_order_are_one_question(data):
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
