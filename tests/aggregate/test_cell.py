"""One cell, read by itself: what each kind of cell is, and that nothing else can be asked."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.datasets.cell_text import canonical, text_of
from dpnb.datasets.preparation import read
from dpnb.trusted.schema import Column
from dpnb.trusted.schema.calendar import place_of, start_of
from dpnb.trusted.schema.cell import number_of, number_text

ONE = [1, 1.0, True, np.int8(1), np.float32(1), np.bool_(True), Decimal("1.00"), Fraction(2, 2)]
ONE += ["1", "01", "1.0", " 1\t", "+1.", "1e0", "10e-1", "true", "TRUE", " True "]
NOTHING = [None, math.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT"), ""]
NOTHING += [b"1", [1], (1,), {"a": 1}, object(), 1j, dt.timedelta(1), dt.time(1), "\ud800", np.array([1])]


@pytest.mark.parametrize("cell", ONE, ids=repr)
def test_one_number_is_one_cell_however_it_is_held(cell):
    """Whole numbers, floats, decimals, truths and their texts are one cell."""
    assert canonical(cell) == "1"
    assert read(cell, Column.category("c", ["00", "01"])) == 1
    assert read(cell, Column.integer("c", 0, 6)) == 1


@pytest.mark.parametrize("cell", NOTHING, ids=lambda cell: type(cell).__name__)
def test_what_is_neither_number_text_nor_date_is_missing(cell):
    """A list, bytes or an object of any class is missing, and never written as a text."""
    assert canonical(cell) is None
    assert read(cell, Column.category("c", ["nan", "None"])) is None
    assert read(cell, Column.integer("c", 0, 6, missing=3)) == 3


def test_missing_values_of_pandas_are_missing():
    """NA and NaT are missing, though NaT calls itself a date."""
    pandas = pytest.importorskip("pandas")
    assert [canonical(cell) for cell in (pandas.NA, pandas.NaT)] == [None, None]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (-0.0, "0"),
        ("-0", "0"),
        (math.inf, "inf"),
        ("-Infinity", "-inf"),
        ("1e999", "inf"),
        (10**400, "inf"),
        (-(10**5000), "-inf"),
        (Decimal("1e999999999"), "inf"),
        (Decimal("1e-999999999"), "0"),
        (Fraction(10**400), "inf"),
        (np.float32(0.1), "0.10000000149011612"),
        (2**53 + 1, "9007199254740992.0"),
        ("9007199254740993", "9007199254740992.0"),
        (0.1, "0.1"),
        (Decimal("0.10"), "0.1"),
        ("nan", "nan"),
        ("٣", "٣"),
        ("1_000", "1_000"),
        ("falſe", "falſe"),
        (" x", " x"),
        ("a\0", "a\0"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (dt.datetime(2020, 1, 2), "2020-01-02"),  # noqa: DTZ001
        (np.datetime64("2020-01-02"), "2020-01-02"),
        (np.datetime64("2020-01-02T10:00:00.120", "ns"), "2020-01-02 10:00:00.12"),
        (dt.datetime(2020, 1, 2, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), "2020-01-02"),
        (np.datetime64("2020-01-02T10", "h"), "2020-01-02 10:00:00"),
        (np.datetime64("2020", "Y"), "2020-01-01"),
        (np.datetime64("-0044-03-15"), None),
        (np.datetime64("12020-01-01"), None),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_the_canonical_text_of_a_cell(cell, text):
    """Numbers in one form, dates as ISO writes them, texts unchanged."""
    assert canonical(cell) == text


def test_a_units_text_keeps_every_digit():
    """What identifies a unit never merges two: neither long numbers nor texts that are the same number."""
    assert [text_of(cell) for cell in (2**53 + 1, "01", " 1", "1e400", Decimal("12.50"), 1.0)] == [
        "9007199254740993",
        "01",
        " 1",
        "1e400",
        "12.5",
        "1",
    ]


@given(st.floats() | st.integers() | st.decimals() | st.text() | st.dates() | st.datetimes() | st.fractions())
def test_a_canonical_text_is_its_own_canonical_text(cell):
    """Writing a cell down and reading it again changes nothing."""
    text = canonical(cell)
    assert text is None or canonical(text) == text


@given(st.floats(allow_nan=False))
def test_a_number_is_read_back_from_its_text(number):
    """The text of a binary64 is that binary64."""
    assert number_of(number_text(number)) == number


@pytest.mark.parametrize("day", [*range(-15, 15), -719_162 + 40, 18_993, 2_932_896 - 7])
def test_a_moment_falls_in_the_step_that_begins_with_it_or_before(day):
    """By Python's calendar: a day and an hour count from 1970, a week begins on Monday, the first one on 1969-12-29."""
    date = dt.date(1970, 1, 1) + dt.timedelta(day)
    text, monday = date.isoformat(), date - dt.timedelta(date.weekday())
    weeks = (monday - dt.date(1969, 12, 29)).days // 7
    assert [place_of(f"{text} 23:59", step) for step in ("hour", "day", "week")] == [
        day * 24 + 23,
        day,
        weeks,
    ]
    assert start_of(day * 24 + 23, "hour") == f"{text} 23:00"
    assert (start_of(day, "day"), start_of(weeks, "week")) == (text, monday.isoformat())
