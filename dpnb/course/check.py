"""Checks of exercises: ``from dpnb.teach import check``.

*Of mechanisms that students wrote*, on teaching arrays: :func:`mechanism` (noise), :func:`selection` (choices), :func:`coverage`
(intervals), :func:`attack` (attacks on made-up secrets), :func:`function` (formulas and algorithms). Each runs in a process that holds no
answer; :func:`hidden` tries an exercise of the course on a case that its notebook does not show. *Of records*, which the curator wrote: :func:`released`, :func:`spent`, :func:`plan`, :func:`interval`. And
:func:`answer`, for a number or a word. Each returns a result that names the likely mistake and the next step, shows one picture,
says how often it errs, and has ``.passed``; ``.must_pass()`` raises for a hidden test.
"""

from __future__ import annotations

from dpnb.course.answer_check import answer
from dpnb.course.attack_check import attack
from dpnb.course.choice_check import selection
from dpnb.course.coverage_check import coverage
from dpnb.course.function_check import function
from dpnb.course.hidden import hidden
from dpnb.course.noise_check import mechanism
from dpnb.course.record_check import interval, plan, released, spent

_PUBLIC = (answer, attack, coverage, function, hidden, interval, mechanism, plan, released, selection, spent)


def __dir__() -> list[str]:
    return [one.__name__ for one in _PUBLIC]
