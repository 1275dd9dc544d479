"""Dates as an analyst asks and reads them: literals, parts, differences, and answers that read as dates."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import dpnb
from dpnb.cards.facts import line_of
from dpnb.errors import PlanError

ROWS = 4000
START = np.datetime64("2020-01-01") + np.arange(ROWS) % 1500
END = START + np.arange(ROWS) % 40
DECLARED = {
    "dataset": {"name": "visits", "adjacency": "add-remove"},
    "budget": {"epsilon": 10_000},
    "columns": {
        "start": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
        "end": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
        "month": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"], "step": "month"},
    },
}


@pytest.fixture
def visits(dpnb_home):
    """Visits over four years, held in a frame."""
    return dpnb.open({"start": START, "end": END, "month": START}, schema=DECLARED, quiet=True)


def released(question):
    """The answer with so much loss that noise is nothing beside the rows."""
    return dpnb.release({"q": question}, epsilon=200)["q"]


def test_a_literal_date_filters_as_python_compares(visits):
    """ISO text, a date of Python and one of numpy are one literal."""
    true = int((np.datetime64("2021-03-01") <= START).sum())
    for literal in ("2021-03-01", dt.date(2021, 3, 1), np.datetime64("2021-03-01")):
        assert float(released(visits[visits.start >= literal].count())) == pytest.approx(true, abs=3)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda v: v.start >= "soon", "is not a date"),
        (lambda v: v.start > 5, "5 is a number. Write a date"),
        (lambda v: v.month >= "2021-03-05", 'write "2021-03-01", which means the whole month'),
        (lambda v: v.start.mean(), "ask .median() or .histogram()"),
        (lambda v: (v.start - v.month).mean(), "subtract a date of the same step"),
        (lambda v: (v.start * 2).median(), "holds dates"),
    ],
)
def test_what_dates_cannot_mean_is_refused_before_any_charge(visits, asked, words):
    """The refusal says what to write."""
    with pytest.raises(PlanError) as refused:
        asked(visits)
    assert words in str(refused.value)


def test_parts_and_differences_are_those_of_the_calendar(visits):
    """Each month's count, and the mean of a difference in days."""
    months = START.astype("datetime64[M]").astype(int) % 12
    found = released(visits.start.dt.month.value_counts())
    assert np.allclose(found.value, np.bincount(months), atol=3)
    assert found.axes[0].keys == tuple(range(1, 13))
    assert float(released((visits.end - visits.start).mean())) == pytest.approx(19.5, abs=0.1)


def test_a_median_reads_as_a_date_with_its_interval(visits):
    """In text, table and card; the number is the day's."""
    found = released(visits.start.median(ci=True))
    true = np.sort(START)[ROWS // 2]
    assert abs(np.datetime64(str(found)) - true) <= np.timedelta64(3, "D")
    assert found.value == np.datetime64(str(found)).astype(int)
    assert f"{found.interval()}".startswith("[20")
    assert found.table()[0]["value"] == str(found)
    line = line_of(found)
    assert line.answer(line.entries[0]) == str(found)
    assert "clamped to 2020-01-01–2024-12-31" in found.estimand


def test_bins_and_leaves_are_labelled_by_dates(visits):
    """Bins of a year, and the leaves of a tree of months."""
    years = released(visits.start.histogram(bins="year"))
    assert years.axes[0].keys[0] == "[2020-01-01, 2021-01-01)"
    assert float(years.value[0]) == pytest.approx(int((np.datetime64("2021-01-01") > START).sum()), abs=3)
    assert released(visits.month.tree()).axes[0].keys[:2] == ("2020-01-01", "2020-02-01")
