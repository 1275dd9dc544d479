"""What several threads ask for at once is done in one go: one of them leads, does it for all that wait, and hands over.

So one sync of the disk serves every charge that waited for the one before it, and one scan every question. Nobody waits for
company: who finds nobody at work begins at once, alone. An act that is refused among the others hears so; one that fails is done
again by itself, on its own thread. So no fault or refusal is another's.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

BY_ITSELF: Final = object()
"""What stands for the result of an act of which nothing was done, and which is to be done by itself."""
MOST = 64
"""Acts that are done in one go."""


class GroupedCalls:
    """Acts of several threads, done in one go.

    Parameters
    ----------
    by_itself : callable
        ``by_itself(act)`` does an act, and returns its result or raises.
    in_one : callable
        ``in_one(acts)`` returns for each act its result, the exception that refuses it, or :data:`BY_ITSELF`; when it raises,
        nothing of any was done.
    """

    def __init__(
        self, by_itself: Callable[[Any], Any], in_one: Callable[[Sequence[Any]], Sequence[Any]]
    ) -> None:
        self._by_itself, self._in_one = by_itself, in_one
        self._lock = threading.Lock()
        self._waiting: list[_Act] = []
        self._led = False

    def do(self, act: Any) -> Any:
        """Do an act, and return its result or raise what it raises."""
        mine = _Act(act)
        with self._lock:
            self._waiting.append(mine)
            if not self._led:
                self._next()
        try:
            mine.turn.acquire()  # until it is done, or is to lead
            if not mine.done:
                self._lead()
        except BaseException:  # whoever asked waits no longer
            self._leave(mine)
            raise
        if isinstance(mine.result, Exception):
            raise mine.result
        return self._by_itself(act) if mine.result is BY_ITSELF else mine.result

    def _lead(self) -> None:
        group: list[_Act] = []
        try:
            with self._lock:
                group, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            self._carry_out(group)
        finally:
            with self._lock:
                for one in group:
                    one.done = True
                    one.turn.release()
                self._next()

    def _carry_out(self, group: Sequence[_Act]) -> None:
        if len(group) == 1:
            group[0].result = self._by_itself(group[0].act)
            return
        with contextlib.suppress(Exception):  # each hears its own fault, where it is done by itself
            for one, result in zip(group, self._in_one([one.act for one in group]), strict=True):
                one.result = result

    def _next(self) -> None:
        """Let the first that waits lead."""
        self._led = bool(self._waiting)
        if self._led:
            self._waiting[0].leads = True
            self._waiting[0].turn.release()

    def _leave(self, mine: _Act) -> None:
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
                if mine.leads:
                    self._next()


class _Act:
    """An act that waits, is to lead, or is done."""

    def __init__(self, act: Any) -> None:
        self.act, self.result = act, BY_ITSELF
        self.leads = self.done = False
        self.turn = threading.Lock()
        self.turn.acquire()
