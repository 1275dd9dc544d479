"""A session's line to its curator: ask it, look at it, and hear when its ledger has grown or it has ended.

Asking starts a curator where there is none: a person wants an answer. Looking never does: what is read by itself, after a cell,
on news or while somebody types, would bring back a curator that has ended before anyone could be told that it had.
A request is sent again only after the curator is known to have gone; that it is then charged once is the request id's work.
A forked process asks on a line of its own, whatever a thread of its parent was doing at the fork.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dpnb.client.transport import Transport, decode_reply
from dpnb.errors import CuratorError, CuratorGone, DpnbError, PlanError, from_wire
from dpnb.trusted import system
from dpnb.trusted.wire.codec import MAX_REQUEST, encode
from dpnb.trusted.wire.messages import Again, Attach, Attached, Failure, Message

_ANEW = 2
"""Restart attempts before raising."""
_GLANCE = 0.05
"""Seconds that a glance waits for whoever is speaking with the curator."""
_BACK = 0.5
"""Seconds between two looks whether a curator that has gone is back."""
_LINES: weakref.WeakSet[Line] = weakref.WeakSet()


class Line:
    """The way of one kernel to its curator.

    Parameters
    ----------
    connect : callable
        Returns a transport to a running curator, started when needed.
    handles : callable
        Returns the handles that are open, which a restarted curator does not know yet.
    tell : callable
        Called, on any thread, when the ledger has grown, or the curator has ended or is back; only while :meth:`watch` is on.
    join : callable, optional
        Returns a transport to a curator that runs already, and starts none: after an end, the one that another kernel began anew.
    again : callable, optional
        Returns the message that opens a handle at a curator that does not know it yet.
    """

    def __init__(
        self,
        connect: Callable[[], Transport],
        handles: Callable[[], Iterable[str]],
        tell: Callable[[], None],
        join: Callable[[], Transport | None] | None = None,
        again: Callable[[str], Message] = lambda handle: Attach(source=Again(handle=handle)),
    ) -> None:
        self.connect = connect
        self._again = again
        self._join = join
        self.lock = threading.RLock()
        self._handles, self._tell = handles, tell
        self._transport: Transport | None = None
        self._watched: Transport | None = None
        self._watching = False
        self._gone = False
        self._this = threading.local()
        _LINES.add(self)

    @property
    def transport(self) -> Transport | None:
        """What carries the requests now."""
        return self._transport

    @property
    def gone(self) -> bool:
        """Whether the curator has ended, and none is held since."""
        return self._gone

    # asking and looking ----------------------------------------------------------------------------------------

    def ask(self, message: Message, wanted: type[Any] | None) -> Any:
        """Send a message and return its reply; begin anew, with what was open, when the curator has gone.

        Raises
        ------
        CuratorGone
            It ended twice in a row; or it has ended, and this thread only looks.
        DpnbError
            What the curator refused.
        """
        body = encode(message)  # type: ignore[arg-type]
        if len(body) > MAX_REQUEST:
            raise PlanError(
                f"A batch of {len(body):,} bytes is longer than {MAX_REQUEST:,}: ask fewer questions at once."
            )
        with self.lock:
            for _ in range(_ANEW):
                try:
                    return self.once(body, wanted)
                except CuratorGone as error:
                    self._begin_anew(error, getattr(message, "handle", None))
            return self.once(body, wanted)

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Within it, what this thread asks starts no curator."""
        before, self._this.looks = self._looks, True
        try:
            yield
        finally:
            self._this.looks = before

    def glance(self, message: Message, wanted: type[Any]) -> Any | None:
        """Return the reply to a question where it can be had at once: no curator is started, no cell waited for."""
        if self._transport is None or not self.lock.acquire(timeout=_GLANCE):
            return None
        try:
            with self.looking():
                return self.once(encode(message), wanted)  # type: ignore[arg-type]
        except DpnbError:
            return None
        finally:
            self.lock.release()

    def once(self, body: bytes, wanted: type[Any] | None) -> Any:
        """Send a request body one time."""
        reply = decode_reply(self._reached().send(body))
        if isinstance(reply, Failure):
            raise from_wire({"code": reply.code, "message": reply.message, "details": reply.details})
        if wanted is not None and not isinstance(reply, wanted):
            raise CuratorError("The curator's answer does not belong to this question.")
        return reply

    @property
    def _looks(self) -> bool:
        return getattr(self._this, "looks", False)

    def _reached(self) -> Transport:
        if self._transport is None:
            if self._looks:
                raise CuratorGone(
                    "The curator process has ended. Run a line that asks it, for example %dp budget: "
                    "it starts again, with the budget intact."
                )
            return self._hold(self.connect())
        return self._transport

    def _hold(self, transport: Transport) -> Transport:
        back = self._gone
        self._transport, self._gone = transport, False
        if self._watching:
            self.watch()
            if back:
                self._tell()
        return transport

    def _begin_anew(self, error: CuratorGone, handle: str | None) -> None:
        if error.details.get("reattach"):
            for one in self._handles() if handle is None else [handle]:
                self.once(encode(self._again(one)), Attached)  # type: ignore[arg-type]
            return
        self._end(self._transport)
        if self._looks:
            raise error

    # the life-line ---------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Hear the life-line from now on; a curator that is started later is heard from its start."""
        self._watching = True
        transport = self._transport
        if transport is None or transport is self._watched:
            return
        self._watched = transport
        threading.Thread(target=self._hear, args=(transport,), name="dpnb-life-line", daemon=True).start()

    def leave(self) -> None:
        """Disconnect as the process ends: tell nobody, and wait for no thread that still asks."""
        self._tell = lambda: None
        if self.lock.acquire(blocking=False):
            self._drop()
            self.lock.release()

    def close(self) -> None:
        """Disconnect from the curator; it ends soon after its last kernel."""
        with self.lock:
            self._drop()
            self._gone = False

    def _hear(self, transport: Transport) -> None:
        """Hear a life-line to its end; what ended is gone, unless it was let go of here."""
        while transport.wait():
            self._tell()
        self._end(transport)
        self._tell()
        while self._gone and self._join is not None:
            time.sleep(_BACK)
            self._join_again(self._join)

    def _join_again(self, join: Callable[[], Transport | None]) -> None:
        """Hold the curator that another kernel began anew, if there is one by now."""
        with self.lock, contextlib.suppress(DpnbError):
            found = join() if self._gone else None
            if found is not None:
                self._hold(found)

    def _end(self, transport: Transport | None) -> None:
        with self.lock:
            if transport is not None and self._transport is transport:
                self._drop()
                self._gone = True

    def _drop(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None


def _after_fork() -> None:
    """Give a forked process locks that no thread of its parent holds for ever."""
    for line in list(_LINES):
        line.lock = threading.RLock()


@atexit.register
def _at_exit() -> None:
    """Leave no socket to be closed by whoever collects it, which Python warns of."""
    for line in list(_LINES):
        line.leave()


system.after_fork(_after_fork)
