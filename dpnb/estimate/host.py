"""What surrounds a session: a plain script, unless a notebook provides more; and what draws estimates.

Lower rooms may not import the notebook, so it provides one object, and what it does not do falls back to what a script does. Nothing
here decides anything about privacy. What may never change: without a host everything works, and nothing is drawn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from dpnb.errors import PlanError
from dpnb.trusted.canonical import Record

_UNLOADED = "This notebook has not loaded dpnb. Run: %load_ext dpnb"


class Host:
    """A plain script: nothing is drawn, nobody is told, and no name is known."""

    #: Whether somebody wants to hear when a ledger grows or a curator ends.
    listens: bool = False

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        """The file name under which a cell is compiled, and what a person calls the cell: ``"In[5]"``."""

    def show_pending(self, estimate: object) -> bool:
        """Draw a pending estimate, to be redrawn when it is released; return whether it was drawn."""
        del estimate
        return False

    def bundle(self, estimate: object) -> dict[str, object]:
        """Return the MIME bundle of an estimate."""
        return {"text/plain": repr(estimate)}

    def opened(self, dataset: object) -> None:
        """Show a dataset that was just opened."""

    def progress(self, what: str) -> contextlib.AbstractContextManager[object]:
        """Return a context that shows how long something takes."""
        return contextlib.nullcontext(what)

    def ledger_changed(self) -> None:
        """Hear, on any thread, that a ledger has grown, a dataset was opened, or the curator came or went."""

    def names(self) -> Mapping[str, Any] | None:
        """Return the names of handles and released answers; None where there is no notebook."""
        return None

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the cells that ran, in order; none where there is no notebook."""
        return ()

    def ask(self, asked: Mapping[str, object]) -> Record:
        """Answer what an interaction asks of the notebook around it; no question spends."""
        del asked
        return {"is": "refusal", "problem": _UNLOADED}


Views = tuple[Callable[..., Any], Callable[..., Any]]
"""What draws an estimate, and what tells how it came about."""

_views: Callable[[], Views] | None = None


def provide_views(load: Callable[[], Views]) -> None:
    """Set what draws estimates: the cards, which are in a higher package; `load` is called when something is drawn."""
    global _views  # noqa: PLW0603 -- one kernel has one way to draw
    _views = load


def provided_views() -> Callable[[], Views] | None:
    """Return what loads the views; a pickled estimate names it, so that reading it loads them too."""
    return _views


def views() -> Views:
    """Return what draws estimates.

    Raises
    ------
    PlanError
        If nothing was loaded that draws.
    """
    if _views is None:
        raise PlanError("Nothing that draws estimates is loaded. Run: import dpnb.cards")
    return _views()


_SCRIPT = Host()
_host = _SCRIPT


def current_host() -> Host:
    """Return the host of this session."""
    return _host


def provide(host: Host | None) -> None:
    """Set the host of this session; None is a plain script again."""
    global _host  # noqa: PLW0603 -- one kernel has one surrounding
    _host = _SCRIPT if host is None else host
