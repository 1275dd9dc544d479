"""Drag one person: what one row can do to a statistic, and the noise that hides it: sensitivity without a formula.

Takes an array of made-up or public people: a handle is refused by its type, because a picture of true rows is a release.
The sensitivity and the noise come from the functions that price a protected question with the same bounds.
The browser computes the statistics in the same way (``src/maths/person.ts``). A statistic that a table does not have (an empty arm, no
pairs, scores all alike) is None, never a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal, TypeVar

import numpy as np

from dpnb.cards.card import Card
from dpnb.client.no_data import HoldsNoData
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.inference.digits import given, number
from dpnb.inference.matching import match
from dpnb.planner.check import check
from dpnb.planner.expression import Compare, Const, Ref
from dpnb.planner.question import Question
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import Column, Schema
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, a_loss
from dpnb.widgets.still_picture import Bar, bars, still

T = TypeVar("T")
Kind = Literal["mean", "sum", "count", "median", "sd", "difference", "matched", "slope"]
STATISTICS: tuple[Kind, ...] = ("mean", "sum", "count", "median", "sd", "difference", "matched", "slope")
#: The largest difference of scores within a pair.
CALIPER = 0.06
_MOST = 60
# fmt: off
_DEFAULT = (
    23, 25, 26, 28, 29, 31, 31, 33, 34, 35, 36, 38, 39, 40, 41, 43, 44, 46, 47, 49, 51, 53, 54, 57, 59, 62, 64, 68, 71, 77,
)
# fmt: on
_STEPS = 1000
_OF_SUM = Fraction(7, 10)  # the share of the loss that the signed sum of matched pairs takes


class Person(Interaction):
    """What one person can do to a statistic.

    Parameters
    ----------
    values : array of numbers, optional
        At most 60 made-up or public people; by default thirty made-up ages.
    arms : array of 0 and 1, optional
        The arm of each person; by default alternating.
    scores : array of numbers from 0 to 1, optional
        The scores by which pairs are matched; by default made up, increasing with the values.
    low, high : number
        The public bounds; values outside count as the bound.
    kind : {"mean", "sum", "count", "median", "sd", "difference", "matched", "slope"}
        The statistic to draw first. ``count`` counts the people above the middle of the bounds.
    epsilon : number
        The initial ε of the noise.
    """

    module: ClassVar[str] = "person"
    example: ClassVar[str] = "[21, 35, 44]"
    otherwise: ClassVar[object] = None

    def __init__(
        self,
        values: Sequence[float] | None = None,
        *,
        arms: Sequence[int] | None = None,
        scores: Sequence[float] | None = None,
        low: float = 20,
        high: float = 80,
        kind: str = "mean",
        epsilon: float = 1.0,
    ) -> None:
        if kind not in STATISTICS:
            raise PlanError(f"kind is one of {', '.join(STATISTICS)}, not {kind!r}.")
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise PlanError("The bounds are empty. Write low below high, for example low=20, high=80.")
        found = public_numbers(_DEFAULT if values is None else values)
        self._low, self._high, self._kind, self._epsilon = float(low), float(high), kind, a_loss(epsilon)
        self._people = People(
            tuple(found),
            tuple(int(arm) for arm in _like(arms, _arms(found), {0.0, 1.0}, "arms", "0 or 1")),
            tuple(_like(scores, _scores(found, low, high), None, "scores", "a number from 0 to 1")),
        )
        self._noise = {one: noise_of(one, self._people, self._low, self._high) for one in STATISTICS}
        super().__init__()

    def describe(self) -> Facts:
        """State people, bounds, sensitivity and noise; see :class:`Interaction`."""
        return {
            "values": list(self._people.values),
            "arms": list(self._people.arms),
            "scores": list(self._people.scores),
            "low": self._low,
            "high": self._high,
            "kind": self._kind,
            "noise": {one: {"sensitivity": s, "scale": b} for one, (s, b) in self._noise.items()},
            "epsilon": self._epsilon,
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the sizes of every statistic as a table; see :class:`Interaction`."""
        epsilon = self.held("epsilon", self._epsilon, 0.1, 10)
        rows = []
        for kind in STATISTICS:
            sensitivity, scale = self._noise[kind]
            now = statistic(kind, self._people, self._low, self._high)
            most = worst(kind, self._people, self._low, self._high).change
            rows.append(
                (
                    NAMES[kind],
                    "–" if now is None else number(now),
                    number(abs(most)),
                    _EVER.get(kind, "the whole range") if sensitivity is None else number(sensitivity),
                    "–" if scale is None else number(scale / epsilon),
                )
            )
        head = ("statistic", "now", "one of these moves it", "one of any, at most", "scale of the noise")
        about = f"{len(self._people.values)} made-up people, bounds {given(self._low)} to {given(self._high)}, ε {epsilon:g}"
        picture = bars("what one of these moves, of what any one could", self._moved())
        return still("person", "Drag one person", about, head, rows, self.facts, picture=picture)

    def _moved(self) -> list[Bar]:
        """How far one of these moves each statistic, as a part of what any person could; without a bound, the whole bar."""
        found = []
        for kind in STATISTICS:
            sensitivity = self._noise[kind][0]
            most = abs(worst(kind, self._people, self._low, self._high).change)
            said = "no bound" if sensitivity is None else f"at most {number(sensitivity)}"
            found.append((NAMES[kind], most / sensitivity if sensitivity else 1.0, f"{number(most)}, {said}"))
        return found


_EVER = {"slope": "no bound"}

#: What each statistic is called.
NAMES = {
    "mean": "mean",
    "sum": "sum",
    "count": "count above the middle",
    "median": "median",
    "sd": "standard deviation",
    "difference": "difference of two arms",
    "matched": "difference within matched pairs",
    "slope": "slope along the score",
}


def noise_of(kind: str, people: People, low: float, high: float) -> tuple[float | None, float | None]:
    """Return sensitivity and noise scale at ε = 1 of a statistic; None where no table bounds it, or nothing is added.

    The noise of a difference is that of its noised sums and counts, written as the Laplace scale with the same 95 % interval.
    """
    size, width = len(people.values), high - low
    match kind:
        case "mean" | "sum" | "count":
            return priced(kind, low, high, size) or (None, None)
        case "sd":
            steps = Fraction(math.ceil(_STEPS * math.sqrt(size - 1) / size))
            scale = float(DiscreteLaplace.calibrate(steps, Fraction(1)).scale) * width / _STEPS
            return scale, scale
        case "difference":
            return None, _difference_scale(low, high, size)
        case "matched":
            pairs = max(len(match(people.scores, people.arms, CALIPER)), 1)
            signed = DiscreteLaplace.calibrate(Fraction(2 * _STEPS), _OF_SUM)
            return None, float(signed.scale) * width / _STEPS / pairs
    return None, None


def _difference_scale(low: float, high: float, people: int) -> float:
    arm = Column.integer("arm", 0, 1, missing=0)
    schema = _schema(low, high, people, arm)
    plan = Question("people", "difference", Ref("x"), by=(Ref("arm"),), options=(("ci", False),))
    checked = check(plan, schema)
    pricing = checked.price(Share("epsilon", Fraction(1)))
    half = checked.kind.half_width(checked.setting, pricing, float(people))
    assert half is not None
    return half / math.log(20)


def _arms(values: Sequence[float]) -> list[int]:
    return [i % 2 for i in range(len(values))]


def _scores(values: Sequence[float], low: float, high: float) -> list[float]:
    """Made-up scores that rise with the values, always the same."""
    drawn = np.random.default_rng(4).normal(0.0, 0.12, len(values))
    level = 0.15 + 0.7 * (np.clip(values, low, high) - low) / (high - low)
    return [round(float(score), 3) for score in np.clip(level + drawn, 0.02, 0.98)]


def _like(
    given: Sequence[float] | None, made: Sequence[float], allowed: set[float] | None, name: str, words: str
) -> list[float]:
    if given is None:
        return [float(one) for one in made]
    try:
        found = public_numbers(given)
    except PlanError:
        raise PlanError(f"{name} has {words} for each person.") from None
    good = all(one in allowed if allowed is not None else 0 <= one <= 1 for one in found)
    if len(found) != len(made) or not good:
        raise PlanError(f"{name} has {words} for each of the {len(made)} people.")
    return found


def _schema(low: float, high: float, people: int, *others: Column) -> Schema:
    bottom, top = Fraction(str(low)), Fraction(str(high))
    column = Column.number("x", bottom, top, step=(top - bottom) / _STEPS, missing=bottom)
    unit = PrivacyUnit("change-one", rows=people)
    return Schema("people", "", (column, *others), unit, Budget.from_toml({"epsilon": 1}))


def priced(kind: str, low: float, high: float, people: int) -> tuple[float, float] | None:
    """Return sensitivity and noise scale at ε = 1 of a statistic, in its own unit, from the price of a protected question.

    None for the median: a selection protects it, and adds nothing.
    """
    if kind == "median":
        return None
    bottom, top = Fraction(str(low)), Fraction(str(high))
    schema = _schema(low, high, people)
    middle = Compare(">", Ref("x"), Const((bottom + top) / 2))
    plan = {
        "mean": Question("people", "mean", Ref("x"), options=(("ci", False),)),
        "sum": Question("people", "sum", Ref("x")),
        "count": Question("people", "count", where=middle),
    }[kind]
    checked = check(plan, schema)
    (part,) = checked.price(Share("epsilon", Fraction(1))).parts
    unit = {
        "mean": checked.setting.number().centred().unit / people if kind == "mean" else Fraction(0),
        "sum": checked.setting.number().rebased().step if kind == "sum" else Fraction(0),
        "count": Fraction(1),
    }[kind]
    mechanism = part.mechanism
    assert isinstance(mechanism, DiscreteLaplace)
    # at ε = 1 the scale is the sensitivity
    return float(mechanism.scale * unit), float(mechanism.scale * unit)


def public_numbers(values: object, most: int = _MOST) -> list[float]:
    """Return made-up or public numbers as a list.

    Raises
    ------
    PlanError
        For anything protected, by its type, and for what is no list of 2 to `most` finite numbers.
    """
    if isinstance(values, Estimate | HoldsNoData):
        raise PlanError(
            "This draws people one by one, so it takes made-up or public numbers, never a protected column."
        )
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise PlanError("values is a list of numbers. For example [23, 35, 41, 58].") from None
    if found.ndim != 1 or not 2 <= found.size <= most or not np.isfinite(found).all():
        raise PlanError(f"values is a list of 2 to {most:,} finite numbers. For example [23, 35, 41, 58].")
    return [float(value) for value in found]


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
            return _difference_of(inside, people.arms)
        case "matched":
            return _matched(inside, people)
        case "slope":
            return _slope(inside, people.scores)


def _difference_of(inside: Sequence[float], arms: Sequence[int]) -> float | None:
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
                for score in _scores_to_try(kind, people, person):
                    after = statistic(kind, _moved(people, person, to, arm, score), low, high)
                    change = 0.0 if before is None or after is None else after - before
                    if abs(change) > abs(found.change) + 1e-12:
                        found = Move(person, to, arm, score, change)
    return found


def _scores_to_try(kind: Kind, people: People, person: int) -> list[float]:
    own = people.scores[person]
    if kind == "slope":
        return [own, 0.0, 1.0]
    return [own, *people.scores, 0.0, 1.0] if kind == "matched" else [own]


def _moved(people: People, person: int, to: float, arm: int, score: float) -> People:
    def put(listed: tuple[T, ...], value: T) -> tuple[T, ...]:
        return (*listed[:person], value, *listed[person + 1 :])

    return replace(
        people,
        values=put(people.values, to),
        arms=put(people.arms, arm),
        scores=put(people.scores, score),
    )
