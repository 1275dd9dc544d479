"""A thread that passes news on: what comes in a burst is passed on once, and the last of it is never lost.

It knows nothing of what the news is. It never raises into whoever brings them, and never waits for them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

_REST = 0.1


class News:
    """Passes news on.

    Parameters
    ----------
    tell : callable
        Called on this thread, at once for the first news, and for later ones when it has rested.
    rest : float
        Seconds between two calls.
    """

    def __init__(self, tell: Callable[[], None], rest: float = _REST) -> None:
        self._tell, self._rest = tell, rest
        self._came, self._over = threading.Event(), threading.Event()

    def start(self) -> None:
        """Begin to listen."""
        self._over.clear()
        threading.Thread(target=self._run, name="dpnb-news", daemon=True).start()

    def stop(self) -> None:
        """Pass nothing on any more."""
        self._over.set()
        self._came.set()

    def put(self) -> None:
        """Bring news; it returns at once."""
        self._came.set()

    def _run(self) -> None:
        while self._came.wait() and not self._over.is_set():
            self._came.clear()
            with contextlib.suppress(
                Exception
            ):  # a front end that went, a curator that is busy: the next news tell again
                self._tell()
            self._over.wait(self._rest)
