"""The session at a glance, and the living budget bar: both read the ledger, neither charges it."""

from __future__ import annotations

from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.client import api
from dpnb.client.handles import Dataset
from dpnb.client.views import PlanView
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.snapshot import dataset_record, snapshot
from dpnb.widgets.wording import still

__all__ = ["BudgetBar", "Panel", "panel"]


class Panel(Interaction):
    """What is open, what it may be asked, what was spent: in step with every cell of the session."""

    module: ClassVar[str] = "panel"
    follows: ClassVar[bool] = True

    def describe(self) -> dict[str, Any]:
        """Take a snapshot of the session; see :class:`Interaction`."""
        return snapshot(api.session())

    def card(self) -> Card:
        """Draw one row for each dataset; see :class:`Interaction`."""
        rows = [
            (one["name"], one["badge"], one["words"], f"{len(one['columns'])}")
            for one in self.facts["datasets"]
        ]
        head = ("dataset", "mode", "budget", "columns")
        empty = [] if rows else ['No dataset is open: hiv = dpnb.open("hiv").']
        return still("panel", "This session", "datasets and budgets", head, rows, self.facts, notes=empty)


def panel() -> Panel:
    """Show what is open and what was spent, in step with every cell of this session."""
    return Panel()


class BudgetBar(Interaction):
    """The budget of a dataset as a bar: a block for each release, and a ghost for a plan.

    Parameters
    ----------
    subject : Dataset or PlanView
        A dataset, or a plan on one: ``dpnb.plan({...}, epsilon=1)``.
    """

    module: ClassVar[str] = "budget"
    follows: ClassVar[bool] = True

    def __init__(self, subject: Any) -> None:
        if not isinstance(subject, Dataset | PlanView):
            raise PlanError(
                f"This takes a dataset or a plan, not {type(subject).__name__}. For example dpnb.widgets.budget(hiv)."
            )
        self._plan = subject if isinstance(subject, PlanView) else None
        self._dataset = subject.dataset if isinstance(subject, PlanView) else subject
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """Read the ledger; see :class:`Interaction`."""
        plan = self._plan
        return {
            "dataset": dataset_record(self._dataset),
            "plan": 0.0 if plan is None else float(plan.cost.amount),
            "planned": "" if plan is None else "This plan",
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the charges as a table; see :class:`Interaction`."""
        one = self.facts["dataset"]
        rows = [
            (", ".join(row["questions"]) or row["kind"], row["paid"]) for row in one["ledger"] if row["paid"]
        ]
        return still(
            "budget", f"Budget of {one['name']}", one["words"], ("question", "paid"), rows, self.facts
        )
