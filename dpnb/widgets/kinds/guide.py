"""A first question in five small screens: what to know, of which column, who is protected, how accurate, and the cell that asks.

The guide writes the question with the name that the notebook gave the dataset and prices it with the code that charges; it
spends nothing. Its last screen shows the ``%%dp`` cell, which releases when a person runs it. A page without a kernel brings
every question priced.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import ClassVar

from dpnb.cards.budget import used_share
from dpnb.cards.budget import words as budget_words
from dpnb.cards.card import Card
from dpnb.cards.markup import clean
from dpnb.client.handles import Dataset
from dpnb.client.plan_view import PlanView
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.request import Ask
from dpnb.planner.schema_words import mode_badge, mode_sentence, unit_sentence
from dpnb.trusted.query.plan import Share
from dpnb.trusted.schema import Column
from dpnb.widgets._base import Interaction
from dpnb.widgets.accuracy import RANK
from dpnb.widgets.curve import by_rank, curve_of, kind_of, left_of
from dpnb.widgets.host_questions import handle_of, opening
from dpnb.widgets.plan_facts import NUMBER
from dpnb.widgets.questions import GOALS, subject, two_valued
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.still_picture import bars, still

_MOST_PLANS = 200
"""So many questions are priced for a page without a kernel: each takes about a kilobyte and a twentieth of a second."""


class Guide(Interaction):
    """A guide to a first question about a dataset.

    Parameters
    ----------
    dataset : Dataset
        An open dataset.

    Examples
    --------
    >>> dpnb.widgets.guide(hiv)  # doctest: +SKIP
    """

    module: ClassVar[str] = "guide"
    example: ClassVar[str] = "hiv"

    def __init__(self, dataset: object) -> None:
        if not isinstance(dataset, Dataset):
            raise PlanError(
                f"A guide takes an open dataset, not {type(dataset).__name__}: dpnb.widgets.guide(hiv)."
            )
        self._dataset = dataset.root
        super().__init__()

    def describe(self) -> Facts:
        """State what can be asked, and price what is chosen; see :class:`Interaction`."""
        schema = self._dataset.schema
        goals = [
            {"id": name, "words": goal.words, "compares": goal.compares, "columns": columns}
            for name, goal in GOALS.items()
            if (columns := [column.name for column in schema.columns if goal.fits(column)])
        ]
        return {
            "dataset": schema.name,
            "handle": handle_of(self._dataset),
            "goals": goals,
            "columns": [_about(column) for column in schema.columns],
            "groups": [column.name for column in schema.columns if two_valued(column)],
            "unit": unit_sentence(schema.unit),
            "mode": f"{mode_badge(self._dataset.mode)}: {mode_sentence(self._dataset.mode)}",
            "plan": self._plan(self.chosen),
            "problem": "",
        }

    def complete(self) -> None:
        """Price every question that can be chosen; see :class:`Interaction`."""
        self.facts = {**self.facts, "plans": [*map(self._plan, islice(self._choices(), _MOST_PLANS))]}

    def _choices(self) -> Iterator[dict[str, str]]:
        """Yield every complete choice of the first two screens."""
        for goal in self.facts["goals"]:
            for column in goal["columns"]:
                groups = [by for by in self.facts["groups"] if by != column] if goal["compares"] else [""]
                yield from ({"goal": goal["id"], "column": column, "by": by} for by in groups)

    def _plan(self, chosen: Names) -> Facts | None:
        """A question as code and as a price; nothing while the choice is not complete."""
        goal = GOALS.get(str(chosen.get("goal")))
        column, by = chosen.get("column"), chosen.get("by")
        if goal is None or column not in self._dataset.schema.names or (goal.compares and not by):
            return None
        if not goal.fits(self._dataset.schema[column]) or (goal.compares and by == column):
            return None
        of = {"goal": chosen["goal"], "column": column, "by": by if goal.compares else ""}
        try:
            question = goal.ask(self._dataset[column], by)
        except DpnbError as error:
            return {**of, "code": "", "refused": str(error)}
        line = goal.line(subject(handle_of(self._dataset), column), column, by if goal.compares else None)
        return {**of, "code": opening(self._dataset) + line, "refused": "", **self._priced(question)}

    def _priced(self, question: Estimate) -> Facts:
        measurement = question.measurement
        assert measurement is not None
        kind, checked = kind_of(measurement), measurement.checked
        sizes = self._dataset.session.sizes(self._dataset)
        rows, setting = sizes.planned(checked), sizes.known(checked).setting
        try:
            curve: Facts | None = curve_of(measurement, kind, rows or setting.at_most).to_json()
        except PlanError:
            curve = None
        pricing = checked.price(Share(kind, Fraction(1)))
        words = checked.kind.accuracy(setting, pricing, None if rows is None else float(rows))
        number = NUMBER.match(words)
        return {
            "kind": kind,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "curve": curve,
            "words": words,
            "given": clean(words[number.end() :].strip()) if number else RANK if by_rank(measurement) else "",
            **self._stored(measurement),
            "left": left_of(measurement),
        }

    def _stored(self, question: PendingQuestion) -> Facts:
        """The largest loss that a stored answer of a question covers, up to which it costs nothing again, and how accurate it is."""
        kind = kind_of(question)
        (share,) = self._preview(question, kind, 1).held
        if share is None or share.kind != kind:
            return {"held": None, "stored": ""}
        (item,) = self._preview(question, kind, share.amount).items
        return {"held": float(share.amount), "stored": item.preview.words.removesuffix(", as stored")}

    def _preview(self, question: PendingQuestion, kind: str, loss: Fraction | int) -> PlanView:
        ask = Ask.make(epsilon=loss) if kind == "epsilon" else Ask.make(rho=loss)
        return self._dataset.session.preview([question], ask)

    def card(self) -> Card:
        """Draw the questions that can be asked, one row each; see :class:`Interaction`."""
        name, handle = self._dataset.name, handle_of(self._dataset)
        rows = []
        for goal in self.facts["goals"]:
            column = goal["columns"][0]
            groups = [group for group in self.facts["groups"] if group != column]
            if goal["compares"] and not groups:
                continue
            line = GOALS[goal["id"]].line(subject(handle, column), column, (groups or [None])[0])
            rows.append((goal["words"], line.partition(" = ")[2]))
        notes = [f"Who is protected: {self.facts['unit']}.", "In a cell that begins with %%dp epsilon=0.5."]
        head = ("to know", "ask, for example")
        state = self._dataset.budget.state()
        spent = state.cap - state.left
        left = (name, used_share(spent, state.cap), budget_words(state.left, state.cap, state.whose))
        picture = bars("spent of the budget", [left])
        return still(
            "guide",
            f"A first question about {name}",
            name,
            head,
            rows,
            self.facts,
            notes=notes,
            picture=picture,
        )


def _about(column: Column) -> dict[str, str]:
    """What the schema says of a column."""
    missing = "people without it are left out" if column.drops else f"missing counts as {column.missing}"
    return {
        "name": column.name,
        "label": column.label or column.name,
        "words": f"{column.describe()}; {missing}",
    }
