"""ε ↔ ±: what accuracy a loss buys, and what loss an accuracy needs. Both are dragged, neither is spent.

Beside ± stands what it means in people: how many, asked without noise, would make the statistic as accurate.
"""

from __future__ import annotations

from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup
from dpnb.inference.digits import number, rounded
from dpnb.risk.odds import at_most, posterior
from dpnb.widgets._base import Interaction
from dpnb.widgets.accuracy import Balance, effective, planned_size, whole
from dpnb.widgets.curve import Curve, question_of
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import lines, still

_SHOWN = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Seesaw(Interaction):
    """How accurate one question is at each loss.

    Parameters
    ----------
    question : Estimate
        A question, released or not.
    assume_n : int, optional
        The number of people to plan with if the true one is private; by default the public number of rows, otherwise 1,000.
    epsilon : number, optional
        The initial ε.

    Examples
    --------
    >>> dpnb.widgets.seesaw(hiv.got.mean())  # doctest: +SKIP
    """

    module: ClassVar[str] = "seesaw"
    example: ClassVar[str] = "hiv.age.mean()"
    follows: ClassVar[bool] = True

    def __init__(
        self, question: object, *, assume_n: int | None = None, epsilon: float | None = None
    ) -> None:
        self._question = question_of(question)
        self._size = planned_size(self._question, assume_n)
        self._start = epsilon
        self._balance = Balance()
        super().__init__()

    def describe(self) -> Facts:
        """Price the question; see :class:`Interaction`."""
        asked = self.chosen.get("size")
        if asked is not None:
            self._size = whole(asked)
        return self._balance.of(self._question, self._size, self._start)

    @property
    def loss(self) -> float:
        """The loss that is set."""
        curve = self.curve
        return self.held("loss", self.facts["start"], curve.loss[0], curve.loss[-1])

    @property
    def curve(self) -> Curve:
        """The priced curve that is drawn."""
        return Curve(tuple(self.facts["curve"]["loss"]), tuple(self.facts["curve"]["width"]))

    def card(self) -> Card:
        """Draw the table of the see-saw; see :class:`Interaction`."""
        facts = self.facts
        curve, symbol = self.curve, facts["symbol"]
        rows = []
        for loss in _SHOWN:
            words = at_most(posterior(0.1, loss)) if symbol == "ε" else "–"
            fits = "" if loss <= facts["left"] else " (more than is left)"
            width = " ".join(filter(None, ["±", rounded(curve.width_at(loss)), facts["unit"]]))
            row = [f"{symbol} {loss:g}{fits}", width, words]
            if facts["people"] is not None:
                row.append(f"{effective(facts['people'], curve, loss):,} people")
            rows.append(row)
        head = ["loss", "95 % privacy interval", "a 10 % guess becomes at most"]
        if facts["people"] is not None:
            head.append(f"as accurate as, of {facts['people']['n']:,}")
        notes = [f"{symbol} {number(facts['left'])} is left in {facts['dataset']}."]
        if facts["size"]["asked"]:
            notes.append(f"Planned for {facts['size']['planned']:,} people: the true number is private.")
        return still(
            "seesaw",
            "What accuracy costs",
            facts["question"],
            head,
            rows,
            facts,
            notes=notes,
            picture=self._picture(),
        )

    def _picture(self) -> Markup:
        """Draw ± along the losses, with a line where the handle stands."""
        curve, symbol = self.curve, self.facts["symbol"]
        return lines("± that a loss buys", [("±", curve.loss, curve.width)], symbol, self.loss)
