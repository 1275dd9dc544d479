"""``check.function``: a formula, an algorithm or a density that a student wrote, on inputs that are drawn anew.

The right answers are computed beside the student's process. Where an answer is drawn, a sentence about what it must hold takes their
place. A usual mistake is a function, too: the one that agrees with all that the student's function returned is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpnb.course.answer_check import same
from dpnb.course.picture import levels
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.trial import Function, Seed, StudentFunction, Trial
from dpnb.errors import OptionError

Inputs = tuple[Any, ...]


def function(  # noqa: PLR0913 - a function, its inputs and its answers; the rest are keywords with defaults
    call: Function,
    case: Callable[[np.random.Generator], Inputs],
    expected: Function | None = None,
    *,
    holds: Callable[..., str | None] | None = None,
    mistakes: Mapping[str, Function] | None = None,
    tolerance: float = 1e-3,
    cases: int = 20,
    level: float = 0.0,
    step: str = "Work this case out on paper, and compare.",
    rng: Seed = None,
    title: str | None = None,
) -> CheckResult:
    """Check a function that a student wrote.

    Parameters
    ----------
    call : callable
        The student's; it runs in a process of its own.
    case : callable
        ``case(rng)`` draws a tuple of arguments: the teacher's.
    expected : callable, optional
        ``expected(*arguments)`` returns the right answer: a number, an array, a table of numbers, or a tuple of these.
    holds : callable, optional
        In its place: ``holds(answer, *arguments)`` returns None, or a sentence about what is wrong.
    mistakes : mapping of str to callable, optional
        Functions with usual mistakes, by their names.
    tolerance : float
        Relative, of numbers.
    cases : int
    level : float
        The probability that a right answer fails: 0, unless `holds` tests a drawn answer.
    step : str
        What to do next.
    rng : int or Generator, optional
        The check's chance; by default new each time.
    title : str, optional

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> def case(rng):
    ...     return (rng.normal(size=9),)
    >>> function(lambda x: x.std(ddof=1), case, lambda x: np.std(x, ddof=1)).passed
    True
    >>> function(np.var, case, lambda x: np.var(x, ddof=1), mistakes={"n and not n - 1": np.var}).mistake.name
    'n and not n - 1'
    """
    if (expected is None) == (holds is None):
        raise OptionError(
            "Give expected=, which computes the right answer, or holds=, which says what is wrong."
        )
    trial = Trial.of("function", StudentFunction.alone(call), rng, title)

    def draw() -> tuple[list[Inputs], list[Any]]:
        drawn = [case(trial.chance) for _ in range(cases)]
        return drawn, trial.ask("answers", drawn, "one case")

    def judge(found: tuple[list[Inputs], list[Any]]) -> CheckResult:
        drawn, answers = found
        told = [
            holds(answer, *seen) if holds else _differs(answer, expected(*seen), seen, tolerance)  # type: ignore[misc]
            for seen, answer in zip(drawn, answers, strict=True)
        ]
        right = sum(one is None for one in told)
        part = Part("answers", right == cases, f"{right} of {cases} cases right", level)
        picture = levels([("right", right / cases), ("should be", 1.0)])
        if right == cases:
            return trial.result((part,), None, picture)
        name = _agreeing(drawn, answers, mistakes or {}, tolerance)
        said = next(one for one in told if one is not None)
        wrong = Mistake(name or "another answer", f"{name}. {said}" if name else said, step)
        return trial.result((part,), wrong, picture)

    return trial.judged(draw, judge)


def _differs(answer: object, right: object, seen: Inputs, tolerance: float) -> str | None:
    """Say where an answer differs from the right one; None where it does not."""
    if agree(answer, right, tolerance):
        return None
    return f"For {', '.join(map(brief, seen))} the function gives {brief(answer)}; right is {brief(right)}."


def agree(one: object, other: object, tolerance: float) -> bool:
    """Whether two answers are the same: numbers within the tolerance, also undefined ones; tuples part by part."""
    if isinstance(other, tuple):
        parts = list(one) if isinstance(one, tuple | list | np.ndarray) else None
        return (
            parts is not None
            and len(parts) == len(other)
            and all(agree(a, b, tolerance) for a, b in zip(parts, other, strict=True))
        )
    try:
        numbers = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    except (TypeError, ValueError):
        return same(one, other, tolerance)
    if numbers[0].shape != numbers[1].shape:
        return False
    return bool(np.allclose(*numbers, rtol=tolerance, atol=1e-3 * tolerance, equal_nan=True))


def _agreeing(
    drawn: list[Inputs], answers: list[Any], mistakes: Mapping[str, Function], tolerance: float
) -> str | None:
    """The usual mistake that gives what the student's function gave, in every case."""
    for name, wrong in mistakes.items():
        with np.errstate(all="ignore"):
            if all(
                agree(answer, _tried(wrong, seen), tolerance)
                for seen, answer in zip(drawn, answers, strict=True)
            ):
                return name
    return None


def _tried(wrong: Function, seen: Inputs) -> object:
    try:
        return wrong(*seen)
    except (ArithmeticError, ValueError, LookupError, np.linalg.LinAlgError):
        return None


def brief(value: object) -> str:
    """Write an argument or an answer in a few signs."""
    if isinstance(value, np.random.Generator):
        return "rng"
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return repr(value)
    if isinstance(value, int | float | np.number):
        return f"{float(value):.4g}"
    if isinstance(value, tuple | list) and len(value) <= 6:
        return f"({', '.join(map(brief, value))})"
    if isinstance(value, np.ndarray) and value.size <= 6:
        return f"[{', '.join(f'{x:.4g}' for x in value.ravel())}]"
    shape = getattr(value, "shape", None) or (f"{len(value)},",) if hasattr(value, "__len__") else None
    return f"a {type(value).__name__}" + (
        f" of {' × '.join(str(x).rstrip(',') for x in shape)}" if shape else ""
    )
