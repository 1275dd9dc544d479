"""Finding the curator of a home, and starting it when there is none.

Kernels that start one at the same moment take turns under a file lock, so that there is never a second. The curator runs in its
own session: an interrupt meant for the kernel does not reach it, and the kernel's end does not end it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Annotated, cast

import msgspec
from msgspec import Meta

from dpnb.client.transport import TcpTransport, Transport, UnixTransport, decode_reply
from dpnb.errors import CuratorError, CuratorGone, DpnbError, OwnerError, PlanError, from_wire
from dpnb.trusted import system
from dpnb.trusted.canonical import Record
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.messages import PROTOCOL, Hello, Welcome
from dpnb.trusted.wire.places import Home

START_TIMEOUT = 60.0
_LONGEST_ADDRESS = 65_536
_CURATOR = (sys.executable, "-m", "dpnb.trusted.curator", "--studies", "dpnb.datasets")
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])


class _Address(msgspec.Struct, frozen=True):
    """What a curator says of itself in its home: a socket, or a port of loopback with the token that it wants."""

    pid: int = 0
    socket: Annotated[str, Meta(pattern=r"\A/[^\0]+\Z", max_length=200)] | None = None
    port: Annotated[int, Meta(ge=1, le=65_535)] | None = None
    token: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")] | None = None

    def transport(self) -> UnixTransport | TcpTransport | None:
        """Return the way there; nothing where it says neither."""
        if self.socket is not None:
            return UnixTransport(self.socket)
        if self.port is not None and self.token is not None:
            return TcpTransport(self.port, self.token)
        return None


_AHEAD: dict[Path, tuple[threading.Thread, list[Transport]]] = {}
"""What is being reached before anybody asks it, by the root of its home."""
_ADDRESSES = msgspec.json.Decoder(_Address)


def connect(home: Home, command: Sequence[str] | None = None) -> Transport:
    """Return a transport to the home's curator, with the life-line held; start a curator if there is none.

    Parameters
    ----------
    home : Home
    command : sequence of str, optional
        The curator's command line, without ``--home``.

    Raises
    ------
    OwnerError
        If the curator cannot start in this home.
    CuratorGone
        If it started and could then not be reached.
    """
    found = _started_ahead(home) or reach(home)
    if found is not None:
        return found
    home.make()
    with _turn(home):
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            found = reach(home)
            if found is not None:
                return found
            if not _start(home, command):
                time.sleep(0.02)  # the last curator is on its way out and still holds the lock
    raise CuratorGone("The curator started and cannot be reached. See curator.log in DPNB_HOME.")


def ahead(home: Home) -> None:
    """Begin to reach or start a home's curator on a thread; :func:`connect` takes what that has found."""
    found: list[Transport] = []

    def begin() -> None:
        with contextlib.suppress(DpnbError, OSError):  # connect() finds it again, and tells it
            found.append(connect(home))

    thread = threading.Thread(target=begin, name="dpnb-curator-ahead", daemon=True)
    _AHEAD[home.root] = (thread, found)
    thread.start()


def leave_ahead() -> None:
    """Let go of every curator that was started ahead and that nobody asked for."""
    for root in list(_AHEAD):
        found = _started_ahead(Home(root))
        if found is not None:
            found.close()


def _started_ahead(home: Home) -> Transport | None:
    """Return what was begun ahead for a home, once: not to the thread that begins it."""
    thread, found = _AHEAD.get(home.root, (None, []))
    if thread is None or thread is threading.current_thread():
        return None
    thread.join()
    _AHEAD.pop(home.root, None)
    return found.pop() if found else None


def reach(home: Home) -> Transport | None:
    """Return a transport to the curator that runs for a home, with the life-line held; ``None`` where none runs."""
    home.check()
    where = _address(home)
    transport = None if where is None else where.transport()
    if where is None or transport is None:
        return None
    try:
        transport.hold()
        welcome = decode_reply(transport.send(encode(Hello())))
    except (CuratorGone, PlanError):  # it has ended, or what listens there now is no curator
        transport.close()
        return None
    if not isinstance(welcome, Welcome) or welcome.protocol != PROTOCOL:
        transport.close()
        raise CuratorError(
            f"A curator of another dpnb version (pid {where.pid}) serves {home.root}. "
            "Close the other notebooks and wait a few seconds, or set another DPNB_HOME."
        )
    return transport


@contextlib.contextmanager
def _turn(home: Home) -> Iterator[None]:
    """Hold the lock under which one kernel at a time starts a curator."""
    lock = FileLock(home.start_lock)
    try:
        held = lock.acquire(timeout=START_TIMEOUT)
    except OSError as error:
        raise OwnerError(
            f"{home.start_lock} cannot be written ({error.strerror}): "
            "make DPNB_HOME writable, or set it to a folder of your own."
        ) from None
    if not held:
        raise CuratorGone(
            f"Another kernel has been starting a curator in {home.root} for a minute. Try again."
        )
    try:
        yield
    finally:
        lock.free()


def _address(home: Home) -> _Address | None:
    """Return where a curator says it listens; where that cannot be read, the socket that it would have, if any."""
    try:
        with home.address.open("rb") as file:
            return _ADDRESSES.decode(file.read(_LONGEST_ADDRESS))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return _Address(socket=str(home.socket)) if system.UNIX_SOCKETS else None


def _start(home: Home, command: Sequence[str] | None) -> bool:
    """Start a process and wait until it listens; ``False`` when another curator holds the home."""
    line = [*(command or _CURATOR), "--home", str(home.root)]
    try:
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=str(home.root),
            **system.apart(),
        )
    except OSError as error:
        raise OwnerError(f"The curator's process could not be started: {error.strerror}.") from error
    said = _first_line(process)
    threading.Thread(target=process.wait, name="dpnb-curator-wait", daemon=True).start()
    if said.get("ready"):
        return True
    if "failure" in said:
        raise from_wire(said["failure"])
    if said.get("taken"):
        return False
    raise OwnerError(
        f"The curator ended before it listened (status {process.poll()}). Its log: {home.log}. "
        f"To see why: {sys.executable} -m dpnb.trusted.curator --home {home.root}"
    )


def _first_line(process: subprocess.Popen[bytes]) -> Record:
    stdout = cast("IO[bytes]", process.stdout)
    guard = threading.Timer(START_TIMEOUT, process.kill)
    guard.start()
    try:
        text = stdout.readline()
    finally:
        guard.cancel()
        stdout.close()
    try:
        said = json.loads(text)
    except ValueError:
        process.wait(timeout=START_TIMEOUT)
        return {}
    return said if isinstance(said, dict) else {}


def _environment() -> dict[str, str]:
    """Let the curator import the same dpnb as this kernel, wherever the kernel stands."""
    paths = [_PACKAGE_PARENT, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONSAFEPATH": "1"}
