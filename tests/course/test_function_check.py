"""Checks of functions, and hidden cases: right ones pass, a usual mistake is told by its name, and every exercise has its case."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.course.exercises import EXERCISES
from dpnb.course.exercises.lessons_6_to_9 import hit_share
from dpnb.course.exercises.lessons_10_to_14 import half_width
from dpnb.course.function_check import agree, brief
from dpnb.errors import OptionError
from dpnb.teach import check
from tests.course.test_wrong_answers import CELLS


def pair(rng):
    return (rng.normal(size=8),)


def test_a_function_is_held_to_the_right_one():
    assert check.function(np.median, pair, lambda x: np.quantile(x, 0.5), rng=1).passed
    found = check.function(
        np.mean, pair, np.median, mistakes={"the largest": np.max, "the mean": np.mean}, rng=1
    )
    assert found.mistake.name == "the mean"
    assert "right is" in found.mistake.said
    assert check.function(np.min, pair, np.median, rng=1).mistake.name == "another answer"
    assert found.false_fail == 0


def test_a_mistake_that_cannot_be_computed_is_not_the_students():
    found = check.function(np.mean, pair, np.median, mistakes={"fails": lambda x: x[99]}, rng=1)
    assert found.mistake.name == "another answer"


def test_a_drawn_answer_is_held_to_a_sentence():
    def holds(answer, rng):
        return None if 0 <= answer < 1 else "Not in [0, 1)."

    assert check.function(lambda rng: rng.random(), lambda rng: rng.spawn(1), holds=holds, level=1e-4).passed
    found = check.function(lambda rng: 2, lambda rng: rng.spawn(1), holds=holds)
    assert found.mistake.said == "Not in [0, 1)."
    with pytest.raises(OptionError, match="expected="):
        check.function(np.mean, pair)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0004, 1, True),
        (1.004, 1, False),
        ([1, 2], (1, 2), True),
        ((1, [2, 3]), (1, np.array([2, 3])), True),
        ((1, 2, 3), (1, 2), False),
        (np.nan, np.nan, True),
        (0, np.nan, False),
        ("Yes", "yes", True),
        (None, 1, False),
        ({1: 2}, 1, False),
        (np.ones(3), np.ones(2), False),
    ],
)
def test_answers_agree_in_numbers_and_shape(one, other, same):
    assert agree(one, other, 1e-3) is same


def test_arguments_are_told_in_a_few_signs():
    assert brief((0.123456, "night", np.arange(3))) == "(0.1235, 'night', [0, 1, 2])"
    assert brief(np.zeros((40, 3))) == "a ndarray of 40 × 3"
    assert brief(np.random.default_rng(1)) == "rng"
    assert brief(list(range(9))) == "a list of 9"


def test_every_exercise_has_a_hidden_case_and_every_check_cell_uses_its_own():
    sources = [cell.source for _, cell in CELLS.values() if "check.hidden(" in cell.source]
    used = [source.partition('check.hidden("')[2].partition('"')[0] for source in sources]
    assert sorted([*used, "homework.3"]) == sorted(EXERCISES)
    with pytest.raises(OptionError, match=r"15\.1"):
        check.hidden("15.1", len)


@pytest.mark.parametrize(("normal", "laplace"), [(1, 0.5), (0.3, 0.8), (1, 1e-6)])
def test_the_exact_half_width_holds_its_share(normal, laplace):
    """Against a million draws: the share inside is within five standard errors of 95 %."""
    rng = np.random.default_rng(3)
    error = rng.normal(0, normal, 1_000_000) + rng.laplace(0, laplace, 1_000_000)
    share = np.mean(np.abs(error) <= half_width(normal, laplace))
    assert abs(share - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 1e6)


@pytest.mark.parametrize("asks", [1, 2])
def test_the_share_of_hits_is_exact(asks):
    errors = np.random.default_rng(4).laplace(0, 1 / 1.3, (400_000, asks)).mean(axis=1)
    share = np.mean(np.abs(errors) < 0.5)
    assert abs(share - hit_share(1.3, asks)) < 5 * np.sqrt(0.25 / 400_000)
