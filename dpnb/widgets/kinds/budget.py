"""The living budget bar of a dataset: a block for each release, and a ghost for a plan; it reads the ledger and never charges it.

A plan that does not fit is shown with the ways out, each a cell that a person may run.
"""

from __future__ import annotations

from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.client.handles import Dataset
from dpnb.client.plan_view import PlanView
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.plan_facts import as_it_stands
from dpnb.widgets.registry import Facts
from dpnb.widgets.remedies import ways_out
from dpnb.widgets.snapshot import dataset_record, listed, now
from dpnb.widgets.still_picture import bars, still, when


class Budget(Interaction):
    """The budget of a dataset as a bar: a block for each release, and a ghost for a plan.

    Parameters
    ----------
    subject : Dataset or PlanView
        A dataset, or a plan on one: ``dpnb.plan({...}, epsilon=1)``.
    body : str, optional
        The cell of the plan, without its magic line.
    """

    module: ClassVar[str] = "budget"
    follows: ClassVar[bool] = True

    def __init__(self, subject: object, *, body: str | None = None) -> None:
        if not isinstance(subject, Dataset | PlanView):
            raise PlanError(
                f"This takes a dataset or a plan, not {type(subject).__name__}. For example dpnb.widgets.budget(hiv)."
            )
        self._body = body
        self._plan = subject if isinstance(subject, PlanView) else None
        self._dataset = subject.dataset if isinstance(subject, PlanView) else subject
        super().__init__()

    def describe(self) -> Facts:
        """Read the ledger; see :class:`Interaction`."""
        plan = self._replanned()
        facts = {"at": now(), "dataset": dataset_record(self._dataset), "problem": ""}
        if plan is None:
            return {**facts, "plan": 0.0, "planned": "", "events": [], "ways": []}
        paid = [item for item, stored in zip(plan.items, plan.stored, strict=True) if not stored]
        return {
            **facts,
            "plan": float(plan.cost.amount),
            "planned": "This plan" if self._body is None else "This cell",
            "events": listed(event for item in paid for event in item.events),
            "ways": ways_out(plan, self._body),
        }

    def _replanned(self) -> PlanView | None:
        """The plan as it stands now: what is stored and left may have changed; what was released of it stays as it was."""
        view = self._plan
        if view is None or any(one.answered for one in view.measurements):
            return view
        return as_it_stands(view)

    def card(self) -> Card:
        """Draw the charges as a table, and the ways out; see :class:`Interaction`."""
        one = self.facts["dataset"]
        rows = [
            (", ".join(row["questions"]) or row["kind"], row["paid"]) for row in one["ledger"] if row["paid"]
        ]
        about = f"{one['words']}, as it stood at {when(self.facts['at'])}"
        notes = [_said(way) for way in self.facts["ways"]]
        title = f"Budget of {one['name']}"
        picture = bars("spent of the budget", [(one["name"], one["used"], f"{one['used']:.0%} spent")])
        head = ("question", "paid")
        return still("budget", title, about, head, rows, self.facts, notes=notes, picture=picture)


def _said(way: dict[str, str]) -> str:
    line = way["cell"].partition("\n")[0]
    return f"{way['label']}: {way['why']}" + (f" ({line})" if line else "")
