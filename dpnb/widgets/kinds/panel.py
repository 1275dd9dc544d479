"""The session at a glance: it reads the ledger and never charges it.

The panel's questions (the rest of the ledger, a model's cell, the paragraph for a paper) go the way of the extension's: no
message spends.
"""

from __future__ import annotations

from typing import ClassVar, Self

from dpnb.cards.card import Card
from dpnb.client import api
from dpnb.errors import OptionError
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.snapshot import snapshot
from dpnb.widgets.still_picture import bars, still, when


class Panel(Interaction):
    """What is open, what you can ask, and what was spent, updated after every cell of the session."""

    module: ClassVar[str] = "panel"
    follows: ClassVar[bool] = True

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Show every open dataset; see :class:`Interaction`."""
        del names
        if text:
            raise OptionError("%dp panel takes nothing: it shows every open dataset.")
        return cls()

    def describe(self) -> Facts:
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
        said = [self.facts["problem"]] if self.facts["problem"] else empty
        about = f"datasets and budgets at {when(self.facts['at'])}"
        drawn = [(one["name"], one["used"], one["words"]) for one in self.facts["datasets"]]
        picture = bars("spent of each budget", drawn)
        return still("panel", "This session", about, head, rows, self.facts, notes=said, picture=picture)


def panel() -> Panel:
    """Show what is open and what was spent, updated after every cell of this session."""
    return Panel()
