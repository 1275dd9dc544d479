"""The sessions of this process: one with the current home, one with each service, and one for each seed, whose curator has a home
of its own.

A dataset belongs to the session that opened it, and asks there. What names no dataset (``%dp budget``, the panel) is about the
session in which a dataset was opened last.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import sys
import time
from pathlib import Path

from dpnb.client import launch
from dpnb.client.service import Service
from dpnb.client.session import Session
from dpnb.errors import OptionError
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home, private_folder

_SESSIONS: dict[Path, Session] = {}
_SEEDED: dict[str, tuple[Session, Home]] = {}
_SERVED: dict[Service, Session] = {}
_LATEST: list[Session] = []

PER_STUDENT = "per-student"
_LONGEST_SEED = 100
_LATELY = 3600.0
_STUDENT = ("JUPYTERHUB_USER", "NB_USER")


def current() -> Session:
    """Return the session in which a dataset was last opened. It starts a curator only when you ask something."""
    here = plain()
    return _LATEST[-1] if _LATEST else here


def plain() -> Session:
    """Return the session with the current home."""
    root = Home.current().root
    if root not in _SESSIONS:
        close()
        _SESSIONS[root] = Session()
        _LATEST[:] = [_SESSIONS[root]]
    return _SESSIONS[root]


def seeded(seed: str) -> tuple[Session, Home]:
    """Return the session whose noise a seed decides, and its home: the same seed gives this kernel the same session."""
    plain()
    if seed not in _SEEDED:
        home = _new_home()
        command = (sys.executable, "-m", "dpnb.teach.curator", "--studies", "dpnb.datasets", "--seed", seed)
        _SEEDED[seed] = (Session(lambda: launch.connect(home, command), seed=seed), home)
    return _SEEDED[seed]


def served(service: Service) -> Session:
    """Return the session with a service."""
    plain()
    if service not in _SERVED:
        _SERVED[service] = Session(service.connect, service=service)
    return _SERVED[service]


def opened_in(session: Session) -> None:
    """Note the session in which a dataset was opened last."""
    _LATEST[:] = [session]


def close() -> None:
    """Let go of every curator of this process."""
    for one in (*_SESSIONS.values(), *_SERVED.values(), *(session for session, _ in _SEEDED.values())):
        one.close()
    _SERVED.clear()
    _SESSIONS.clear()
    _SEEDED.clear()
    _LATEST.clear()


def seed_of(given: object) -> str:
    """Read a seed: a whole number, a name, or ``"per-student"`` for the name of whoever runs this kernel.

    Raises
    ------
    OptionError
        For anything else.
    """
    if given == PER_STUDENT:
        return _student()
    fits = isinstance(given, int) and not isinstance(given, bool) and given >= 0
    text = str(given)
    if not fits and not (isinstance(given, str) and text.isprintable() and 0 < len(text) <= _LONGEST_SEED):
        raise OptionError('seed= is a whole number, a name, or "per-student", for example seed=7.')
    return text


def _student() -> str:
    """Return who runs this kernel: the name on a hub, else on this machine."""
    named = next((os.environ[name] for name in _STUDENT if os.environ.get(name)), None)
    return named if named is not None else getpass.getuser()


def _new_home() -> Home:
    """Make a home for a seeded curator, and sweep those that earlier kernels left."""
    folder = private_folder(Home.current().make().root / "seeded")
    for left in folder.iterdir():
        _sweep(Home(left))
    return Home(folder / secrets.token_hex(8))


def _sweep(home: Home) -> None:
    """Delete a home whose curator has ended; one that was made lately may be about to get its curator."""
    with contextlib.suppress(OSError):
        if time.time() - home.root.stat().st_mtime < _LATELY:
            return
        lock = FileLock(home.lock)
        if lock.acquire():
            shutil.rmtree(home.root)
            lock.free()
