"""Filters that no row of any table passes: zero is public, and a mean of nobody is refused before anything is spent."""

from __future__ import annotations

import random

import pytest

import dpnb
from dpnb.errors import PlanError
from dpnb.planner.check import keeps_nobody
from dpnb.trusted.aggregate.algebra import And, conjuncts
from tests.curator import small
from tests.fuzz.algebra import Algebra
from tests.measurements.test_regions import RANGES, WHERE, conditions, kept


@pytest.fixture
def data(tmp_path):
    """An opened small dataset: x is 0 to 10."""
    service = small.curator(tmp_path)
    return small.opened(small.session(service), tmp_path)


def test_no_random_filter_that_is_said_to_keep_nobody_keeps_a_row():
    """Whatever is joined; and impossible filters are found."""
    found = 0
    for seed in range(2000):
        rng = random.Random(seed)
        one, other = conditions(rng) if seed % 2 else (Algebra(rng, RANGES)._predicate(1) for _ in "ab")
        for where in (one, And(one, other)):
            if keeps_nobody(where, WHERE):
                found += bool(conjuncts(where))
                assert not kept(where), where
    assert found > 200


@pytest.mark.parametrize(
    "where",
    [
        lambda data: data.x > 200,
        lambda data: data.x < 0,
        lambda data: (data.x > 5) & (data.x < 3),
        lambda data: data.x + 1 > 20,
        lambda data: data.x == 4.5,
        lambda data: data.x * 2 > 21,
    ],
)
def test_counts_and_sums_of_nobody_are_zero_and_free(data, where):
    nobody = data[where(data)]
    report = dpnb.release({"n": nobody.count(), "s": nobody.x.sum()}, epsilon=1)
    assert report.charged.amount == 0
    assert [one.value for one in report.estimates.values()] == [0, 0]


def test_a_mean_of_nobody_is_refused_and_names_what_was_asked(data):
    with pytest.raises(PlanError, match=r"Nobody can be in small\[small.x > 200\]"):
        data[data.x > 200].x.mean()
    with pytest.raises(PlanError, match="Nobody can be in"):
        data[data.x > 200].groupby("g").count()


def test_what_may_keep_somebody_is_asked(data):
    """The last code, and a filter that some row passes."""
    report = dpnb.release({"n": data[data.x >= 10].count()}, epsilon=1)
    assert report.charged.amount == 1
