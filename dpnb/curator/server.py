"""The curator as a process: it listens, counts the kernels that hold a life-line, and ends soon after the last of them.

One home has one curator, because a living curator holds the home's lock; the operating system frees it whatever happens.
Requests are answered on worker threads, so that a cancel is never behind the scan that it would stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import tornado.httpserver
import tornado.iostream
import tornado.netutil
import tornado.web

from dpnb.curator.config import FIRST_WAIT, Config
from dpnb.errors import CuratorError, OwnerError, to_wire
from dpnb.wire.codec import MAX_REQUEST
from dpnb.wire.filelock import FileLock
from dpnb.wire.messages import PROTOCOL
from dpnb.wire.places import write_private
from dpnb.wire.transport import HOLD, MESSAGES, TOKEN

TAKEN = 3
_WORKERS = 8
_TICK = 0.2


class Answering(Protocol):
    """What a server serves: bytes in, bytes out."""

    def answer(self, body: bytes, principal: str) -> bytes:
        """Answer one request body; never raises."""

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody, on any thread, whenever the ledger grew."""

    def close(self) -> None:
        """Close the ledger and the engines."""


class Life:
    """How many kernels hold a life-line, how many requests are under way, and since when nobody has."""

    def __init__(self, linger: float) -> None:
        self.linger = linger
        self.holders = 0
        self.lines: set[_Hold] = set()
        self.busy = 0
        self._quiet_since = time.monotonic() + max(0.0, FIRST_WAIT - linger)

    def change(self, holders: int = 0, busy: int = 0) -> None:
        """Count a holder or a request in or out."""
        self.holders += holders
        self.busy += busy
        self._quiet_since = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether nobody has held on for ``linger`` seconds."""
        return not (self.holders or self.busy) and time.monotonic() - self._quiet_since >= self.linger


class _Handler(tornado.web.RequestHandler):
    service: Answering
    life: Life
    token: str | None
    workers: ThreadPoolExecutor

    def initialize(
        self, service: Answering, life: Life, token: str | None, workers: ThreadPoolExecutor
    ) -> None:
        self.service, self.life, self.token, self.workers = service, life, token, workers

    def prepare(self) -> None:
        given = self.request.headers.get(TOKEN, "")
        trusted = hmac.compare_digest(given, self.token) if self.token else self._peer() == os.getuid()
        if not trusted or self.request.headers.get("Origin"):
            raise tornado.web.HTTPError(403)

    def _peer(self) -> int:
        return _peer_of(self.request.connection.stream.socket)  # type: ignore[union-attr]

    def write_error(self, status_code: int, **_: Any) -> None:  # noqa: ARG002 - tornado's signature
        self.finish(b"")

    def log_exception(self, *_: Any) -> None:
        """Say nothing: the service keeps the owner's log."""


class _Messages(_Handler):
    async def post(self) -> None:
        self.life.change(busy=1)
        try:
            loop = asyncio.get_running_loop()
            body = await loop.run_in_executor(
                self.workers, self.service.answer, self.request.body, principal_of(os.getuid())
            )
            with contextlib.suppress(Exception):
                self.set_header("Content-Type", "application/json")
                await self.finish(body)
        finally:
            self.life.change(busy=-1)


class _Hold(_Handler):
    """A life-line. One byte on it says that the ledger grew: ask, if you want to know more."""

    async def post(self) -> None:
        self._closed = asyncio.Event()
        self.life.change(holders=1)
        try:
            self.set_header("Content-Type", "application/octet-stream")
            await self.flush()
            self.life.lines.add(self)
            await self._closed.wait()
        finally:
            self.life.lines.discard(self)
            self.life.change(holders=-1)

    def wake(self) -> None:
        """Tell this kernel; one that does not read is let alone, and one that has gone is found out elsewhere."""
        if self.request.connection.stream.writing():  # type: ignore[union-attr]
            return
        with contextlib.suppress(tornado.iostream.StreamClosedError):
            self.write(b".")
            self.flush().add_done_callback(_heard)

    def on_connection_close(self) -> None:
        if hasattr(self, "_closed"):
            self._closed.set()


def _heard(future: Any) -> None:
    future.exception()  # looked at: a kernel that went in this moment is no fault


def principal_of(uid: int) -> str:
    """Return the principal of an operating-system user."""
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return f"uid-{uid}"


def serve(service: Answering, config: Config) -> None:
    """Listen until the last kernel has gone."""
    asyncio.run(_serve(service, config))


async def _serve(service: Answering, config: Config) -> None:
    life = Life(config.linger)
    token = secrets.token_hex(32) if config.tcp else None
    with ThreadPoolExecutor(_WORKERS, thread_name_prefix="curator") as workers:
        settings = {"service": service, "life": life, "token": token, "workers": workers}
        application = tornado.web.Application(
            [(MESSAGES, _Messages, settings), (HOLD, _Hold, settings)], log_function=lambda _: None
        )
        server = tornado.httpserver.HTTPServer(
            application, max_body_size=MAX_REQUEST, max_buffer_size=2 * MAX_REQUEST
        )
        listener = _listen(config)
        server.add_socket(listener)
        loop = asyncio.get_running_loop()

        def told() -> None:
            loop.call_soon_threadsafe(_wake, life)

        service.listen(told)
        _announce(config, listener, token)
        await _until_over(life)
        server.stop()
        _withdraw(config)


def _wake(life: Life) -> None:
    for line in tuple(life.lines):
        line.wake()


async def _until_over(life: Life) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, ended.set)
    while not (life.over or ended.is_set()):
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(ended.wait(), min(_TICK, max(life.linger / 4, 0.01)))


def _listen(config: Config) -> socket.socket:
    if config.tcp:
        return tornado.netutil.bind_sockets(0, "127.0.0.1")[0]
    path = config.home.socket
    path.unlink(missing_ok=True)  # we hold the home's lock: what is there is a dead curator's
    return tornado.netutil.bind_unix_socket(str(path), mode=0o600)


def _announce(config: Config, listener: socket.socket, token: str | None) -> None:
    where: dict[str, Any] = {"protocol": PROTOCOL, "pid": os.getpid()}
    if config.tcp:
        where |= {"port": listener.getsockname()[1], "token": token}
    else:
        where |= {"socket": str(config.home.socket)}
    write_private(config.home.address, json.dumps(where).encode())
    _say({"ready": True})


def _withdraw(config: Config) -> None:
    config.home.address.unlink(missing_ok=True)
    if not config.tcp:
        config.home.socket.unlink(missing_ok=True)


def _peer_of(peer: socket.socket) -> int:
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    return os.getuid()  # the socket's mode 0600 has already decided


def _say(message: dict[str, Any]) -> None:
    """Tell the kernel that started us, once, and let go of its pipe."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(config: Config) -> int:
    """Run a curator for a home, unless one is running; return the process's exit status."""
    from dpnb.curator.service import Curator

    os.umask(0o077)
    try:
        config.home.make()
        lock = FileLock(config.home.lock)
        if not lock.acquire():
            _say({"taken": True})
            return TAKEN
        service = Curator.opened(config)
    except Exception as error:  # noqa: BLE001 - whatever it is, the kernel that waits must hear of it
        _say({"failure": _start_failure(error, config)})
        return 1
    try:
        serve(service, config)
    except Exception as error:  # noqa: BLE001
        service.note(error)
        _say({"failure": _start_failure(error, config)})
        return 1
    finally:
        service.close()
        lock.free()
    return 0


def _start_failure(error: Exception, config: Config) -> dict[str, Any]:
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        error = OwnerError(
            f"The curator could not start in {config.home.root}: {reason}. Check the folder, or set DPNB_HOME."
        )
    elif type(error) is CuratorError:
        error = OwnerError(str(error))
    return to_wire(error)
