"""Plan before you spend: the questions of a cell, the split of its loss under the hand, and the cell that releases it.

The board spends nothing. Its Release button leaves a ``%%dp`` cell behind, with the loss and the weights on the magic line
and the body as it was written; where JupyterLab's extension is around, that cell is run at once.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.plan import plan_card
from dpnb.client.views import PlanView
from dpnb.errors import PlanError
from dpnb.statistics import Share
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curves, Kind, kind_of

__all__ = ["PlanBoard"]

_LEAST = Fraction(1, 10**6)
_NAME = re.compile(r"[A-Za-z_]\w*")


class PlanBoard(Interaction):
    """A plan whose loss and split can be dragged.

    Parameters
    ----------
    view : PlanView
        What ``dpnb.plan({...}, epsilon=1)`` returns.
    body : str, optional
        The body of the cell that asks this; by default one line for each named question.

    Examples
    --------
    >>> dpnb.widgets.plan(dpnb.plan({"m": hiv.got.mean()}, epsilon=1))  # doctest: +SKIP
    """

    module: ClassVar[str] = "plan"
    follows: ClassVar[bool] = True

    def __init__(self, view: Any, *, body: str | None = None) -> None:
        if not isinstance(view, PlanView):
            raise PlanError(
                f"This takes a plan, not {type(view).__name__}. For example "
                'dpnb.widgets.plan(dpnb.plan({"m": hiv.got.mean()}, epsilon=1)).'
            )
        if view.ask.rho is not None:
            self._kind: Kind = "rho"
        elif view.ask.epsilon is not None:
            self._kind = "epsilon"
        else:
            self._kind = kind_of(view.measurements[0])
        self._view, self._body = view, body
        self._curves = Curves()
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """Price every question of the plan at what is chosen; see :class:`Interaction`."""
        view = self._view
        asked = [
            None if item.share is None or view.stored[place] else float(item.share.amount)
            for place, item in enumerate(view.items)
        ]
        paid = [one for one in asked if one is not None]
        total = sum(paid)
        now = iter(self._chosen(paid))
        return {
            "dataset": view.dataset.name,
            "kind": self._kind,
            "symbol": "ε" if self._kind == "epsilon" else "ρ",
            "loss": total or 1.0,
            "left": float(view.dataset.budget.state().left.amount),
            "shares": [one / total for one in paid],
            "questions": [
                self._question(place, None if one is None else next(now)) for place, one in enumerate(asked)
            ],
            "body": self._body or _written(view),
            "problem": "",
        }

    def _chosen(self, paid: list[float]) -> list[float]:
        """The losses under the hand: what the browser set last, where it is a split of these questions."""
        loss, shares = self.chosen.get("loss"), self.chosen.get("shares")
        total = sum(paid)
        if not _number(loss):
            loss = total
        if not (isinstance(shares, list) and len(shares) == len(paid) and all(map(_number, shares))):
            shares = [one / total for one in paid]
        return [float(loss * share) for share in shares]

    def _question(self, place: int, loss: float | None) -> dict[str, Any]:
        view, item = self._view, self._view.items[place]
        name = view.label(place)
        curve, words = None, item.preview.words
        if loss is not None and item.preview.half_width is not None:
            curve = self._curves.of(view.measurements[place], self._kind, view.ask.assume_n).to_json()
        elif loss is not None:
            words = self._words(place, loss)
        return {
            "name": name,
            "text": item.text,
            "curve": curve,
            "words": words,
            "at": loss or 0.0,
            "stored": loss is None,
            "nameable": _NAME.fullmatch(name) is not None,
        }

    def _words(self, place: int, loss: float) -> str:
        checked, size = self._view.items[place].checked, self._view.ask.assume_n
        share = Share(self._kind, max(Fraction(f"{loss:.6g}"), _LEAST))
        pricing = checked.kind.price(checked.setting, share)
        return checked.kind.accuracy(checked.setting, pricing, None if size is None else float(size))

    def card(self) -> Card:
        """Draw the plan card; see :class:`Interaction`."""
        return plan_card(self._view)


def _number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    )


def _written(view: PlanView) -> str:
    """One line for each named question, as a cell would ask it."""
    lines = []
    for place, item in enumerate(view.items):
        name = view.label(place)
        lines.append(f"{name} = {item.text}" if _NAME.fullmatch(name) else item.text)
    return "\n".join(lines)
