"""Curators forked from a process that has imported what they import: that is most of a start, and a thousand tests start one.

They are processes as ever: with a session, a socket, a ledger and an end of their own. Their noise alone is not the system's: a seed
decides it, another one for each start in a home, so that a test finds what it found yesterday. What is tested of curators' starts
starts them as everybody does (:data:`tests.conftest.STARTED`).
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

MODULE = "dpnb.trusted.curator"
IMPORTED = ("duckdb", "sqlite3", "pwd", "dpnb.datasets")
"""What a curator imports when it first needs it, beside its own package."""
LONGEST = 1 << 20


def seed_of_a_start(home: Path) -> str:
    """Return how often a curator of this home was started: counted beside it, because a start may be in a process that is killed."""
    with home.with_name(f".{home.name}.starts").open("ab") as file:
        file.write(b".")
        return str(file.tell())


class Forked:
    """What :mod:`dpnb.client.launch` asks of a :class:`subprocess.Popen`."""

    def __init__(self, pid: int, stdout: IO[bytes], status: IO[bytes]) -> None:
        self.pid, self.stdout, self._status = pid, stdout, status
        self.returncode: int | None = None
        self._reading = threading.Lock()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its status."""
        with self._reading:
            if self.returncode is None:
                if not select.select([self._status], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(MODULE, timeout or 0)
                with self._status:
                    # nothing where the process that would have said it has ended
                    self.returncode = int(self._status.read() or 0)
        return self.returncode

    def poll(self) -> int | None:
        """Return its status, or nothing while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Forks:
    """In the place of :mod:`subprocess` in :mod:`dpnb.client.launch`."""

    DEVNULL, PIPE = subprocess.DEVNULL, subprocess.PIPE

    def __init__(self) -> None:
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one = threading.Lock()

    def Popen(self, line: Sequence[str], *, env: dict[str, str], cwd: str, **given: Any) -> Any:  # noqa: N802 -- as there
        """Fork a curator, or start what is none as ever."""
        if line[:3] != [sys.executable, "-m", MODULE]:
            return subprocess.Popen(line, env=env, cwd=cwd, **given)
        if not Path(cwd).is_dir():
            raise FileNotFoundError(2, "No such file or directory", cwd)
        seed = seed_of_a_start(Path(line[line.index("--home") + 1]))
        message = json.dumps({"words": list(line[3:]), "env": env, "cwd": cwd, "seed": seed}).encode()
        (out, write), (ended, say) = os.pipe(), os.pipe()
        try:
            with self._one:
                channel = self._begun()
                socket.send_fds(channel, [message], [write, say])
                pid = int(channel.recv(100))
        finally:
            os.close(write)
            os.close(say)
        return Forked(pid, os.fdopen(out, "rb"), os.fdopen(ended, "rb", buffering=0))

    def _begun(self) -> socket.socket:
        """Return the way to the process that forks, which is started once."""
        if self._channel is None:
            self._channel, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with its:
                # numpy has threads of its own, for which newer Pythons warn of a fork
                command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", __name__]
                self._process = subprocess.Popen(command, stdin=its, cwd=Path(__file__).parents[1])
        return self._channel

    def close(self) -> None:
        """Let the process that forks end; the curators go on."""
        if self._channel is not None and self._process is not None:
            self._channel.close()
            self._process.wait()


def serve(channel: socket.socket) -> None:
    """Fork a curator for every message, and say of each how it ended; return in each fork, and when nobody asks any more."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            reap(running)
        if channel not in ready:
            continue
        text, handed, _, _ = socket.recv_fds(channel, LONGEST, 2)
        if not text:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become(json.loads(text), handed[0], [channel.fileno(), woken, wake, *running.values(), *handed])
            return
        running[pid] = handed[1]
        os.close(handed[0])
        channel.send(str(pid).encode())


def reap(running: dict[int, int]) -> None:
    """Say of every process that has ended how it did."""
    for pid in list(running):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            say = running.pop(pid)
            os.write(say, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(say)


def become(asked: dict[str, Any], out: int, foreign: Sequence[int]) -> None:
    """Make this process one that was started with these words, this environment and this output."""
    os.setsid()
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv[1:] = asked["words"]
    nothing = os.open(os.devnull, os.O_RDWR)
    for taken, place in ((out, 1), (nothing, 0), (nothing, 2)):
        os.dup2(taken, place)
    for one in {nothing, *foreign} - {0, 1, 2}:
        os.close(one)
    curator, service = (importlib.import_module(name) for name in ("dpnb.teach.curator", MODULE + ".service"))
    service.Randomness = lambda: curator.SeededRandomness(seed=asked["seed"])


def import_all() -> None:
    """Import what a curator imports."""
    package = importlib.import_module(MODULE)
    for found in pkgutil.walk_packages(package.__path__, MODULE + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for name in IMPORTED:
        importlib.import_module(name)


if __name__ == "__main__":
    import_all()
    serve(socket.socket(fileno=os.dup(0)))
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
