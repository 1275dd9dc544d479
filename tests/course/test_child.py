"""The process of a student's function: it holds no answer, changes nothing here, and whatever happens to it is told."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pytest

from dpnb.course import attack_check, trial
from dpnb.course.child import Child, Reply, serve
from dpnb.errors import OptionError
from dpnb.teach import check
from tests.course.students import AVERAGE, COUNT, COVERAGE, HISTOGRAM, RESPONSE

SEEN = []


def locals_of_callers():
    """The names of all variables of all frames that can be reached."""
    frames, names = [sys._getframe(), *sys._current_frames().values()], set()
    while frames:
        frame = frames.pop()
        names |= set(frame.f_locals)
        frames += [frame.f_back] if frame.f_back else []
    return names


def test_no_frame_of_the_check_is_below_the_function():
    """What reads `expected`, or a secret, from the caller's variables finds none; here, without a process, it would."""
    wanted = {"expected", "answer", "secret", "secrets", "drawn", "law"}

    def spy(rows, epsilon, size, rng):
        raise ValueError(f"found {sorted(wanted & locals_of_callers())}")

    assert "found []" in check.mechanism(spy, range(40), expected=40, epsilon=0.5).mistake.said
    assert (
        "found []"
        in check.attack(lambda rows: spy(rows, 1, 1, 1), lambda rng: (1, 1), least=0.9).mistake.said
    )


def test_a_secret_that_is_drawn_after_the_process_began_is_not_in_it():
    def case(rng):
        SEEN[:] = [int(rng.integers(0, 1_000))]
        return 0, SEEN[0]

    SEEN[:] = [-1]
    assert not check.attack(lambda seen: SEEN[0], case, least=0.5, rng=1).passed
    assert SEEN != [-1]


def test_what_a_function_does_to_variables_ends_with_its_process():
    rows = [3, 1, 2]

    def sorts(data, epsilon, size, rng):
        data.sort()
        SEEN.append("more")
        return len(data) + rng.laplace(0, 1 / epsilon, size)

    before = list(SEEN)
    assert check.mechanism(sorts, rows, expected=3, epsilon=0.5, rng=1).passed
    assert (rows, SEEN) == ([3, 1, 2], before)


@pytest.mark.parametrize(
    "exercise", [COUNT, HISTOGRAM, RESPONSE, COVERAGE, AVERAGE], ids=lambda one: one.name
)
def test_a_check_finds_the_same_in_a_process_and_beside(exercise, monkeypatch):
    """So the rates, which are measured beside, are those of students."""
    apart = [exercise.check(one, 5) for one in (exercise.right, *list(exercise.wrong.values())[:3])]
    monkeypatch.setattr(trial, "available", lambda: False)
    beside = [exercise.check(one, 5) for one in (exercise.right, *list(exercise.wrong.values())[:3])]
    assert [one.to_json() for one in apart] == [one.to_json() for one in beside]


def test_what_a_function_prints_is_printed_here(capsys):
    check.attack(lambda seen: print("I saw", seen) or 1, lambda rng: (7, 1), least=0.9, cases=3)
    assert capsys.readouterr().out == "I saw 7\n" * 3


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda seen: os._exit(3), "it ends Python"),
        (lambda seen: sys.exit(), "it fails"),
        (lambda seen: lambda: 1, "no number"),
        (lambda seen: print(end=""), "no return"),
    ],
)
def test_a_function_that_leaves_no_answer_is_told_why(function, name):
    found = check.function(function, lambda rng: (1,), lambda seen: 1)
    assert found.mistake.name == name
    assert found.mistake.step


def test_a_case_that_cannot_be_sent_is_the_teachers_to_mend():
    with pytest.raises(OptionError, match="arrays, numbers, texts or tables"):
        check.attack(lambda seen: 1, lambda rng: (lambda: 1, 1), least=0.9)


def test_no_process_is_left_behind(monkeypatch):
    """None of those that the check forks; others of this process, such as a curator, are no business of its own."""
    before, forked, fork = threading.active_count(), [], os.fork

    def noted():
        pid = fork()
        forked.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", noted)
    check.mechanism(COUNT.right, range(40), expected=40, epsilon=0.5)
    assert forked
    for pid in forked:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    assert threading.active_count() == before


def test_a_process_that_does_not_answer_is_ended(monkeypatch):
    """As one in a long call of compiled code, which no signal of Python's interrupts."""
    monkeypatch.setattr("dpnb.course.child._GRACE", 0.1)
    child = Child(lambda task: threading.Event().wait())
    assert child.ask("anything", 0.1) is None
    assert not child.ended
    child.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(child._pid, os.WNOHANG)


class Pipe:
    """What a process reads and writes, in this one."""

    def __init__(self, tasks):
        self.tasks, self.sent = list(tasks), []

    def recv(self):
        if not self.tasks:
            raise EOFError
        return self.tasks.pop(0)

    def send(self, reply):
        if callable(reply.value):
            raise TypeError
        self.sent.append(reply)


def test_a_process_answers_until_its_pipe_is_closed(capsys):
    pipe = Pipe([1, 2, len])
    serve(lambda task: print("at work") or Reply(task), pipe)
    assert [reply.value for reply in pipe.sent] == [1, 2, None]
    assert pipe.sent[0].printed == "at work\n"
    assert pipe.sent[2].trouble[0] == "no number"
    assert capsys.readouterr().out == ""


def test_a_slow_attack_is_judged_on_fewer_cases(monkeypatch):
    """So that one which solves a system for each case ends within seconds; the level of its tests is the same."""
    monkeypatch.setattr(attack_check, "_SECONDS", 0.0)
    found = check.attack(np.round, lambda rng: (0.2, 0), least=0.9, cases=400)
    assert found.passed
    assert found.facts["cases"] == 40
    assert check.attack(np.round, lambda rng: (0.2, 0), least=0.9, cases=30).facts["cases"] == 30
