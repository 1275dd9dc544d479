"""``check.coverage``: an interval that a student wrote, run on thousands of simulated studies; too wide fails like too narrow.

Two exact binomial tests share the level 10⁻⁴: coverage below the level less one point, and above it by more than two fifths of what
is left. An interval whose coverage lies between passes but with that probability. Where the teacher gives an exact interval, a student's must
be as wide on average and around the same middle: that tells 1.96 from 2.02 standard errors, which coverage does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from dpnb.course.noise_law import Floats
from dpnb.course.picture import levels
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.trial import LEVEL, Function, Seed, StudentFunction, Trial, Trouble
from dpnb.errors import OptionError

_STUDIES = 4_000
_SLACK = 0.01
Ends = Callable[[Any], tuple[float, float]]
"""What turns what was released into low and high."""
_STEP = "Add the variance of the noise to the variance of the sample, take the root, and multiply by the right number of standard errors."


def coverage(  # noqa: PLR0913 - a function and its studies; the rest are keywords with defaults
    function: Function,
    study: Callable[[np.random.Generator], object],
    *,
    truth: float,
    level: float = 0.95,
    exact: Ends | None = None,
    within: float = 0.05,
    mistakes: Mapping[str, Ends] | None = None,
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
    exact : callable, optional
        ``exact(released)`` returns the right low and high.
    within : float
        How far the mean width may be from that of `exact`, as a share of it.
    mistakes : mapping of str to callable, optional
        Intervals with usual mistakes, by their names: the nearest one, within 0.4 % of the width, is told.
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

    def draw() -> tuple[Floats, list[object]]:
        studies = [study(trial.chance) for _ in range(_STUDIES)]
        return _pairs(trial.ask("of_each", studies)), studies

    def judge(drawn: tuple[Floats, list[object]]) -> CheckResult:
        ends, studies = drawn
        held = int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
        parts = _parts(held, level, int((ends[:, 0] > ends[:, 1]).sum()))
        if exact is not None:
            parts += _compared(ends, _ends(exact, studies), within)
        share = held / len(ends)
        picture = levels([("your coverage", share), ("should be", level)])
        facts = {"studies": len(ends), "coverage": share}
        told = _mistake(parts, share, level)
        if told is not None:
            told = _usual(ends, studies, mistakes or {}) or told
        return trial.result(parts, told, picture, facts)

    return trial.judged(draw, judge)


def _ends(function: Ends, studies: list[object]) -> Floats:
    return np.array([function(one) for one in studies], dtype=np.float64)


def _compared(ends: Floats, right: Floats, within: float) -> tuple[Part, ...]:
    """Hold the mean width and the middles to the exact interval's."""
    wide = np.diff(right).mean()
    ratio = float(np.diff(ends).mean() / wide)
    off = float(np.abs((ends - right).mean(axis=1)).mean() / wide)
    return (
        Part("width", abs(ratio - 1) <= within, f"{ratio:.3f} times as wide as the exact interval"),
        Part("middle", off <= within, f"{100 * off:.2g} % of the width away from the exact middle"),
    )


def _usual(ends: Floats, studies: list[object], mistakes: Mapping[str, Ends]) -> Mistake | None:
    """The usual mistake whose intervals these are."""
    near = {}
    for name, wrong in mistakes.items():
        theirs = _ends(wrong, studies)
        near[name] = float(np.abs(ends - theirs).mean() / (np.abs(np.diff(theirs)).mean() + 1e-300))
    name = min(near, key=lambda one: near[one], default="")
    if not name or near[name] > 0.004:
        return None
    return Mistake(name, f"This is the interval of a usual mistake: {name}.", _STEP)


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
    if "middle" in failed and "narrow" not in failed:
        return Mistake(
            "another middle",
            "The interval is around another number than the best estimate.",
            "Put it around what was released, or what follows from it alone.",
        )
    if failed == {"width"}:
        said = next(part.said for part in parts if part.name == "width")
        return Mistake("another width", f"The interval is {said}.", _STEP)
    if "narrow" in failed:
        return Mistake(
            "too narrow",
            f"The interval contains the truth in {100 * share:.1f} % of the studies, not in {100 * level:g} %.",
            _STEP,
        )
    if "wide" in failed:
        return Mistake(
            "too wide",
            f"The interval contains the truth in {100 * share:.1f} % of the studies: it is wider than it needs to be.",
            "Add variances, not standard errors; and count each source of error once.",
        )
    return None
