"""The exhibit gallery: every published procedure that is not as private as claimed, one page each, with a lever where one teaches.

Pages are made of the facts of :mod:`dpnb.exhibits`; nothing is said here that is not said there. No data comes in and
nothing is spent: an exhibit holds its own two small datasets. A lever's settings were all computed by the kernel before a
hand moves it, so that it also moves where there is no kernel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import ClassVar, Self

from dpnb.cards.card import Card
from dpnb.errors import OptionError
from dpnb.exhibits import EXHIBITS, find
from dpnb.exhibits.card import exhibit_card, overview_card
from dpnb.exhibits.exhibit import THEMES
from dpnb.exhibits.page import lever_record, record
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.still_picture import drag


class Exhibits(Interaction):
    """The gallery of exhibits.

    Parameters
    ----------
    name : str, optional
        The page to open: an exhibit's name, or a unique part of it. Without it, the index.

    Examples
    --------
    >>> dpnb.widgets.exhibits("resized-bootstrap")  # doctest: +SKIP
    """

    module: ClassVar[str] = "exhibits"

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Show all, or one by its name; see :class:`Interaction`."""
        del names
        return cls(text)

    def __init__(self, name: str = "") -> None:
        self._shown = _named(name)
        self._levers: Facts = {}
        super().__init__(open=self._shown)

    def run(self) -> Exhibits:
        """Compute the lever of every exhibit now, for a page without a kernel."""
        for exhibit in EXHIBITS:
            self._pull(exhibit.name)
        self.refresh()
        return self

    def complete(self) -> None:
        """Compute every lever: a page without a kernel moves them all."""
        self.run()

    def describe(self) -> Facts:
        """State every page, and the levers of those that were opened; see :class:`Interaction`."""
        if self._shown:
            self._pull(self._shown)
        return {
            "themes": list(THEMES),
            "pages": [_page(exhibit.name) for exhibit in EXHIBITS],
            "levers": dict(self._levers),
            "levered": [exhibit.name for exhibit in EXHIBITS if exhibit.lever is not None],
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the open page, or the table of all; see :class:`Interaction`."""
        card = exhibit_card(find(self._shown), drag()) if self._shown else overview_card(EXHIBITS, drag())
        # JupyterLab shows this form in a saved notebook, where it knows it for an interaction's
        return replace(card, kind="interaction", json={"interaction": "exhibits", **card.json})

    def _heard(self, change: object) -> None:
        """Open what the browser opened; what no exhibit is called is refused in the picture, and the page stays."""
        asked = self.chosen.get("open", self._shown)
        asked = asked if isinstance(asked, str) else "?"
        if asked == "" or asked in {exhibit.name for exhibit in EXHIBITS}:
            self._shown = asked
            super()._heard(change)
        else:
            self.facts = {**self.facts, "problem": "No exhibit has that name. The index lists them all."}

    def _pull(self, name: str) -> None:
        if name not in self._levers:
            self._levers[name] = lever_record(find(name))


@cache
def _page(name: str) -> Facts:
    """Everything of a page but its lever."""
    return record(find(name), lever=False)


def _named(given: object) -> str:
    """Return the exhibit that a name, or a part of one, means."""
    if not isinstance(given, str):
        raise OptionError(
            "An exhibit shows its own two small datasets and takes no data: "
            'dpnb.widgets.exhibits("resized-bootstrap"), or exhibits() for all.'
        )
    asked = "-".join(given.casefold().replace("_", " ").split())
    if not asked:
        return ""
    fitting = [exhibit.name for exhibit in EXHIBITS if asked in exhibit.name]
    return fitting[0] if len(fitting) == 1 else find(asked).name
