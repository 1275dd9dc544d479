"""Remeasure: what paying more for a released answer would buy, with the intervals so far as a trail."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.facts import line_of
from dpnb.errors import PlanError
from dpnb.release import Estimate, Measurement
from dpnb.statistics import conclude
from dpnb.statistics._base import digits
from dpnb.widgets import arithmetic
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curve, Curves, kind_of, question_of
from dpnb.widgets.see_saw import left_of, needs_size
from dpnb.widgets.wording import still

__all__ = ["Remeasure"]

_MORE = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)


class Remeasure(Interaction):
    """What paying more for a released number would buy.

    Parameters
    ----------
    estimate : Estimate
        Released, one number, of one question.
    name : str
        What it is called in the notebook; the Release button assigns to it.
    """

    module: ClassVar[str] = "remeasure"
    follows: ClassVar[bool] = True

    def __init__(self, estimate: Any, *, name: str = "answer") -> None:
        self._question = question_of(estimate)
        if not self._question.releases or not isinstance(estimate, Estimate):
            raise PlanError("Only a released answer can be measured again. Release it first: %%dp epsilon=1.")
        if estimate.shape != ():
            raise PlanError(
                "This draws one number; remeasure a vector in a cell: by = by.remeasure(epsilon=0.5)."
            )
        if not name.isidentifier():
            raise PlanError(f"name= is the answer's name in the notebook, not {name!r}.")
        self._name, self._estimate = name, estimate
        self._curves = Curves()
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """Conclude from each prefix of the releases, and price more; see :class:`Interaction`."""
        question, kind = self._question, kind_of(self._question)
        entry = line_of(self._estimate, record=False).entries[0]
        size = None
        if needs_size(question):
            if entry.n is None or not math.isfinite(entry.n):
                raise PlanError(
                    f"How many people {question.text} is about is not known: there is no forecast."
                )
            size = max(1, round(entry.n))
        return {
            "name": self._name,
            "question": question.text,
            "kind": kind,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "value": float(self._estimate.value),
            "trail": [self._interval(upto) for upto in range(1, len(question.releases) + 1)],
            "curve": self._curves.of(question, kind, size).to_json(),
            "left": left_of(question),
            "problem": "",
        }

    def _interval(self, upto: int) -> dict[str, Any]:
        question, releases = self._question, self._question.releases[:upto]
        known = Measurement(
            question.question, question.checked, dataset=question.dataset, origin=question.origin
        )
        known.fill(releases, conclude(question.checked, releases))
        entry = line_of(Estimate.leaf(known), record=False).entries[0]
        if entry.privacy is None or not all(map(math.isfinite, entry.privacy)):
            raise PlanError(f"{question.text} has no bounded privacy interval to narrow.")
        paid = sum((release.loss for release in releases[1:]), releases[0].loss)
        return {"low": entry.privacy[0], "high": entry.privacy[1], "paid": str(paid)}

    def card(self) -> Card:
        """Draw what more would buy as a table; see :class:`Interaction`."""
        facts = self.facts
        curve = Curve(tuple(facts["curve"]["loss"]), tuple(facts["curve"]["width"]))
        now = facts["trail"][-1]
        half = (now["high"] - now["low"]) / 2
        rows = [("as it is", f"± {digits(half)}", now["paid"])]
        for loss in _MORE:
            expected = arithmetic.combined(half, curve.width_at(loss))
            rows.append((f"+ {facts['symbol']} {loss:g}", f"± {digits(expected)}", ""))
        head = ("paid on top", "95 % privacy interval", "paid so far")
        return still("remeasure", "Measure again", facts["question"], head, rows, facts)
