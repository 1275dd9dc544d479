"""What a curator does beside its answers: examine the whole chain once, keep the journal short, note the mark in the copies.

None of it is in the way of an answer. A fault that the examination finds freezes the ledger, and the owner's log says which
entry it is.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Self

from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.mark import Mark
from dpnb.trusted.errors import CuratorError, DpnbError, OwnerError

_REST = 0.5
"""Seconds without a write after which a ledger rests."""
_ENTRIES = 100
"""Writes after which a ledger that does not rest is checkpointed all the same."""

_GIVES_WAY = 0.001
"""Seconds that the examination leaves to others after every few entries."""


class Upkeep:
    """A thread that looks after an open ledger.

    Parameters
    ----------
    ledger : Ledger
    note : callable
        Writes a fault to the owner's log.
    keep : callable
        Notes a mark in the prepared copies.
    """

    def __init__(
        self, ledger: Ledger, note: Callable[[BaseException, str], None], keep: Callable[[Mark], None]
    ) -> None:
        self._ledger = ledger
        self._note = note
        self._keep = keep
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> Self:
        """Begin; return itself."""
        self._thread.start()
        return self

    def close(self) -> None:
        """End, after what is under way."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._examine()
            self._look_after()
        except CancelledError:
            pass
        except Exception as fault:  # noqa: BLE001 - the thread's end is the owner's business, and no answer's
            self._note(fault, "upkeep")

    def _examine(self) -> None:
        """Recompute the whole ledger, giving way to who asks meanwhile."""
        try:
            fault = self._ledger.verify(ended=lambda: self._ended.wait(_GIVES_WAY)).fault
        except DpnbError as error:  # the file itself cannot be read
            fault = error.message
        if fault is not None:
            self._ledger.freeze(fault)
            self._note(CuratorError(fault), "the ledger's examination")

    def _look_after(self) -> None:
        last, kept = 0, -1
        while not self._ended.wait(_REST) and self._ledger.frozen is None:
            now = self._ledger.writes
            # a full disk or a long reader: tried again at the next turn
            with contextlib.suppress(OwnerError):
                if now == last != kept:
                    self._rest()
                    kept = now
                elif now - kept >= _ENTRIES:
                    self._ledger.checkpoint()
                    kept = now
            last = now

    def _rest(self) -> None:
        self._ledger.cover_all()
        self._ledger.checkpoint()
        if (mark := self._ledger.mark) is not None:
            self._keep(mark)
