"""What cards on screen ask: what paying more for an answer would buy, and whether a name still holds it.

A card knows its releases by their ids and its question by the name it had; the answer is found among what the notebook's names
hold after the last cell. Nothing here spends, draws or keeps a pending question alive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpnb.cards.markup import clean
from dpnb.errors import PlanError
from dpnb.release import Estimate
from dpnb.widgets.curve import Curves
from dpnb.widgets.forecasting import forecast, holder

__all__ = ["CardQuestions"]

_MOST = 100


class CardQuestions:
    """The questions of the cards of one notebook.

    Parameters
    ----------
    held : callable
        Returns the released estimates that names held after the last cell.
    """

    def __init__(self, held: Callable[[], Sequence[tuple[str, Estimate]]]) -> None:
        self._held = held
        self._curves = Curves()

    def remeasure(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what paying more for the answer of a card would buy.

        Raises
        ------
        PlanError
            If no name holds the answer any more, or its accuracy cannot be forecast.
        """
        name, estimate = self._holder(asked)
        return {"is": "remeasure", "facts": forecast(estimate, name, self._curves)}

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
                raise PlanError(f"{clean(called)} is another answer by now: its newer card shows it.")
        raise PlanError(
            "No name of this notebook holds this answer. Run its cell again: the answer is stored, and free."
        )
