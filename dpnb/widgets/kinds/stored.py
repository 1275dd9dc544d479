"""Where a released answer came from: paid when and for how much. Asking again is free, `fresh` pays again. And what more buys.

Read from the releases that the notebook holds and from public facts. It spends nothing: paying more is a cell that is left behind.
"""

from __future__ import annotations

from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup, clean
from dpnb.cards.payments import AGAIN, payments
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.pending_question import paid_for
from dpnb.trusted.privacy.loss import brief
from dpnb.widgets.curve import question_of
from dpnb.widgets.forecasts import forecast
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.kinds.remeasure import Answered
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import bars, still


class Stored(Answered):
    """Where a released answer came from, and what it costs to ask again, with new noise or more accurately.

    Parameters
    ----------
    estimate : Estimate
        A released answer to one question, a number or a vector.
    name : str, optional
        Its name in the notebook, if it differs from the name found there; the Release button assigns to it.

    Examples
    --------
    >>> dpnb.widgets.stored(effect, name="effect")  # doctest: +SKIP
    """

    module: ClassVar[str] = "stored"

    def __init__(self, estimate: object, *, name: str | None = None) -> None:
        question = question_of(estimate)
        if not question.releases or not isinstance(estimate, Estimate):
            raise PlanError("Nothing was paid for this answer yet. Release it first: %%dp epsilon=1.")
        super().__init__(estimate, name=name)

    def describe(self) -> Facts:
        """Read the releases, and price what more would buy; see :class:`Interaction`."""
        self._follow()
        question = question_of(self._estimate)
        more, why = self._more()
        return {
            "name": self._name,
            "question": text_of(question),
            "badge": _badge(question),
            "rows": [list(row) for row in self._rows(question)],
            "more": more,
            "why": why,
        }

    def _more(self) -> tuple[Facts | None, str]:
        try:
            return forecast(self._estimate, self._name, self._curves), ""
        except DpnbError as reason:
            return None, clean(reason)

    def _rows(self, question: PendingQuestion) -> list[tuple[str, str]]:
        paid = paid_for(question.releases)
        symbol = paid.measure.symbol
        option = "epsilon" if symbol == "ε" else "rho"
        return [
            *(("paid", words) for words in payments(question.releases)),
            ("asked again", f"{symbol} 0: {AGAIN}"),
            ("with fresh", f"%%dp {option}={brief(paid.amount)} fresh pays {paid} again, for new noise"),
            ("more", f"{self._name}.remeasure({option}=…) pays on top, and combines both"),
        ]

    def card(self) -> Card:
        """Draw it as a table; see :class:`Interaction`."""
        facts = self.facts
        rows = [tuple(row) for row in facts["rows"]]
        notes = [facts["why"]] if facts["why"] else []
        return still(
            "stored",
            "Where this answer came from",
            facts["question"],
            (facts["badge"], ""),
            rows,
            facts,
            notes=notes,
            picture=self._picture(),
        )

    def _picture(self) -> Markup:
        """Draw what was paid beside what asking again costs: nothing."""
        symbol = paid_for(question_of(self._estimate).releases).measure.symbol
        paid = [(words, 1.0, "paid") for words in payments(question_of(self._estimate).releases)]
        return bars("what this answer cost", [*paid, ("asked again", 0.0, f"{symbol} 0")])


def _badge(question: PendingQuestion) -> str:
    symbol = question.releases[0].loss.measure.symbol
    stored = all(one.stored for one in question.releases)
    return f"stored · {symbol} 0" if stored else "paid in this session"
