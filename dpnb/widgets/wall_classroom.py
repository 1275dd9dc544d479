"""A class that asks a service, looked at again and again: its answers to one question, for whoever may read them."""

from __future__ import annotations

from dpnb.cards.markup import clean
from dpnb.client.class_answers import ClassAnswers
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate
from dpnb.widgets.wall_answers import Answer, answer_of


class Classroom:
    """The answers to a question that come in at a service, in the place of a folder.

    Parameters
    ----------
    asked : Estimate
        Pending.
    """

    def __init__(self, asked: Estimate) -> None:
        self._class = ClassAnswers(asked)
        self._known: dict[int, tuple[Estimate, Answer]] = {}  # an id is only good while its object lives

    @property
    def name(self) -> str:
        """What it is called."""
        return f"your class, to {clean(self._class.text)}"

    def look(self) -> tuple[list[Answer], list[str]]:
        """Return the answers that came so far, the oldest first, and what is said where they cannot be read or shown."""
        try:
            found, told = self._class.look(), list[str]()
        except DpnbError as refused:  # a service that restarts is asked again with the next look
            return self._answers(), [clean(str(refused))]
        for who, estimate in found:
            if id(estimate) not in self._known:
                try:
                    self._known[id(estimate)] = estimate, answer_of(estimate, who)
                except PlanError as reason:
                    told = [clean(str(reason))]
        return self._answers(), told

    def _answers(self) -> list[Answer]:
        return [answer for _, answer in self._known.values()]
