"""A frame is known by its cells in their order, whatever types its numbers have; what can be guessed leaves no mark."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.trusted.curator.content import frame_digest, may_be_guessed


def texts(*cells):
    """A column of texts."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


SAME = [
    ([1, 2, 3], [np.int8, np.uint16, np.int64, np.float32, np.float64]),
    ([0, 1, 1], [bool, np.int32, float]),
    ([-0.0, 2.5], [np.float32, float]),
]


@pytest.mark.parametrize(("cells", "types"), SAME)
def test_the_types_of_numbers_are_no_part_of_a_frame(cells, types):
    frames = [{"a": np.array(cells, dtype=kind), "b": texts(*map(str, cells))} for kind in types]
    assert len({frame_digest(frame) for frame in frames}) == 1
    assert frame_digest(dict(reversed(frames[0].items()))) == frame_digest(frames[0])


def test_a_missing_number_is_one_whatever_its_bits_are():
    strange = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    assert frame_digest({"a": strange}) == frame_digest({"a": np.array([np.nan])})
    assert frame_digest({"a": np.array([-0.0])}) == frame_digest({"a": np.array([0.0])})


OTHERS = {
    "another cell": {"a": np.array([1, 2, 4]), "b": texts("x", None, "z")},
    "another order": {"a": np.array([2, 1, 3]), "b": texts(None, "x", "z")},
    "a row more": {"a": np.array([1, 2, 3, 3]), "b": texts("x", None, "z", "z")},
    "another name": {"a": np.array([1, 2, 3]), "c": texts("x", None, "z")},
    "a column less": {"a": np.array([1, 2, 3])},
    "a text for a missing cell": {"a": np.array([1, 2, 3]), "b": texts("x", "None", "z")},
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_frame_is_another_content(other):
    first = {"a": np.array([1, 2, 3]), "b": texts("x", None, "z")}
    assert frame_digest(OTHERS[other]) != frame_digest(first)


def test_units_are_told_apart_to_their_last_digit():
    """Two ids that are one binary64 are two people."""
    one, two = (np.array([1, 2**60 + step]) for step in (0, 1))
    assert frame_digest({"who": one}) != frame_digest({"who": two})
    unsigned = [np.array([2**64 - step], dtype=np.uint64) for step in (1, 2)]
    assert frame_digest({"who": unsigned[0]}) != frame_digest({"who": unsigned[1]})


DAYS = np.arange(np.datetime64("2019-12-01"), np.datetime64("2021-01-01")).astype(str)
GUESSED = {
    "a constant": ([np.full(500, 7.5)], True),
    "nothing": ([np.full(500, np.nan)], True),
    "no rows": ([np.array([])], True),
    "a run, shuffled": ([np.random.default_rng(1).permutation(500)], True),
    "a run thrice": ([np.tile(np.arange(-100, 100), 3)], True),
    "a run beside missing cells": ([np.append(np.arange(500.0), np.nan)], True),
    "a run of texts": ([texts(*map(str, range(500)))], True),
    "days": ([texts(*DAYS)], True),
    "a run beside a constant": ([np.arange(500), np.ones(500)], True),
    "a run with a hole": ([np.delete(np.arange(500), 77)], False),
    "a run, one twice": ([np.append(np.arange(500), 77)], False),
    "names": ([texts(*(f"p{n}" for n in range(100)))], False),
    "two kinds": ([np.arange(1000) % 2, np.ones(1000)], True),
    "two kinds, some missing": ([np.where(np.arange(1000) % 3, np.arange(1000) % 2, np.nan)], True),
    "two columns of two kinds": ([np.arange(1000) % 2, np.arange(1000) % 3 % 2], True),
    "twelve kinds": ([np.arange(2000) ** 2 % 23], False),
    "few rows, rich": ([texts(*(f"p{n}" for n in range(50))), np.arange(50) % 2], False),
    "few rows, poor": ([np.arange(16) % 2, np.arange(16) % 3], True),
}


@pytest.mark.parametrize("kind", GUESSED)
def test_a_frame_can_be_guessed_that_is_foreseen_or_one_of_few(kind):
    """A constant and an evenly repeated run say nothing of anybody; what fewer than 2^48 tables can be may be counted out."""
    columns, guessed = GUESSED[kind]
    assert may_be_guessed(dict(enumerate(columns))) == guessed
