"""A process of its own for a student's function: it holds the function and what that is given, and none of the check's answers.

It is forked from a new thread, so that the frames of the check are not below the function, and before a check draws a case, so that
what is drawn later is not in it. It works as the notebook does (names, imports, files), prints what the function prints, and what the
function does to the notebook's variables ends with it.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any, NamedTuple

import numpy as np

from dpnb.trusted import system

Work = Callable[[Any], Any]
"""What a child does with each thing that it is sent."""
_PIPE: Callable[[], tuple[Any, Any]] = Pipe
_PRINTED = 2_000
"""Characters of what a function prints that are shown."""
_GRACE = 5.0
"""Seconds for which a child that should have ended by itself is waited for."""


class Reply(NamedTuple):
    """What came of one thing that was sent: a value, or the words of what went wrong; and what was printed."""

    value: Any
    trouble: tuple[str, str, str] | None = None
    printed: str = ""


class Child:
    """A forked process that answers what it is sent, one thing at a time.

    Parameters
    ----------
    work : callable
        ``work(task)`` returns a `Reply`; it is the only thing of the check that the process runs.
    """

    def __init__(self, work: Work) -> None:
        self._here, there = _PIPE()
        self._pid = _forked(work, self._here, there)
        there.close()
        self.ended = False
        """Whether the process has ended by itself."""

    def ask(self, task: object, seconds: float) -> Reply | None:
        """Return the reply to a task; None where there is none after so many seconds, or the process ended.

        Raises
        ------
        TypeError, AttributeError, pickle.PicklingError
            For a task that cannot be sent to another process.
        """
        self._here.send(task)
        end = time.monotonic() + seconds + _GRACE
        try:
            if not self._here.poll(max(0.0, end - time.monotonic())):
                return None
            reply: Reply = self._here.recv()
        except (EOFError, ConnectionError):
            self.ended = True
            return None
        sys.stdout.write(reply.printed)
        return reply

    def close(self) -> None:
        """End the process, whatever it does."""
        self._here.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, 9)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _forked(work: Work, here: Connection, there: Connection) -> int:
    """Fork from a new thread, whose frames are the child's only ones."""
    found: list[int] = []

    def fork() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # other threads of a kernel hold no lock that a function needs
            pid = system.fork()
        if pid:
            found.append(pid)
            return
        try:
            here.close()
            _prepare()
            serve(work, there)
        finally:
            os._exit(0)

    thread = threading.Thread(target=fork, name="dpnb-check")
    thread.start()
    thread.join()
    return found[0]


def _prepare() -> None:
    """Collect nothing of the notebook's, and let two children draw differently from generators that have no owner."""
    gc.freeze()
    np.random.seed(int.from_bytes(os.urandom(4), "big"))  # noqa: NPY002 - students' functions may use it
    random.seed()


def serve(work: Work, pipe: Connection) -> None:
    """Answer what comes through a pipe until it is closed."""
    while True:
        try:
            task = pipe.recv()
        except (EOFError, ConnectionError):
            return
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            reply = work(task)
        try:
            pipe.send(reply._replace(printed=printed.getvalue()[:_PRINTED]))
        except ConnectionError:
            return
        except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError):
            kind = type(reply.value).__name__
            said = f"The function returns something that cannot be sent to another process ({kind})."
            pipe.send(Reply(None, ("no number", said, "Return numbers, an array or a table.")))


def available() -> bool:
    """Whether the system can fork; elsewhere a function runs beside the check."""
    return system.FORKS
