"""Remeasure: what paying more for a released answer would buy, with the intervals so far as a trail."""

from __future__ import annotations

from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.inference.digits import rounded
from dpnb.widgets import arithmetic
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curve, Curves
from dpnb.widgets.forecasts import answer_of, forecast, succeeded
from dpnb.widgets.host_questions import called, names
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import bars, still

_MORE = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)


class Answered(Interaction):
    """An interaction about a released answer: it follows the name that holds it, to the answers that come after."""

    example: ClassVar[str] = "effect"
    named: ClassVar[bool] = True
    follows: ClassVar[bool] = True

    def __init__(self, estimate: Estimate, *, name: str | None = None) -> None:
        if name is not None and not name.isidentifier():
            raise PlanError(f"name= is the answer's name in the notebook, not {name!r}.")
        self._given, self._name, self._estimate = name, "answer", estimate
        self._curves = Curves()
        super().__init__()

    def _follow(self) -> None:
        """Find the answer by its name, and its name by the answer."""
        self._estimate = succeeded(self._estimate, self._given or self._name, names())
        self._name = self._given or called(self._estimate) or self._name


class Remeasure(Answered):
    """How accurate a released number becomes if you pay more.

    Parameters
    ----------
    estimate : Estimate
        A released answer to one question, a single number.
    name : str, optional
        Its name in the notebook, if it differs from the name found there; the Release button assigns to it.
    """

    module: ClassVar[str] = "remeasure"

    def __init__(self, estimate: Estimate, *, name: str | None = None) -> None:
        answer_of(estimate)
        super().__init__(estimate, name=name)

    def describe(self) -> Facts:
        """Conclude from each prefix of the releases, and price more; see :class:`Interaction`."""
        self._follow()
        return forecast(self._estimate, self._name, self._curves)

    def card(self) -> Card:
        """Draw what more would buy as a table; see :class:`Interaction`."""
        facts = self.facts
        curve = Curve(tuple(facts["curve"]["loss"]), tuple(facts["curve"]["width"]))
        now = facts["trail"][-1]
        half = (now["high"] - now["low"]) / 2
        rows = [("as it is", f"± {rounded(half)}", now["paid"])]
        drawn = [("as it is", 1.0, rows[0][1])]
        for loss in _MORE:
            expected = arithmetic.combined(half, curve.width_at(loss))
            rows.append((f"+ {facts['symbol']} {loss:g}", f"± {rounded(expected)}", ""))
            drawn.append((rows[-1][0], expected / half if half else 0.0, rows[-1][1]))
        head = ("paid on top", "95 % privacy interval", "paid so far")
        return still(
            "remeasure",
            "Measure again",
            facts["question"],
            head,
            rows,
            facts,
            picture=bars("95 % privacy interval", drawn),
        )
