"""Waiting, shown: elapsed time after half a second, and nothing else.

No size, count or fraction is shown, because each would say something about the rows. The line that waits is the
place where the card is drawn when the answer comes; if none comes, the line says how long the wait was.
"""

from __future__ import annotations

import contextvars
import threading
import time
from types import TracebackType
from typing import Any, Self

from IPython.display import DisplayHandle, display

PATIENCE = 0.5
TICK = 0.5


class Progress:
    """A context that shows elapsed time once a wait is longer than ``patience`` seconds."""

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
        end = (
            f"stopped after {self.elapsed:.1f} s"
            if kind is not None
            else f"{self.what}: {self.elapsed:.1f} s"
        )
        self._say(end)

    @property
    def elapsed(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self._start

    def finish(self, bundle: dict[str, Any]) -> DisplayHandle:
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
