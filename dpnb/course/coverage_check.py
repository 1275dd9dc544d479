"""``check.coverage``: an interval that a student wrote, run on thousands of simulated studies; too wide fails like too narrow.

Two exact binomial tests share the level 10⁻⁴: coverage below the level less one point, and above it by more than two fifths of what
is left. An interval whose coverage lies between passes but with that probability.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from dpnb.course.noise_law import Floats
from dpnb.course.picture import levels
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.trial import LEVEL, Function, Seed, StudentFunction, Trial, Trouble
from dpnb.errors import OptionError

_STUDIES = 4_000
_SLACK = 0.01


def coverage(
    function: Function,
    study: Callable[[np.random.Generator], object],
    *,
    truth: float,
    level: float = 0.95,
    rng: Seed = None,
    title: str | None = None,
) -> CheckResult:
    """Check the coverage of an interval that a student wrote.

    Parameters
    ----------
    function : callable
        ``function(released)`` returns low and high.
    study : callable
        ``study(rng)`` draws a sample, releases from it, and returns what `function` takes: the teacher's.
    truth : float
        The number that the interval should hold.
    level : float
        The coverage that it should have.
    rng : int or Generator, optional
    title : str, optional

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> def study(rng):
    ...     return rng.normal(3, 1)
    >>> coverage(lambda x: (x - 1.96, x + 1.96), study, truth=3, rng=1).passed
    True
    """
    if not 0.5 <= level < 1:
        raise OptionError(f"A level lies between 0.5 and 1, such as 0.95; not {level!r}.")
    trial = Trial.of("coverage", StudentFunction.of(function), rng, title)
    studies = (study(trial.chance) for _ in range(_STUDIES))

    def judge(ends: Floats) -> CheckResult:
        held = int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
        parts = _parts(held, level, int((ends[:, 0] > ends[:, 1]).sum()))
        share = held / len(ends)
        picture = levels([("your coverage", share), ("should be", level)])
        facts = {"studies": len(ends), "coverage": share}
        return trial.result(parts, _mistake(parts, share, level), picture, facts)

    return trial.judged(lambda: _pairs(trial.called.of_each(studies, trial.clock)), judge)


def _pairs(found: Floats) -> Floats:
    if found.shape[1] != 2:
        raise Trouble(
            "wrong shape",
            f"The function returns {found.shape[1]} numbers; an interval has two.",
            "Return low, high.",
        )
    return found


def _parts(held: int, level: float, swapped: int) -> tuple[Part, ...]:
    least, most = level - _SLACK, level + 0.4 * (1 - level)
    low = float(stats.binom.cdf(held, _STUDIES, least))
    high = float(stats.binom.sf(held - 1, _STUDIES, most))
    share = f"{100 * held / _STUDIES:.2f} % of {_STUDIES:,} studies"
    return (
        Part("order", swapped == 0, f"{swapped:,} intervals end before they begin"),
        Part(
            "narrow",
            low >= LEVEL / 2,
            f"the truth is inside in {share}; {100 * level:g} % is required",
            LEVEL / 2,
        ),
        Part("wide", high >= LEVEL / 2, f"no more than {100 * most:g} % is needed", LEVEL / 2),
    )


def _mistake(parts: tuple[Part, ...], share: float, level: float) -> Mistake | None:
    failed = {part.name for part in parts if not part.passed}
    if "order" in failed:
        return Mistake("ends swapped", "Some intervals end before they begin.", "Return low, high.")
    if "narrow" in failed:
        return Mistake(
            "too narrow",
            f"The interval contains the truth in {100 * share:.1f} % of the studies, not in {100 * level:g} %.",
            "Add the variance of the noise to the variance of the sample before you take the root.",
        )
    if "wide" in failed:
        return Mistake(
            "too wide",
            f"The interval contains the truth in {100 * share:.1f} % of the studies: it is wider than it needs to be.",
            "Add variances, not standard errors; and count each source of error once.",
        )
    return None
