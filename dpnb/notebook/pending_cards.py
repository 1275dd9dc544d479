"""The pending questions that were shown: each has a key, by which its card asks about it.

Nothing here keeps a question alive, and nothing is found before the cell that showed it is over: what a cell asks is decided by
what it holds alone. A key is a digest of what was asked, so that a notebook that is run again saves the same card; a kernel that
did not ask the same finds no question by it.
"""

from __future__ import annotations

import hashlib
import itertools
import keyword
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

from dpnb.cards.markup import clean
from dpnb.client.plan_view import PlanView
from dpnb.errors import PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.trusted.canonical import Record
from dpnb.widgets.accuracy import Balance, planned_size
from dpnb.widgets.curve import Curves, question_of
from dpnb.widgets.forecasts import forecast, holder
from dpnb.widgets.plan_facts import as_it_stands, board

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
        """Return the key of a question that is being shown; of equal questions that live, each has its own."""
        if question not in self._keys:
            digest, taken = _digest(_written(question)), set(self._keys.values())
            tries = itertools.chain([digest], (f"{digest}-{number}" for number in itertools.count(2)))
            self._keys[question] = next(key for key in tries if key not in taken)
        return self._keys[question]

    def plan_key(self, shown: ShownPlan) -> str:
        """Return the key of a plan that is being shown; of equal plans the newest is found by it. Whoever shows it keeps it, and its questions, alive."""
        view = shown.view
        asked = [(view.labels.get(one, ""), _written(one)) for one in view.measurements]
        key = _digest(repr((asked, view.ask, shown.body, shown.verb)))
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


def _written(question: PendingQuestion) -> str:
    return f"{question.question.canonical()} {question.weight} {question.spend}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
    figures : callable, optional
        Returns the released figures of SELECTs: the name of the SELECT, the expression of the figure, and the figure.
    """

    def __init__(
        self,
        held: Callable[[], Sequence[tuple[str, Estimate]]],
        waiting: Waiting | None = None,
        stops: Callable[[], bool] = lambda: False,
        figures: Callable[[], Sequence[tuple[str, str, Estimate]]] = tuple,
    ) -> None:
        self._held, self._stops, self._figures = held, stops, figures
        self._waiting = Waiting() if waiting is None else waiting
        self._curves, self._balance = Curves(), Balance()

    def seesaw(self, asked: Mapping[str, Any]) -> Record:
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

    def remeasure(self, asked: Mapping[str, object]) -> Record:
        """Return what paying more for the answer of a card would buy.

        Raises
        ------
        PlanError
            If no name holds the answer any more, or its accuracy cannot be forecast.
        """
        name, held, estimate = self._holder(asked)
        facts = forecast(estimate, name, self._curves)
        return {"is": "remeasure", "facts": facts if held == name else {**facts, "held": held}}

    def board(self, asked: Mapping[str, object]) -> Record:
        """Return the board of a plan's card as it stands now, after whatever was released since, in any notebook.

        Raises
        ------
        PlanError
            If the plan is gone, or answered.
        """
        shown = self._waiting.plan(str(asked.get("plan", "")))
        return {"is": "board", "facts": board(as_it_stands(shown.view), shown.body, verb=shown.verb)}

    def _holder(self, asked: Mapping[str, object]) -> tuple[str, str, Estimate]:
        """Return the name for what more buys, the expression of the answer that it is added to, and that answer."""
        name, releases = str(asked.get("name", "")), asked.get("releases")
        if not isinstance(releases, list) or not 0 < len(releases) <= _MOST:
            raise PlanError("This card does not say which answer it shows. Run its cell again: it is stored.")
        figures, wanted = self._figures(), [str(one) for one in releases]
        selects = {select for select, _, _ in figures}
        held = [
            (called, one) for called, one in self._held() if called.isidentifier() and called not in selects
        ]
        found = holder(held, name, wanted)
        if found is not None:
            return found[0], *found
        question = str(asked.get("question", ""))
        for called, one in held:
            if called == name or one.text == question:
                raise PlanError(f"{clean(called)} now holds another answer: its newer card shows it.")
        figure = holder([(expression, one) for _, expression, one in figures], name, wanted)
        if figure is not None:
            return _apart(figure[0], {*selects, *dict(held)}), *figure
        raise PlanError(
            "No variable of this notebook holds this answer. Give it a name, in SQL as n << SELECT …, and run its cell again: "
            "the answer is stored, and free."
        )


def _apart(expression: str, taken: Container[str]) -> str:
    """Return a name of its own for a figure of a SELECT, whose answer stays as it is: ``bands_pay`` for ``bands['pay']``."""
    name = re.sub(r"\W+", "_", expression).strip("_")
    while name in taken:
        name += "_"
    return name
