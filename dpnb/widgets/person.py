"""What one person can do to a statistic of a small table. The browser computes the same (``src/maths/person.ts``).

Arrays of teaching data only: a handle is refused where these are called. A statistic that a table does not have (an empty
arm, no pairs, scores all alike) is None, never a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from dpnb.inference.matching import match

Kind = Literal["mean", "sum", "count", "median", "sd", "difference", "matched", "slope"]
STATISTICS: tuple[Kind, ...] = ("mean", "sum", "count", "median", "sd", "difference", "matched", "slope")
#: The largest difference of scores within a pair.
CALIPER = 0.06


@dataclass(frozen=True, slots=True)
class People:
    """A small table: a value, an arm of 0 or 1 and a score from 0 to 1 for each person."""

    values: tuple[float, ...]
    arms: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """One person moved: who, to which value, arm and score, and what that changed."""

    person: int
    to: float
    arm: int
    score: float
    change: float


def statistic(kind: Kind, people: People, low: float, high: float) -> float | None:
    """Return a statistic of values clamped to public bounds.

    ``count`` counts those above the middle of the bounds, ``sd`` divides by n, ``difference`` is the second arm minus the
    first, ``matched`` the same within pairs of like score, ``slope`` that of the value along the score.
    """
    inside = [min(max(value, low), high) for value in people.values]
    match kind:
        case "sum":
            return sum(inside)
        case "mean":
            return sum(inside) / len(inside)
        case "count":
            return float(sum(value > (low + high) / 2 for value in inside))
        case "median":
            return sorted(inside)[(len(inside) - 1) // 2]
        case "sd":
            mean = sum(inside) / len(inside)
            return math.sqrt(sum((value - mean) ** 2 for value in inside) / len(inside))
        case "difference":
            return _difference(inside, people.arms)
        case "matched":
            return _matched(inside, people)
        case "slope":
            return _slope(inside, people.scores)


def _difference(inside: Sequence[float], arms: Sequence[int]) -> float | None:
    means = []
    for arm in (0, 1):
        found = [value for value, where in zip(inside, arms, strict=True) if where == arm]
        if not found:
            return None
        means.append(sum(found) / len(found))
    return means[1] - means[0]


def _matched(inside: Sequence[float], people: People) -> float | None:
    pairs = match(people.scores, people.arms, CALIPER)
    gaps = [inside[i] - inside[j] for i, j in zip(pairs.second.tolist(), pairs.first.tolist(), strict=True)]
    return sum(gaps) / len(gaps) if gaps else None


def _slope(inside: Sequence[float], scores: Sequence[float]) -> float | None:
    middle, mean = sum(scores) / len(scores), sum(inside) / len(inside)
    spread = sum((score - middle) ** 2 for score in scores)
    if spread < 1e-12:
        return None
    return sum((s - middle) * (v - mean) for s, v in zip(scores, inside, strict=True)) / spread


@lru_cache(maxsize=32)  # thousands of moves are tried, and a picture is drawn again for every setting
def worst(kind: Kind, people: People, low: float, high: float) -> Move:
    """Return the largest change found by moving one person: to either bound, either arm, or anybody's score or an end of it."""
    before = statistic(kind, people, low, high)
    found = Move(0, people.values[0], people.arms[0], people.scores[0], 0.0)
    for person in range(len(people.values)):
        for to in (low, high):
            for arm in (0, 1) if kind in {"difference", "matched"} else (people.arms[person],):
                for score in _scores(kind, people, person):
                    after = statistic(kind, _moved(people, person, to, arm, score), low, high)
                    change = 0.0 if before is None or after is None else after - before
                    if abs(change) > abs(found.change) + 1e-12:
                        found = Move(person, to, arm, score, change)
    return found


def _scores(kind: Kind, people: People, person: int) -> list[float]:
    own = people.scores[person]
    if kind == "slope":
        return [own, 0.0, 1.0]
    return [own, *people.scores, 0.0, 1.0] if kind == "matched" else [own]


def _moved(people: People, person: int, to: float, arm: int, score: float) -> People:
    def put(listed: tuple[Any, ...], value: object) -> tuple[Any, ...]:
        return (*listed[:person], value, *listed[person + 1 :])

    return replace(
        people,
        values=put(people.values, to),
        arms=put(people.arms, arm),
        scores=put(people.scores, score),
    )
