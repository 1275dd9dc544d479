"""The stated rates of error are those that were measured, and a share of the students is simulated again each time."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from dpnb.course.result import CheckResult, Part, rates_of
from tests.course import students
from tests.course.rates import EXERCISES, PAGE, STUDENTS, WRONG, known, measured, page, passed

LEVEL = 1e-4
MOST_FAILED = int(binom.isf(1e-5, STUDENTS, LEVEL))
"""More of 30,000 right answers than this would fail one time in 100,000 if each fails at 10⁻⁴."""


def test_the_page_shows_the_rates_that_were_measured():
    """`python -m tests.course.rates --table` writes it."""
    text = PAGE.read_text(encoding="utf-8")
    assert page(text, known()) == text


@pytest.mark.parametrize("check", EXERCISES)
def test_the_stated_rates_cover_every_listed_answer_and_hold_the_level(check):
    rates = rates_of(check)
    assert rates.students == STUDENTS
    assert rates.failed <= MOST_FAILED
    assert rates.wrong >= 1_000
    assert set(rates.missed) == {f"{one.name}: {name}" for one in EXERCISES[check] for name in one.wrong}
    assert max(rates.missed.values()) <= rates.wrong / 100


SHARE = [(one, name) for one in students.EXERCISES for name in (None, *one.wrong)]


@pytest.mark.parametrize(
    ("exercise", "name"), SHARE, ids=[f"{one.name}: {name or 'right'}" for one, name in SHARE]
)
def test_a_share_of_the_students_is_graded_as_stated(exercise, name):
    """The first of the students behind the table: right ones pass, wrong ones do not, and are told their mistake with one picture."""
    if name is None:
        assert passed(exercise, None, 0, 20) == 20
        return
    assert passed(exercise, name, 0, 1) == 0
    found = exercise.check(exercise.wrong[name], 1)
    assert found.mistake.name == exercise.told.get(name, name)
    assert found.mistake.step
    assert found._repr_mimebundle_()["text/html"].count("<svg") == 1
    with pytest.raises(AssertionError) as raised:
        found.must_pass()
    assert found.mistake.said in str(raised.value)


@pytest.mark.soak
@pytest.mark.parametrize("check", EXERCISES)
def test_all_students_are_graded_as_stated(check):
    found = measured(check, STUDENTS, WRONG)
    assert found["failed"] <= MOST_FAILED
    assert max(found["missed"].values()) <= WRONG / 100


@pytest.mark.parametrize("check", EXERCISES)
def test_every_result_says_how_often_its_check_errs(check):
    found = CheckResult(check, "t", (Part("p", passed=True, said="", level=LEVEL),), None, "")
    assert "at most 1 in 10,000 times" in found.certainty
    assert f"of {STUDENTS:,} simulated" in found.certainty
