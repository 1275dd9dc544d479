"""``check.hidden``: an exercise of the course on a case that its notebook does not show.

Other data, another n and ε, other bounds: an answer that fits the case of the notebook and no other does not pass.
"""

from __future__ import annotations

from dpnb.course.result import CheckResult
from dpnb.course.trial import Function, Seed
from dpnb.errors import OptionError


def hidden(exercise: str, *functions: Function, rng: Seed = None) -> CheckResult:
    """Check the answer to an exercise of the course on another case than the notebook's.

    Parameters
    ----------
    exercise : str
        The lesson and the exercise: ``"4.1"``; ``"homework.3"``.
    *functions : callable
        What the student wrote, in the order of the exercise.
    rng : int or Generator, optional
        The check's chance; by default new each time.

    Returns
    -------
    CheckResult

    Raises
    ------
    OptionError
        For an exercise that is not in the course.

    Examples
    --------
    >>> import numpy as np
    >>> hidden(
    ...     "3.1", lambda data, epsilon, size, rng: np.sum(data) + rng.laplace(0, 1 / epsilon, size), rng=1
    ... ).passed
    True
    >>> hidden("3.1", lambda data, epsilon, size, rng: 3 + rng.laplace(0, 2, size), rng=1).mistake.name
    'the answer of the case that you see'
    """
    from dpnb.course.exercises import EXERCISES  # with what the lessons need, which other checks do not

    if exercise not in EXERCISES:
        raise OptionError(f"The exercises of the course are {', '.join(EXERCISES)}; not {exercise!r}.")
    return EXERCISES[exercise](*functions, rng)
