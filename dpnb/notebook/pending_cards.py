"""The pending questions that were shown: each has a key, by which its card asks about it.

Nothing here keeps a question alive, and nothing is found before the cell that showed it is over: what a cell asks is decided by
what it holds alone. A key is made in this kernel and says nothing; a card of another kernel finds no question.
"""

from __future__ import annotations

import keyword
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

from dpnb.client.views import PlanView
from dpnb.errors import PlanError
from dpnb.estimate import Estimate, PendingQuestion

_GONE = "This notebook does not hold this question any more. Run its cell again: that spends nothing."


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """A plan on screen: what was priced, and the cell that releases it.

    Parameters
    ----------
    view : PlanView
    body, verb : str, optional
        What stands below the cell's magic line, and the verb on it.
    """

    view: PlanView
    body: str | None = None
    verb: str = ""


class Waiting:
    """The questions and plans of the cards that wait for a release."""

    def __init__(self) -> None:
        self._plans: WeakValueDictionary[str, ShownPlan] = WeakValueDictionary()
        self._keys: WeakKeyDictionary[PendingQuestion, str] = WeakKeyDictionary()
        self._seen: dict[str, tuple[ref[PendingQuestion], str]] = {}

    def key(self, question: PendingQuestion) -> str:
        """Return the key of a question that is being shown."""
        return self._keys.setdefault(question, secrets.token_hex(8))

    def plan_key(self, shown: ShownPlan) -> str:
        """Return the key of a plan that is being shown; whoever shows it keeps it, and its questions, alive."""
        key = secrets.token_hex(8)
        self._plans[key] = shown
        return key

    def plan(self, key: str) -> ShownPlan:
        """Return the plan of a key.

        Raises
        ------
        PlanError
            If it is gone, or a question of it released by now.
        """
        shown = self._plans.get(key)
        if shown is None:
            raise PlanError(
                "This notebook does not hold this plan any more. Run its cell again: that spends nothing."
            )
        if any(one.answered for one in shown.view.measurements):
            raise PlanError("This plan has been answered.")
        return shown

    def see(self, named: Iterable[tuple[str, Estimate]]) -> None:
        """Take what was shown, and the names that hold it. On the main thread, after a cell.

        Parameters
        ----------
        named : iterable of (str, Estimate)
            The estimates of the notebook, the name to prefer first.
        """
        names: dict[int, str] = {}
        for name, one in named:
            if one.measurement is not None and name.isidentifier() and not keyword.iskeyword(name):
                names.setdefault(id(one.measurement), name)
        self._seen = {key: (ref(one), names.get(id(one), "")) for one, key in list(self._keys.items())}

    def of(self, key: str) -> tuple[str, PendingQuestion]:
        """Return the name that held a question after the last cell, or nothing where none did, and the question.

        Raises
        ------
        PlanError
            If it is gone, or released by now.
        """
        seen, name = self._seen.get(key, (None, ""))
        question = None if seen is None else seen()
        if question is None:
            raise PlanError(_GONE)
        if question.answered:
            raise PlanError(
                "This question has been answered: run a cell that ends with it to see the answer."
            )
        return name, question
