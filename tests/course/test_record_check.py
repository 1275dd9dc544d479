"""Checks of records read releases, plans and the ledger: a variable that a student sets passes none of them."""

from __future__ import annotations

import pytest

import dpnb
from dpnb.errors import LossError
from dpnb.teach import check


@pytest.fixture
def age(study):
    """The mean age, released at ε = 0.5."""
    return dpnb.release([study.age.mean()], epsilon=0.5)[0]


def test_a_release_as_asked_passes(age):
    found = check.released(age, statistic="mean", column="age", dataset="incentive33", epsilon=0.5)
    assert found.passed
    assert found.false_fail == 0
    assert "never" in found.certainty


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ({"statistic": "count"}, "wrong statistic"),
        ({"column": "got"}, "wrong column"),
        ({"dataset": "income"}, "wrong dataset"),
        ({"epsilon": "0.4"}, "budget exceeded"),
        ({"epsilon": "0.6"}, "budget not used"),
    ],
)
def test_a_release_that_is_another_is_named(age, wanted, name):
    found = check.released(age, **wanted)
    assert found.mistake.name == name
    with pytest.raises(AssertionError, match=r"Next: "):
        found.must_pass()


def test_less_than_allowed_passes_where_it_may(age):
    assert check.released(age, epsilon=0.6, at_most=True).passed


def test_what_is_no_release_never_passes(study):
    """A typed number, and a question that nobody paid for."""
    assert check.released(33.97, statistic="mean").mistake.name == "no release"
    assert check.released(study.age.mean()).mistake.name == "not released"
    assert check.spent(study.age.mean(), at_most=1).mistake.name == "not released"
    assert check.interval((33, 34), study.age.mean()).mistake.name == "not released"


def test_spending_is_read_from_the_ledger(study):
    """Answers that shared a charge count it once; asking again costs nothing; a charge by any other way counts."""
    both = dpnb.release([study.age.mean(), study.count()], epsilon=0.5)
    again = dpnb.release([study.age.mean()], epsilon=0.1)[0]
    assert check.spent(both, at_most=0.5, at_least=0.5).passed
    assert check.spent([both[0], again], at_most=0.5).passed
    assert check.spent(study, at_most=0.5).passed
    dpnb.release([study.got.mean()], epsilon=0.25)
    found = check.spent(study, at_most=0.5)
    assert found.mistake.name == "budget exceeded"
    assert "0.75" in found.text
    assert check.spent(study, at_most=2, at_least=1).mistake.name == "budget not used"


def test_a_plan_is_checked_before_anything_is_spent(study):
    view = dpnb.plan([study.age.mean(), study.count()], epsilon=0.5)
    assert check.plan(view, at_most=0.5, questions=2).passed
    assert check.plan(view, at_most=0.4).mistake.name == "budget exceeded"
    assert check.plan(view, at_most=1, questions=3).mistake.name == "questions missing"
    assert check.plan(view, at_most=1, questions=1).mistake.name == "too many questions"
    assert check.plan("a plan", at_most=1).mistake.name == "no plan"
    assert check.spent(study, at_most=0).passed


def test_intervals_are_held_to_what_the_releases_support(age):
    right = age.interval(0.95, "confidence")
    low, high = right
    assert check.interval((low, high), age).passed
    assert check.interval((round(low, 3), round(high, 3)), age).passed
    assert check.interval(tuple(age.interval(0.95, "privacy")), age).mistake.name == "the privacy interval"
    assert check.interval(tuple(age.interval(0.9)), age).mistake.name == "the level 0.9"
    middle, half = (low + high) / 2, (high - low) / 2
    assert "1.25 times" in check.interval((middle - 1.25 * half, middle + 1.25 * half), age).mistake.said
    assert check.interval((0, 1), age).mistake.name == "wrong centre"
    assert check.interval(7, age).mistake.name == "no interval"


def test_a_loss_is_asked_in_one_measure(age):
    with pytest.raises(LossError, match="epsilon= and rho="):
        check.released(age, epsilon=1, rho=1)


@pytest.mark.parametrize(
    ("given", "expected", "passed"),
    [
        (2.001, 2, True),
        (2.1, 2, False),
        ("Yes ", "yes", True),
        (True, True, True),
        (1, True, False),
        (None, 2, False),
    ],
)
def test_an_answer_is_held_to_the_right_one(given, expected, passed):
    assert check.answer(given, expected).passed is passed


def test_a_usual_wrong_answer_has_its_own_explanation():
    found = check.answer(0.5, 2, mistakes={"ε is multiplied instead of divided": 0.5}, step="Divide.")
    assert found.mistake.said == "ε is multiplied instead of divided."
    assert "Next: Divide." in found.text
    assert check.answer(..., 2).mistake.name == "no answer"
    assert check.answer([1, 2], [1, 2]).passed
    assert not check.answer([1, 2, 3], [1, 2]).passed
