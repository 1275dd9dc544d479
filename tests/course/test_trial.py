"""The frame that checks of a student's function share: limit, loop, signature and title are the same for each of them."""

from __future__ import annotations

import time
from functools import partial

import pytest

from dpnb.course import trial
from dpnb.errors import OptionError
from dpnb.teach import check

CHECKS = {
    "mechanism": lambda function: check.mechanism(function, range(40), expected=40, epsilon=0.5, rng=3),
    "selection": lambda function: check.selection(function, 1, law={0: 0.4, 1: 0.6}, epsilon=0.5, rng=3),
    "coverage": lambda function: check.coverage(function, lambda rng: rng.normal(), truth=0, rng=3),
    "attack": lambda function: check.attack(function, lambda rng: (0, 1), least=0.9, rng=3),
}


def waiting(data):
    while True:
        time.sleep(0.01)


def endless(data):
    while True:
        pass


def broken(data):
    return data.nothing


def unwritten(data):
    raise NotImplementedError


@pytest.mark.parametrize("function", [endless, waiting])
@pytest.mark.parametrize("name", CHECKS)
def test_a_function_that_does_not_end_is_stopped(name, function, monkeypatch):
    """The limit is 15 s; a shorter one stops as well, and the student reads that and not an error of the clock."""
    assert trial.LIMIT == 15
    monkeypatch.setattr(trial, "Clock", partial(trial.Clock, 0.1))
    found = CHECKS[name](function)
    assert (found.check, found.title, found.mistake.name) == (name, function.__name__, "too slow")


def test_a_function_is_not_too_slow_because_the_machine_is_busy(monkeypatch):
    """Its own thread's processor counts, and the clock only when it has waited four times as long."""
    clock = trial.Clock(1.0)
    passed = time.monotonic() + 3.9
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    clock.look()
    passed += 0.2
    with pytest.raises(trial.Trouble, match=r"after 4 s"):
        clock.look()


@pytest.mark.parametrize("name", CHECKS)
def test_a_function_that_fails_is_told_what_python_said(name):
    found = CHECKS[name](broken)
    assert found.mistake.name == "it fails"
    assert "nothing" in found.mistake.said
    assert CHECKS[name](unwritten).mistake.name == "not written yet"
    assert found.certainty == "Nothing else was checked yet."


@pytest.mark.parametrize("name", CHECKS)
def test_a_function_is_given_and_not_its_answer(name):
    with pytest.raises(OptionError, match="without parentheses"):
        CHECKS[name](3)
