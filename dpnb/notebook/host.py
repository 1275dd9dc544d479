"""The notebook as what surrounds a session: it draws, shows progress, knows names, and tells its front ends."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle, display

from dpnb.estimate import Host
from dpnb.notebook.display import Bundle, Screen, attach_bundle, estimate_bundle
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    from dpnb.notebook.comm import Link


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
        self._opening: tuple[int, Progress] | None = None

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """Whether there are front ends that can be told."""
        return self._link.connected

    def show_pending(self, estimate: Any) -> bool:
        """Draw a pending estimate; it is drawn anew in its place when it is released."""
        self._screen.show_estimate(estimate)
        return True

    def bundle(self, estimate: Any) -> Bundle:
        """Return the card of an estimate, or of synthetic rows."""
        if not isinstance(estimate, PairTables):
            return estimate_bundle(estimate)
        from dpnb.cards.synthetic import synthetic_bundle  # what it draws with takes long to load

        return synthetic_bundle(estimate)

    def opened(self, dataset: Any) -> None:
        """Draw the card of a dataset that was just opened, in the place of the line that said how long that took."""
        cell, progress = self._opening or (-1, Progress())
        (progress if cell == _cell() else Progress()).finish(attach_bundle(dataset))
        self._opening = None

    def progress(self, what: str) -> contextlib.AbstractContextManager[object]:
        """Show elapsed time after half a second, and nothing else."""
        progress = Progress(what)
        self._opening = _cell(), progress
        return progress

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

    def ask(self, asked: Mapping[str, object]) -> Record:
        """Answer as the front ends of JupyterLab are answered."""
        return self._link.asked(asked) if self._link.connected else super().ask(asked)


def _cell() -> int:
    """The number of the cell that runs."""
    shell = get_ipython()
    return 0 if shell is None else int(shell.execution_count)


PATIENCE = 0.5
TICK = 0.5


class Progress:
    """A context that shows elapsed time once a wait is longer than ``patience`` seconds, and nothing else.

    No size, count or fraction is shown, because each would say something about the rows. The card is drawn where the line stood;
    where there is none, the line stays without its seconds.
    """

    def __init__(self, what: str = "waiting for the curator", patience: float | None = None) -> None:
        self.what = what
        self.patience = PATIENCE if patience is None else patience
        self.handle: DisplayHandle | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._start = 0.0

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        context = contextvars.copy_context()  # the kernel knows by context which cell an output belongs to
        self._thread = threading.Thread(
            target=context.run, args=(self._watch,), daemon=True, name="dpnb-progress"
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        # no seconds where nothing went wrong: a notebook that is run again is saved as it was
        self._say(f"{self.what}: done" if kind is None else f"stopped after {self.elapsed:.1f} s")

    @property
    def elapsed(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self._start

    def finish(self, bundle: Bundle) -> DisplayHandle:
        """Draw a result where the progress line was, or anew; return its handle."""
        if self.handle is None:
            self.handle = display(bundle, raw=True, display_id=True)
        else:
            self.handle.update(bundle, raw=True)
        return self.handle

    def _watch(self) -> None:
        if self._done.wait(self.patience):
            return
        text = {"text/plain": f"{self.what} … {self.elapsed:.1f} s"}
        self.handle = display(text, raw=True, display_id=True)
        while not self._done.wait(TICK):
            self._say(f"{self.what} … {self.elapsed:.1f} s")

    def _say(self, text: str) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": text}, raw=True)
