"""What cards on screen ask: what a loss would buy for a question that waits, what paying more would buy for an answer.

A released card knows its releases by their ids and its question by the name it had; the answer is found among what the notebook's
names hold after the last cell. A pending card knows the key of its question. Nothing here spends, draws or keeps a pending
question alive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpnb.cards.markup import clean
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.notebook.pending_cards import Waiting
from dpnb.widgets.accuracy import Balance, planned_size
from dpnb.widgets.curve import Curves, question_of
from dpnb.widgets.forecasts import forecast, holder
from dpnb.widgets.plan_facts import board
from dpnb.widgets.planned_line import as_it_stands

_MOST = 100


class CardQuestions:
    """The questions of the cards of one notebook.

    Parameters
    ----------
    held : callable
        Returns the released estimates that names held after the last cell.
    waiting : Waiting, optional
        The questions of the pending cards.
    stops : callable, optional
        Returns whether a cell stops at its plan where it does not say ``release``.
    """

    def __init__(
        self,
        held: Callable[[], Sequence[tuple[str, Estimate]]],
        waiting: Waiting | None = None,
        stops: Callable[[], bool] = lambda: False,
    ) -> None:
        self._held, self._stops = held, stops
        self._waiting = Waiting() if waiting is None else waiting
        self._curves, self._balance = Curves(), Balance()

    def seesaw(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what each loss would buy for the question of a pending card, and the name that a cell releases it by.

        Raises
        ------
        PlanError
            If the question is gone or answered, names its own loss, or its accuracy cannot be forecast.
        """
        name, question = self._waiting.of(str(asked.get("waiting", "")))
        if question.spend is not None:
            raise PlanError("This question names its own loss: a %%dp cell that holds it pays that.")
        paid = question_of(question)
        facts = self._balance.of(paid, planned_size(paid, asked.get("size")))
        verb = "release" if self._stops() else ""
        return {"is": "seesaw", "facts": {**facts, "name": name, "verb": verb}}

    def remeasure(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what paying more for the answer of a card would buy.

        Raises
        ------
        PlanError
            If no name holds the answer any more, or its accuracy cannot be forecast.
        """
        name, estimate = self._holder(asked)
        return {"is": "remeasure", "facts": forecast(estimate, name, self._curves)}

    def board(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the board of a plan's card as it stands now, after whatever was released since, in any notebook.

        Raises
        ------
        PlanError
            If the plan is gone, or answered.
        """
        shown = self._waiting.plan(str(asked.get("plan", "")))
        return {"is": "board", "facts": board(as_it_stands(shown.view), shown.body, verb=shown.verb)}

    def _holder(self, asked: Mapping[str, Any]) -> tuple[str, Estimate]:
        name, releases = str(asked.get("name", "")), asked.get("releases")
        if not isinstance(releases, list) or not 0 < len(releases) <= _MOST:
            raise PlanError("This card does not say which answer it shows. Run its cell again: it is stored.")
        held = [(called, one) for called, one in self._held() if called.isidentifier()]
        found = holder(held, name, [str(one) for one in releases])
        if found is not None:
            return found
        question = str(asked.get("question", ""))
        for called, one in held:
            if called == name or one.text == question:
                raise PlanError(f"{clean(called)} now holds another answer: its newer card shows it.")
        raise PlanError(
            "No variable of this notebook holds this answer. Run its cell again: the answer is stored, and free."
        )
