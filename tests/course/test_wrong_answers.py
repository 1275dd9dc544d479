"""The checks of the lessons, on wrong answers: the teacher's answer passes each check cell, and no listed wrong one does.

The cells run in this process, without a curator: what opens a dataset is left out of a lesson's first cell.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

from dpnb.course import trial
from dpnb.course.prediction import NoGuess
from tests.course.lessons import COURSE, Lesson, all_of
from tests.course.seen_answers import PASSED, RIGHT
from tests.course.wrong_answers import HELPED, NEEDS, WRONG

OPENS = re.compile(r"^.*(?:dpnb\.open\(|\.session\.reset\(|^\w+\.budget$).*$", re.MULTILINE)
CELLS = {cell.id: (lesson, cell) for lesson in all_of(COURSE) for cell in lesson.cells}
CASES = [(check, name) for check, answers in WRONG.items() for name in answers]
ONCE_PASSED = [(check, name) for check, answers in PASSED.items() for name in answers]
ONCE_FAILED = [(check, name) for check, answers in RIGHT.items() for name in answers]


@pytest.fixture(autouse=True)
def always_the_same_chance(monkeypatch):
    """A check draws anew each time; here each draws the same on every day."""
    monkeypatch.setattr(trial, "chance_of", lambda rng: np.random.default_rng(47 if rng is None else rng))


@cache
def first_cell(path):
    """What a lesson's first cell makes, once."""
    cell = next(one for one in Lesson(path).cells if one.cell_type == "code")
    names = {}
    exec(OPENS.sub("", cell.source), names)
    return names


def ready(check):
    """The names that a check and its exercise rely on, and the exercise's cell: the one with an answer before the check."""
    lesson, cell = CELLS[check]
    before = lesson.cells[: [one.id for one in lesson.cells].index(check)]
    names = dict(first_cell(lesson.path))
    for need in NEEDS.get(check, ()):
        with suppress(NoGuess):  # what it defines stands above the line that waits for a guess
            exec(CELLS[need][1].source, names)
    exec(HELPED.get(check, ""), names)
    written = [one for one in before if one.metadata.get("nbgrader", {}).get("solution")]
    return names, next(one for one in reversed(written) if one.cell_type == "code"), cell


def test_every_check_of_the_course_has_wrong_answers():
    checks = {
        key
        for key, (_, cell) in CELLS.items()
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }
    assert set(WRONG) == checks
    assert min(map(len, WRONG.values())) >= 4


@pytest.mark.parametrize("check", WRONG)
def test_the_teachers_answer_passes(check, capsys):
    names, exercise, cell = ready(check)
    exec(exercise.source, names)
    exec(cell.source, names)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, which a notebook shows and goes on
@pytest.mark.parametrize(("check", "name"), CASES, ids=[f"{check}: {name}" for check, name in CASES])
def test_a_wrong_answer_is_told(check, name, capsys):
    """The check fails, and with words of its own."""
    assert told(check, WRONG[check][name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("check", "name"), ONCE_PASSED, ids=[f"{check}: {name}" for check, name in ONCE_PASSED]
)
def test_a_wrong_answer_that_once_passed_is_told_by_name(check, name, capsys):
    """On the case that a notebook shows it is right, or near it: another case, another process or an exact law tells it."""
    answer, words = PASSED[check][name]
    assert words in told(check, answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "name"), ONCE_FAILED, ids=[f"{check}: {name}" for check, name in ONCE_FAILED]
)
def test_a_right_answer_passes_in_whatever_form(check, name, capsys):
    assert told(check, RIGHT[check][name]) == ""


def test_every_check_has_right_answers_in_other_forms():
    assert set(RIGHT) == set(WRONG)


def told(check, answer):
    """What a check cell says of an answer; nothing of one that passes."""
    names, exercise, cell = ready(check)
    exec(exercise.source, names)  # its further names, such as ready-made draws
    exec(answer, names)
    try:
        exec(cell.source, names)
    except AssertionError as error:
        return str(error)
    return ""
