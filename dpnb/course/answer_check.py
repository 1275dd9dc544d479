"""``check.answer``: a number or a word that follows from the exercise; each usual wrong answer has its own explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

import numpy as np

from dpnb.course.picture import levels, message
from dpnb.course.result import CheckResult, Mistake, Part


def answer(
    given: object,
    expected: object,
    *,
    tolerance: float = 0.01,
    mistakes: Mapping[str, object] | None = None,
    step: str = "Go back to the formula of this lesson and put the numbers in again.",
    title: str = "the answer",
) -> CheckResult:
    """Check an answer against the right one.

    Parameters
    ----------
    given, expected : number, text, bool, or arrays of numbers
    tolerance : float
        Relative, of numbers.
    mistakes : mapping of str to answer, optional
        Usual wrong answers, by the sentence that explains each: ``{"ε is not inverted": 2.0}``.
    step : str
        What to do next.
    title : str

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> answer(0.5, 2, mistakes={"ε is multiplied instead of divided": 0.5}).mistake.said
    'ε is multiplied instead of divided.'
    >>> answer(2.001, 2).passed
    True
    """
    right = same(given, expected, tolerance)
    told = None if right else _mistake(given, mistakes or {}, tolerance, step)
    part = Part("answer", right, f"{_said(given)}" if right else f"{_said(given)} is not the answer")
    picture = levels([("your answer", float(given))]) if _number(given) else message(_said(given))
    return CheckResult("answer", title, (part,), told, picture)


def same(given: object, expected: object, tolerance: float) -> bool:
    """Whether two answers are the same: numbers within the tolerance, words without regard to case."""
    if isinstance(expected, str | bool | type(None)):
        folded = given.strip().casefold() if isinstance(given, str) else given
        return bool(type(given) is type(expected) and folded == _folded(expected))
    try:
        one, two = np.asarray(given, dtype=float), np.asarray(expected, dtype=float)
    except (TypeError, ValueError):
        return False
    return one.shape == two.shape and bool(np.allclose(one, two, rtol=tolerance, atol=tolerance * 1e-3))


def _folded(word: object) -> object:
    return word.strip().casefold() if isinstance(word, str) else word


def _number(given: object) -> TypeGuard[float]:
    return (
        isinstance(given, int | float | np.number)
        and not isinstance(given, bool)
        and bool(np.isfinite(given))
    )


def _said(given: object) -> str:
    if given is None or given is ...:
        return "no answer yet"
    return f"{given:.6g}" if _number(given) else " ".join(str(given).split())[:60]


def _mistake(given: object, mistakes: Mapping[str, object], tolerance: float, step: str) -> Mistake:
    if given is None or given is ...:
        return Mistake("no answer", "There is no answer yet.", "Write yours in place of the dots.")
    for said, wrong in mistakes.items():
        if same(given, wrong, tolerance):
            return Mistake(said, said.rstrip(".") + ".", step)
    return Mistake("another answer", "This is not the answer.", step)
