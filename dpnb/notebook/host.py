"""The notebook as what surrounds a session: it draws, shows progress, knows names, and tells its front ends."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display as show

from dpnb.estimate import Host
from dpnb.notebook.comm import Link
from dpnb.notebook.display import Screen, attach_bundle, estimate_bundle
from dpnb.notebook.progress import Progress


class NotebookHost(Host):
    """One notebook.

    Parameters
    ----------
    screen : Screen
        What is drawn and redrawn.
    link : Link
        The way to its front ends.
    """

    def __init__(self, screen: Screen, link: Link) -> None:
        super().__init__()
        self._screen, self._link = screen, link

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """Whether there are front ends that can be told."""
        return self._link.connected

    def show_pending(self, estimate: Any) -> bool:
        """Draw a pending estimate; it is drawn anew in its place when it is released."""
        self._screen.show_estimate(estimate)
        return True

    def bundle(self, estimate: Any) -> dict[str, Any]:
        """Return the card of an estimate."""
        return estimate_bundle(estimate)

    def opened(self, dataset: Any) -> None:
        """Draw the card of a dataset that was just opened."""
        show(attach_bundle(dataset), raw=True)

    def progress(self, what: str) -> contextlib.AbstractContextManager[Any]:
        """Show elapsed time after half a second, and nothing else."""
        return Progress(what)

    def ledger_changed(self) -> None:
        """Tell the front ends, at once and on a thread of its own."""
        self._link.tell()

    def names(self) -> Mapping[str, Any]:
        """Return what the notebook calls its handles and its released answers."""
        return self._link.names()

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the cells that ran, as they were typed."""
        shell = get_ipython()
        history = None if shell is None else shell.history_manager
        return () if history is None else tuple(text for text in history.input_hist_raw if text)

    def ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Answer as the front ends of JupyterLab are answered."""
        return self._link.asked(asked) if self._link.connected else super().ask(asked)
