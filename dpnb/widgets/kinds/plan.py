"""Plan before you spend: the questions of a cell, the split of its loss to drag, and the cell that releases it.

The board spends nothing. Its Release button leaves a ``%%dp`` cell behind, with the loss and the weights on the magic line
and the body as it was written; where JupyterLab's extension is around, that cell is run at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

from dpnb.cards.card import Card
from dpnb.cards.plan import plan_card
from dpnb.client import api
from dpnb.client.plan_view import PlanView
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.curve import Curves
from dpnb.widgets.plan_facts import as_it_stands, board
from dpnb.widgets.registry import Facts, Names, value_of


class Plan(Interaction):
    """A plan whose loss and split can be dragged.

    Parameters
    ----------
    view : PlanView
        What ``dpnb.plan({...}, epsilon=1)`` returns.
    body : str, optional
        The body of the cell that asks these questions; by default one line for each named question.

    Examples
    --------
    >>> dpnb.widgets.plan(dpnb.plan({"m": hiv.got.mean()}, epsilon=1))  # doctest: +SKIP
    """

    module: ClassVar[str] = "plan"
    follows: ClassVar[bool] = True

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Show a plan, or the plan of what follows for ε 1; see :class:`Interaction`."""
        found = value_of(names, text, '%dp plan {"m": hiv.age.mean()}')
        return cls(found if isinstance(found, PlanView) else api.plan(found, epsilon=1))

    def __init__(self, view: object, *, body: str | None = None) -> None:
        if not isinstance(view, PlanView):
            raise PlanError(
                f"This takes a plan, not {type(view).__name__}. For example "
                'dpnb.widgets.plan(dpnb.plan({"m": hiv.got.mean()}, epsilon=1)).'
            )
        self._view, self._body = view, body
        self._curves = Curves()
        self._told: tuple[object, Facts] | None = None
        super().__init__()

    def describe(self) -> Facts:
        """Look up what is stored and left now; price what is not priced yet; see :class:`Interaction`."""
        view = self._now()
        key = (view.stored, view.held, repr(sorted(self.chosen.items(), key=lambda item: item[0])))
        if self._told is None or self._told[0] != key:
            self._told = key, board(view, self._body, self.chosen, self._curves)
        return {**self._told[1], "left": float(view.left.amount)}

    def _now(self) -> PlanView:
        """The plan as it stands after what was released since; once its own questions are answered, as it stood."""
        view = self._view
        if any(one.answered for one in view.measurements):
            now = view.dataset.budget.state()
            return replace(view, left=now.left, cap=now.cap, whose=now.whose)
        return as_it_stands(view)

    def card(self) -> Card:
        """Draw the plan card; see :class:`Interaction`."""
        return plan_card(self._view)
