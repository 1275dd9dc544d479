"""Finding the curator of a home, and starting it when there is none.

Kernels that start one at the same moment take turns under a file lock, so that there is never a second. The curator runs in its
own session: an interrupt meant for the kernel does not reach it, and the kernel's end does not end it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from dpnb.errors import CuratorError, CuratorGone, OwnerError, from_wire
from dpnb.wire.codec import decode_reply, encode
from dpnb.wire.filelock import FileLock
from dpnb.wire.messages import PROTOCOL, Hello, Welcome
from dpnb.wire.places import Home
from dpnb.wire.transport import TcpTransport, Transport, UnixTransport

START_TIMEOUT = 60.0
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])


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
    found = reach(home)
    if found is not None:
        return found
    home.make()
    with FileLock(home.start_lock):
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            found = reach(home)
            if found is not None:
                return found
            if not _start(home, command):
                time.sleep(0.02)  # the last curator is on its way out and still holds the lock
    raise CuratorGone("The curator started and cannot be reached. Look into curator.log in DPNB_HOME.")


def reach(home: Home) -> Transport | None:
    """Return a transport to the curator that runs for a home, with the life-line held; ``None`` where none runs."""
    try:
        where = json.loads(home.address.read_bytes())
    except (OSError, ValueError):
        return None
    transport = _transport(where)
    try:
        transport.hold()
        welcome = decode_reply(transport.send(encode(Hello())))
    except CuratorGone:
        transport.close()
        return None
    if not isinstance(welcome, Welcome) or welcome.protocol != PROTOCOL:
        transport.close()
        raise CuratorError(
            f"A curator of another dpnb version (pid {where.get('pid')}) serves {home.root}. "
            "Close the other notebooks and wait a few seconds, or set another DPNB_HOME."
        )
    return transport


def _transport(where: dict[str, Any]) -> UnixTransport | TcpTransport:
    if "socket" in where:
        return UnixTransport(str(where["socket"]))
    return TcpTransport(int(where["port"]), str(where["token"]))


def _start(home: Home, command: Sequence[str] | None) -> bool:
    """Start a process and wait until it listens; ``False`` when another curator holds the home."""
    line = [*(command or (sys.executable, "-m", "dpnb.curator")), "--home", str(home.root)]
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=_environment(),
        cwd=str(home.root),
    )
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
        f"To see why: {sys.executable} -m dpnb.curator --home {home.root}"
    )


def _first_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
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
