"""What a class wall draws and says: the answers in their order, the share that holds the truth, the average, what was paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from dpnb.errors import LossError
from dpnb.estimate import PendingQuestion
from dpnb.inference.digits import decimals_for, number, percent, span
from dpnb.widgets.registry import Facts
from dpnb.widgets.wall_answers import LEVEL, Answer, Average, average, distinct, most_asked, paid

DRAWN = 200
"""Answers that are drawn: the first. All of them are counted and averaged."""
_WIDEST = 12
"""An axis is at most so many usual intervals wide; what reaches beyond it is cut at its end."""
_NAMED = 20
"""Sentences about files that are left out; of more, how many."""
_PROTECTED = "These are not TEACHING data: the truth is not drawn."


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a wall.

    Parameters
    ----------
    answers : sequence of Answer
        Those of the shown question, each noise once, in the order in which they came.
    truth : float or None
        What the answer would be without noise, where it may be shown.
    notes : tuple of str
        What was left out, and why.
    """

    answers: Sequence[Answer]
    truth: float | None
    notes: tuple[str, ...]

    @property
    def held(self) -> int:
        """How many intervals hold the truth."""
        return sum(one.holds(self.truth) is True for one in self.answers)


def wall_of(given: Sequence[Answer], truth: float | None, told: Sequence[str]) -> Answers:
    """Return what a wall shows of the answers that were found.

    Parameters
    ----------
    given : sequence of Answer
        Of any question, with copies.
    truth : float or None
        What is known to be true.
    told : sequence of str
        What is said of files that are left out.
    """
    apart = distinct(given)
    shown = most_asked(apart)
    protected = any(one.protected for one in shown)
    notes = [
        *_unaveraged(shown),
        *_few(told),
        *_others(apart, shown),
        *_copies(len(given) - len(apart)),
        *([_PROTECTED] if protected and truth is not None else []),
        *([f"{len(shown) - DRAWN:,} more are counted, and not drawn."] if len(shown) > DRAWN else []),
    ]
    return Answers(shown, None if protected else truth, tuple(notes))


def _unaveraged(shown: Sequence[Answer]) -> list[str]:
    """What there is to say of the average: that there is none, or what it takes for granted."""
    if not all(one.additive for one in shown):
        return ["A choice among candidates cannot be averaged: there is no noise to average out."]
    versions = {release.data_version for one in shown for release in one.releases}
    if len(versions) > 1:
        return ["These answers come from several ledgers: the average assumes that they asked the same data."]
    return []


def _few(told: Sequence[str]) -> list[str]:
    more = len(told) - _NAMED
    return [*told[:_NAMED], *([f"{more:,} more files are left out."] if more > 0 else [])]


def _others(apart: Sequence[Answer], shown: Sequence[Answer]) -> list[str]:
    """How many answers are of other questions."""
    count = len(apart) - len(shown)
    if not count:
        return []
    questions = len({one.asked for one in apart}) - 1
    other = "another question" if questions == 1 else f"{questions:,} other questions"
    return [f"{_many(count, 'answer')} to {other} {_is(count)} not shown: this is the one asked most."]


def _copies(count: int) -> list[str]:
    if not count:
        return []
    return [
        f"{_many(count, 'copy', 'copies')} of an answer that is here already: the same noise counts once."
    ]


def _many(count: int, noun: str, plural: str = "") -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def facts_of(wall: Answers, waiting: str, asked: PendingQuestion | None = None) -> Facts:
    """Return what is drawn, as strict JSON.

    Parameters
    ----------
    wall : Answers
    waiting : str
        What is said while there is no answer.
    asked : PendingQuestion, optional
        A question that is held, and may be theirs; see :func:`dpnb.widgets.wall_answers.average`.
    """
    both = average(wall.answers, asked)
    decimals = decimals_for([*(one.half for one in wall.answers), None if both is None else both.half])
    return {
        "question": wall.answers[0].question if wall.answers else "",
        "waiting": "" if wall.answers else waiting,
        "answers": [_row(one, wall.truth, decimals) for one in wall.answers[:DRAWN]],
        "truth": None if wall.truth is None or not wall.answers else _truth(wall.truth, decimals),
        "average": None if both is None else _average(both, wall.truth, decimals),
        "reach": _reach(wall, both),
        "figures": _figures(wall, both) if wall.answers else [],
        "sentence": _sentence(wall, both, decimals),
        "notes": list(wall.notes),
        "problem": "",
    }


def _reach(wall: Answers, both: Average | None) -> list[float]:
    """The ends of the axis: all intervals, the truth and the average, but no more than twelve usual intervals."""
    if not wall.answers:
        return [0.0, 1.0]
    others = [value for value in (wall.truth, None if both is None else both.value) if value is not None]
    low = min([*(one.low for one in wall.answers), *others])
    high = max([*(one.high for one in wall.answers), *others])
    middle, room = (
        median(one.value for one in wall.answers),
        _WIDEST * median(one.half for one in wall.answers),
    )
    if room > 0:
        low, high = max(low, middle - room), min(high, middle + room)
    pad = (high - low) * 0.04 or abs(high) * 0.01 or 0.5
    return [low - pad, high + pad]


def _row(one: Answer, truth: float | None, decimals: int | None) -> Facts:
    return {
        "who": one.who,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "held": one.holds(truth),
        "words": number(one.value, decimals),
        "span": span(one.low, one.high, decimals),
        "paid": str(one.loss),
    }


def _truth(truth: float, decimals: int | None) -> Facts:
    return {"value": truth, "words": number(truth, decimals)}


def _average(both: Average, truth: float | None, decimals: int | None) -> Facts:
    return {
        "value": both.value,
        "low": both.low,
        "high": both.high,
        "held": None if truth is None else both.low <= truth <= both.high,
        "words": number(both.value, decimals),
        "span": span(both.low, both.high, decimals),
    }


def _figures(wall: Answers, both: Average | None) -> list[list[str]]:
    """The large words and what stands below each."""
    count = len(wall.answers)
    found = [[f"{count:,}", "answer" if count == 1 else "answers, each with noise of its own"]]
    if wall.truth is not None:
        found.append([_of_all(wall), f"contain the truth, {percent(wall.held / count)}; {_promised()}"])
    if both is not None:
        found.append(
            [f"± {_half(both.half)}", f"{both.count:,} averaged; one alone about ± {_half(_usual(wall))}"]
        )
    found.append([_cost(wall), "what these releases cost together" if count > 1 else "what it cost"])
    return found


def _of_all(wall: Answers) -> str:
    return f"{wall.held:,} of {len(wall.answers):,}"


def _promised() -> str:
    return f"{percent(LEVEL)} is promised"


def _half(width: float) -> str:
    return number(width, decimals_for([width]))


def _usual(wall: Answers) -> float:
    halves = sorted(one.half for one in wall.answers)
    return halves[len(halves) // 2]


def _cost(wall: Answers) -> str:
    try:
        return " and ".join(str(loss) for loss in paid(wall.answers))
    except LossError:
        return "no promise is left"  # their δ add to 1 or more


def _sentence(wall: Answers, both: Average | None, decimals: int | None) -> str:
    """The picture in words."""
    count = len(wall.answers)
    if not count:
        return ""
    said = [
        f"{_many(count, 'answer')}, from {number(_least(wall), decimals)} to {number(_most(wall), decimals)}."
    ]
    if wall.truth is not None:
        said.append(
            f"{_of_all(wall)} intervals contain the truth, {number(wall.truth, decimals)}: {percent(wall.held / count)}, "
            f"where {_promised()}."
        )
    if both is not None:
        said.append(
            f"{'All' if both.count == count else f'{both.count:,} of them'} averaged: {number(both.value, decimals)}, "
            f"{span(both.low, both.high, decimals)}{_beside(both, wall.truth)}. {_price(wall)}"
        )
    return " ".join(said)


def _beside(both: Average, truth: float | None) -> str:
    if truth is None:
        return ""
    return ", which contains the truth" if both.low <= truth <= both.high else ", which misses the truth"


def _price(wall: Answers) -> str:
    return f"It is narrower because more was paid: {_cost(wall)} for all of them."


def _least(wall: Answers) -> float:
    return min(one.value for one in wall.answers)


def _most(wall: Answers) -> float:
    return max(one.value for one in wall.answers)
