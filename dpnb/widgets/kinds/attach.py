"""The attach card that can be worked with: what everybody may know of a dataset, its budget as it stands, questions to take.

It is drawn from the public schema and the ledger: no row, no count, no value that was observed. Taking a question writes it
into a cell; nothing is asked and nothing is spent. Its still form is the card that ``dpnb.open`` shows.
"""

from __future__ import annotations

from typing import ClassVar

from dpnb.cards.attach import attach_card
from dpnb.cards.card import Card
from dpnb.client.handles import Dataset
from dpnb.errors import OptionError, PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts
from dpnb.widgets.snapshot import attach_facts


class Attach(Interaction):
    """A dataset's card: privacy unit, mode, columns with questions to copy, made-up rows and the current budget.

    Parameters
    ----------
    dataset : Dataset
        An open dataset.
    name : str, optional
        Its variable name in the notebook, if that differs from its own name; questions are written with it.

    Examples
    --------
    >>> dpnb.widgets.attach(hiv)  # doctest: +SKIP
    """

    module: ClassVar[str] = "attach"
    example: ClassVar[str] = "hiv"
    named: ClassVar[bool] = True
    follows: ClassVar[bool] = True

    def __init__(self, dataset: object, *, name: object = None) -> None:
        if not isinstance(dataset, Dataset):
            raise PlanError(
                f"An attach card takes an open dataset, not {type(dataset).__name__}: dpnb.widgets.attach(hiv)."
            )
        if name is not None and not (isinstance(name, str) and name.isidentifier()):
            raise OptionError("name= is what the notebook calls the dataset, for example name='hiv'.")
        self._dataset, self._name = dataset.root, name
        super().__init__()

    def describe(self) -> Facts:
        """Read the schema and the ledger; see :class:`Interaction`."""
        return attach_facts(self._dataset, self._name)

    def card(self) -> Card:
        """Draw the card of ``dpnb.open``; see :class:`Interaction`."""
        one = self._dataset
        return attach_card(one.schema, one.budget, one.notes)
