"""What one person can do to a statistic of a small table. The browser computes the same (``src/maths/person.ts``).

Arrays of teaching data only: a handle is refused where these are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["STATISTICS", "Move", "statistic", "worst"]

Kind = Literal["mean", "sum", "count", "median"]
STATISTICS: tuple[Kind, ...] = ("mean", "sum", "count", "median")


@dataclass(frozen=True, slots=True)
class Move:
    """One person moved: who, where to, and what that changed."""

    person: int
    to: float
    change: float


def statistic(kind: Kind, values: Sequence[float], low: float, high: float) -> float:
    """Return a statistic of values clamped to public bounds; ``count`` counts those above the middle of the bounds."""
    inside = [min(max(value, low), high) for value in values]
    match kind:
        case "sum":
            return sum(inside)
        case "mean":
            return sum(inside) / len(inside)
        case "count":
            return float(sum(value > (low + high) / 2 for value in inside))
        case "median":
            return sorted(inside)[(len(inside) - 1) // 2]


def worst(kind: Kind, values: Sequence[float], low: float, high: float) -> Move:
    """Return the largest change that one person can make to this table by moving anywhere between the bounds."""
    before = statistic(kind, values, low, high)
    found = Move(0, values[0], 0.0)
    for person in range(len(values)):
        for to in (low, high):
            moved = [to if i == person else value for i, value in enumerate(values)]
            change = statistic(kind, moved, low, high) - before
            if abs(change) > abs(found.change) + 1e-12:
                found = Move(person, to, change)
    return found
