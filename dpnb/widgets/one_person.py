"""Drag one person: what one row can do to a statistic, and the noise that hides it.

Takes an array of made-up or public people: a handle is refused by its type, because a picture of true rows is a release.
The sensitivity and the noise come from the functions that price a protected question with the same bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpnb.cards.card import Card
from dpnb.cards.digits import number
from dpnb.client.empty import HoldsNoData
from dpnb.errors import PlanError
from dpnb.mechanisms import DiscreteLaplace
from dpnb.plan.check import check
from dpnb.plan.expression import Compare, Const, Ref
from dpnb.plan.question import QueryPlan
from dpnb.privacy.accountant import Budget
from dpnb.privacy.unit import PrivacyUnit
from dpnb.release import Estimate
from dpnb.schema import Column, Schema
from dpnb.statistics import Share
from dpnb.widgets import person
from dpnb.widgets._base import Interaction
from dpnb.widgets.wording import still

__all__ = ["OnePerson"]

_MOST = 60
_DEFAULT = (
    23,
    25,
    26,
    28,
    29,
    31,
    31,
    33,
    34,
    35,
    36,
    38,
    39,
    40,
    41,
    43,
    44,
    46,
    47,
    49,
    51,
    53,
    54,
    57,
    59,
    62,
    64,
    68,
    71,
    77,
)
_STEPS = 1000


class OnePerson(Interaction):
    """What one person can do to a statistic.

    Parameters
    ----------
    values : array of numbers, optional
        At most 60 made-up or public people; by default thirty made-up ages.
    low, high : number
        The public bounds; values outside count as the bound.
    kind : {"mean", "sum", "count", "median"}
        The statistic. ``count`` counts those above the middle of the bounds.
    epsilon : number
        Where the handle of the noise stands at first.
    """

    module: ClassVar[str] = "person"

    def __init__(
        self,
        values: Sequence[float] | None = None,
        *,
        low: float = 20,
        high: float = 80,
        kind: str = "mean",
        epsilon: float = 1.0,
    ) -> None:
        if kind not in person.STATISTICS:
            raise PlanError(f"kind is one of {', '.join(person.STATISTICS)}, not {kind!r}.")
        if not low < high:
            raise PlanError("The bounds are empty. Write low below high, for example low=20, high=80.")
        if not epsilon > 0:
            raise PlanError("epsilon is a number above 0. Write for example epsilon=1.")
        self._values = public_numbers(_DEFAULT if values is None else values)
        self._low, self._high, self._kind, self._epsilon = float(low), float(high), kind, float(epsilon)
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """State people, bounds, sensitivity and noise; see :class:`Interaction`."""
        noise = priced(self._kind, self._low, self._high, len(self._values))
        return {
            "values": self._values,
            "low": self._low,
            "high": self._high,
            "kind": self._kind,
            "sensitivity": None if noise is None else noise[0],
            "scale": None if noise is None else noise[1],
            "epsilon": self._epsilon,
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the three sizes as a table; see :class:`Interaction`."""
        facts = self.facts
        found = person.worst(self._kind, self._values, self._low, self._high)
        now = person.statistic(self._kind, self._values, self._low, self._high)
        ever = "the whole range" if facts["sensitivity"] is None else number(facts["sensitivity"])
        scale = "–" if facts["scale"] is None else number(facts["scale"] / self._epsilon)
        rows = [
            (f"the {self._kind} of {len(self._values)} people", number(now)),
            ("the most that anybody here can do to it", number(abs(found.change))),
            ("the most that anybody can do in any table", ever),
            (f"scale of the noise that hides it at ε {self._epsilon:g}", scale),
        ]
        about = f"bounds {self._low:g} to {self._high:g}"
        return still("person", "Drag one person", about, ("", ""), rows, facts)


def priced(kind: str, low: float, high: float, people: int) -> tuple[float, float] | None:
    """Return sensitivity and noise scale at ε = 1 of a statistic, in its own unit, from the price of a protected question.

    None for the median: a selection protects it, and adds nothing.
    """
    if kind == "median":
        return None
    bottom, top = Fraction(str(low)), Fraction(str(high))
    column = Column.number("x", bottom, top, step=(top - bottom) / _STEPS, missing=bottom)
    schema = Schema(
        "people", "", (column,), PrivacyUnit("change-one", rows=people), Budget.from_toml({"epsilon": 1})
    )
    middle = Compare(">", Ref("x"), Const((bottom + top) / 2))
    plan = {
        "mean": QueryPlan("people", "mean", Ref("x"), options=(("ci", False),)),
        "sum": QueryPlan("people", "sum", Ref("x")),
        "count": QueryPlan("people", "count", where=middle),
    }[kind]
    checked = check(plan, schema)
    (part,) = checked.kind.price(checked.setting, Share("epsilon", Fraction(1))).parts
    unit = {
        "mean": checked.setting.number().centred().unit / people if kind == "mean" else Fraction(0),
        "sum": checked.setting.number().rebased().step if kind == "sum" else Fraction(0),
        "count": Fraction(1),
    }[kind]
    mechanism = part.mechanism
    assert isinstance(mechanism, DiscreteLaplace)
    # at ε = 1 the scale is the sensitivity
    return float(mechanism.scale * unit), float(mechanism.scale * unit)


def public_numbers(values: Any, most: int = _MOST) -> list[float]:
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
