"""The quantiser in numpy: the facts that every engine's copy must reproduce, one by one."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from dpnb.datasets.exact_answers import ints_of
from dpnb.datasets.preparation import number_of, quantise, ranked, row_hash, unit_ids
from dpnb.trusted.schema import Column

AGE = Column.integer("age", 0, 100)


def codes(raw, column):
    """The codes of one raw column, None for missing."""
    return quantise(raw, column).tolist()


def test_halves_round_up_and_never_to_even():
    """floor(t + 1/2): one half and three halves both go up; minus one half goes to 0."""
    assert codes([0.5, 1.5, 2.5, -0.5, 0.49999999999999994], AGE) == [1, 2, 3, 0, 1]


def test_rounding_is_binary64s_own():
    """0.49999999999999994 + 0.5 is 1.0 in binary64: the code is 1, in numpy as in SQL."""
    assert math.floor(0.49999999999999994 + 0.5) == 1
    assert codes(np.array([0.49999999999999994]), AGE) == [1]


def test_values_beyond_the_bounds_are_clamped_and_infinities_too():
    """Whatever lies outside, however far, has the code of the bound."""
    assert codes([-1e308, 1e308, math.inf, -math.inf, 101, -1], AGE) == [0, 100, 100, 0, 100, 0]


def test_nan_null_and_text_that_is_no_number_are_missing():
    """Missing is missing, in numbers and in texts; NaN written in text as well."""
    assert codes([math.nan, 5.0], AGE) == [None, 5]
    assert codes(["n/a", None, "", "nan", "1_0", "0x1F", "٣", "5", " 6\t"], AGE) == [None] * 7 + [5, 6]


def test_a_public_constant_replaces_what_is_missing():
    """With missing = 3 nothing is missing, and what was has the code of 3."""
    assert codes([math.nan, 5.0], Column.integer("age", 1, 11, missing=3)) == [2, 4]
    assert codes(["x", "a"], Column.category("c", ["a", "b"], missing="b")) == [1, 0]


def test_categories_match_as_text_or_as_number():
    """Declared numbers match equal numbers and their texts; declared texts match themselves, unchanged."""
    assert codes(["1", "1.0", "2", "yes"], Column.category("sex", [0, 1])) == [1, 1, None, None]
    assert codes([1.0, 0.0, 2.0, math.nan], Column.category("sex", [0, 1])) == [1, 0, None, None]
    assert codes(["TRUE", "false", "1"], Column.category("yes", [False, True])) == [1, 0, 1]
    assert codes([True, False], Column.category("yes", [False, True])) == [1, 0]
    assert codes(["Goa", "goa", " Goa"], Column.category("place", ["goa", "Goa"])) == [1, 0, None]
    assert codes([1, 2], Column.category("code", ["2", "1"])) == [1, 0]


@pytest.mark.parametrize(
    ("text", "number"), [("1e2", 100.0), (".5", 0.5), ("+1.", 1.0), ("-inf", -math.inf), ("1e999", math.inf)]
)
def test_numbers_in_text_are_plain_decimals_or_infinities(text, number):
    """The grammar of numbers is fixed, and each is read to the nearest binary64."""
    assert number_of(text) == number


def test_a_whole_number_names_one_unit_in_a_column_of_floats_integers_or_texts():
    """Of whatever type it is declared, and none where it is missing."""
    for declared in (None, "integer", "text"):
        assert unit_ids([1.0, math.nan], declared=declared) == ["1", None]
        assert unit_ids(np.array([1, 2]), declared=declared) == ["1", "2"]
        assert unit_ids(["1", None], declared=declared) == ["1", None]


def test_the_hash_of_a_row_is_md5_of_key_unit_row_and_duplicate():
    """The ranking of a unit's rows is written down for ever."""
    assert (
        row_hash(b"\x01", "ann", "3,~", 2) == hashlib.md5(b"01|ann|3,~|2", usedforsecurity=False).hexdigest()
    )


def test_a_unit_keeps_its_first_rows_by_hash_and_nobody_without_a_unit_stays():
    """The kept rows are those of lowest hash, and rows of an unknown unit are dropped."""
    age = ints_of([1, 2, 3, 4])
    ranks = ranked(["a", "a", "a", None], [age], b"key")
    hashes = [row_hash(b"key", "a", str(n), 1) for n in (1, 2, 3)]
    assert ranks.tolist() == [sorted(hashes).index(h) for h in hashes] + [-1]


def test_duplicates_of_a_row_have_hashes_of_their_own():
    """Equal rows of a unit are told apart by their duplicate number, so that each can be kept or dropped."""
    ranks = ranked(["a"] * 5, [ints_of([7] * 5)], b"")
    assert sorted(ranks) == [0, 1, 2, 3, 4]
