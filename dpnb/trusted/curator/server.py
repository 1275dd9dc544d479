"""The curator as a process: it listens, counts the kernels that hold a life-line, and ends soon after the last of them.

One home has one curator, because a living curator holds the home's lock; the operating system frees it whatever happens.
Requests are answered on worker threads, each kind on threads of its own, so that a cancel is never behind the scan that it
would stop and a price never behind an attach.

Who may ask is decided on the headers, before a byte of a body is kept. Whoever has not shown that within some seconds is hung
up on, the one that has waited longest first when there are many. Where all connections are taken, the kernel that holds most connections
loses one to the next kernel.

Asked to end (SIGTERM), it takes nothing new and charges nothing more at once; what was charged has a moment to be stored and
sent. A scan that takes longer is left: its charge is on disk, and the retry of the same request completes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hmac
import os
import secrets
import signal
import socket
import sys
import time
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from http.client import responses
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import tornado.http1connection
import tornado.httpserver
import tornado.httputil
import tornado.iostream
import tornado.netutil

from dpnb.trusted import system
from dpnb.trusted.canonical import Record, canonical
from dpnb.trusted.curator.chain import timestamp
from dpnb.trusted.curator.config import FIRST_WAIT, Config
from dpnb.trusted.errors import CuratorError, DpnbError, OwnerError, PlanError, to_wire
from dpnb.trusted.wire.codec import MAX_REQUEST, encode
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.messages import PROTOCOL, Attach, Detach, Failure, Open, Peek, Receipt, Submit
from dpnb.trusted.wire.places import write_private
from dpnb.trusted.wire.transport import HOLD, MESSAGES, TOKEN

if TYPE_CHECKING:
    from dpnb.trusted.curator.service import Curator

TAKEN = 3
GRACE = 0.7
"""Seconds that what was charged has to be stored and sent when the curator is asked to end."""
MOST_HEADERS = 16 * 1024
MOST_CONNECTIONS = 256
MOST_STRANGERS = 32
"""How many may be connected to a curator of one user, half of them by life-lines, so that there is always room for a question; and how
many without having shown yet that they may ask."""
MOST_ARRIVING = 64 * 2**20
"""Bytes of all bodies together that have begun to arrive and are not whole."""
MOST_UNSENT, MOST_UNSENT_EACH = 96 * 2**20, 32 * 2**20
"""Bytes of all answers together that are being sent, and of one owner's, beyond which somebody must read first: a plan of a kilobyte may
have an answer of twenty megabytes."""
SLOWEST, PATIENCE = 64 * 2**10, 30.0
"""Bytes a second that a reader takes at least, after these seconds."""
FIRST_WORD = 10.0
WHOLE_BODY = 60.0
"""Seconds within which a connection shows that it may ask, and within which a body arrives."""
_TICK = 0.2
_NEWS_EACH = 0.02
"""Seconds between two news, for each kernel that hears them: what many are told costs whoever asks next to nothing."""
_NEW_OBJECTS = 10_000
"""After which cycles are looked for."""
_SHORT = 64 * 2**10
"""Bytes of a request that are read where they arrive: a thread would cost more than they do."""
_LONG = 16 * 2**10
"""Bytes of a plan beyond which its price waits with other long ones and with receipts, and nobody else for them."""
_THREADS = {"attach": 4, "release": 8, "price": 4, "long": 2, "rest": 8}
_KINDS: dict[type, str] = {Submit: "release", Peek: "price", Receipt: "long"}
_KINDS |= dict.fromkeys((Attach, Open, Detach), "attach")


class Answering(Protocol):
    """What a server serves: bytes in, bytes out."""

    def read(self, body: bytes) -> Any:
        """Read one request body, or return the refusal as bytes; never raises."""

    def carry_out(self, request: Any, who: Any) -> bytes:
        """Answer one request of whoever was admitted; never raises."""

    def refuse_charges(self) -> None:
        """Charge nothing from now on."""

    def listen(self, told: Callable[[], None]) -> None:
        """Call somebody, on any thread, whenever the ledger grew."""

    def close(self) -> None:
        """Close the ledger and the engines."""


class Refused(Exception):
    """Refused on the headers alone, with a reply that may say why."""

    def __init__(self, status: int, reply: bytes = b"") -> None:
        super().__init__(status)
        self.status, self.reply = status, reply


class Listener:
    """Where a server listens, and who may come in: a Unix socket of one user, or a port of loopback with a token."""

    ssl: Any = None
    prefix = ""
    most = MOST_CONNECTIONS
    """How many may be connected."""
    releases = _THREADS["release"]
    """How many releases may be under way: each waits for its scan, for the disk and, in a service, for its bucket."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._token = secrets.token_hex(32) if config.tcp else None

    def listen(self) -> socket.socket:
        """Return the listening socket."""
        if self._config.tcp:
            return tornado.netutil.bind_sockets(0, "127.0.0.1")[0]
        path = self._config.home.socket
        path.unlink(missing_ok=True)  # we hold the home's lock: what is there is a dead curator's
        return tornado.netutil.bind_unix_socket(str(path), mode=0o600)

    def announce(self, bound: socket.socket) -> None:
        """Say that it listens: write where, and tell the kernel that waits."""
        where: Record = {"protocol": PROTOCOL, "pid": os.getpid()}
        if self._config.tcp:
            where |= {"port": bound.getsockname()[1], "token": self._token}
        else:
            where |= {"socket": str(self._config.home.socket)}
        write_private(self._config.home.address, canonical(where).encode())
        say({"ready": True})

    def withdraw(self) -> None:
        """Remove address and socket."""
        system.remove(self._config.home.address)
        if not self._config.tcp:
            self._config.home.socket.unlink(missing_ok=True)

    async def admit(self, request: RequestHandler) -> Any:
        """Return who asks, from the headers alone, or raise :class:`Refused`: here this user, who alone may ask."""
        shown = request.headers.get(TOKEN, "").encode("utf-8", "surrogatepass")
        if self._token is not None and not hmac.compare_digest(shown, self._token.encode()):
            raise Refused(401)
        if self._token is None and system.peer_user(request.stream.socket) != system.user_id():
            raise Refused(403)
        return system.user_name()

    def knows(self, who: Any) -> bool:  # noqa: ARG002 - a listener's
        """Whoever runs as this user may."""
        return True

    def addresses(self) -> Mapping[str, Address]:
        """Nothing besides messages and life-lines."""
        return {}

    def owner(self, who: Any, stream: tornado.iostream.IOStream) -> Any:  # noqa: ARG002 - a listener's
        """Return the process at the other end, where the system knows it."""
        return _owner(stream)


class Life:
    """How many kernels hold a life-line, how many requests are under way, and since when nobody has."""

    def __init__(self, linger: float) -> None:
        self.linger = linger
        self.holders = 0
        self.lines: dict[_Line, None] = {}
        self.busy = 0
        self.still = asyncio.Event()
        self.still.set()
        self.ending = False
        self.known: weakref.WeakSet[tornado.iostream.IOStream] = weakref.WeakSet()
        self.resting: dict[tornado.iostream.IOStream, int] = {}
        self.unsent: dict[tornado.iostream.IOStream, int] = {}
        self._arriving = 0
        self._quiet_since = time.monotonic() + max(0.0, FIRST_WAIT - linger)

    def change(self, holders: int = 0, busy: int = 0) -> None:
        """Count a holder or a request in or out."""
        self.holders += holders
        self.busy += busy
        (self.still.clear if self.busy else self.still.set)()
        self._quiet_since = time.monotonic()

    def rest(self, stream: tornado.iostream.IOStream) -> None:
        """Note that a connection of somebody who may ask waits for a request, or for the rest of one."""
        self.leave(stream)
        if not stream.closed():
            self.resting[stream] = 0

    def leave(self, stream: tornado.iostream.IOStream) -> None:
        """Note that a connection waits no more: it is answered, it is a life-line, or it is closed."""
        self._arriving -= self.resting.pop(stream, 0)

    def arrived(self, stream: tornado.iostream.IOStream, size: int) -> None:
        """Count bytes of a body; where there are too many in all, whoever has been sending the longest is hung up on."""
        if stream in self.resting:
            self.resting[stream] += size
            self._arriving += size
        while self._arriving > MOST_ARRIVING:
            self.hang_up(next(one for one, held in self.resting.items() if held))

    @contextlib.contextmanager
    def sending(self, stream: tornado.iostream.IOStream, size: int) -> Iterator[None]:
        """Count an answer while it is sent: who reads too slowly, or has most unread where there is too much, is hung up on."""
        late = asyncio.get_running_loop().call_later(PATIENCE + size / SLOWEST, self.hang_up, stream)
        self.unsent[stream] = size
        while len(self.unsent) > 1 and sum(self.unsent.values()) > MOST_UNSENT:
            greedy = max({_owner(one) for one in self.unsent}, key=self.unsent_of)
            self.hang_up(next(one for one in self.unsent if _owner(one) == greedy))
        try:
            yield
        finally:
            late.cancel()
            self.unsent.pop(stream, None)

    def unsent_of(self, owner: Any) -> int:
        """Return the bytes of an owner's answers that are being sent."""
        return sum(size for stream, size in self.unsent.items() if _owner(stream) == owner)

    def make_room(self) -> bool:
        """Hang up on the connection that has rested the longest; say whether there was one."""
        oldest = next(iter(self.resting), None)
        if oldest is None:
            return False
        self.hang_up(oldest)
        return True

    def hang_up(self, stream: tornado.iostream.IOStream) -> None:
        """Close a connection: a kernel opens another when it asks again."""
        self.leave(stream)
        self.unsent.pop(stream, None)
        stream.close()

    @property
    def over(self) -> bool:
        """Whether nobody has held on for ``linger`` seconds."""
        return not (self.holders or self.busy) and time.monotonic() - self._quiet_since >= self.linger


class _Workers:
    """Threads for each kind of work."""

    def __init__(self, releases: int) -> None:
        threads = {**_THREADS, "release": releases}
        self._pools = {kind: ThreadPoolExecutor(most, f"curator-{kind}") for kind, most in threads.items()}

    async def run(self, kind: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do a piece of work on a thread of its kind."""
        return await asyncio.get_running_loop().run_in_executor(self._pools[kind], work, *arguments)

    def leave(self) -> None:
        """Begin nothing more, and wait for nobody."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


class Address(NamedTuple):
    """What is done at a path."""

    answer: Callable[[RequestHandler], Awaitable[None]]
    """Answers a request that has arrived whole."""
    method: str = "POST"
    keeps: bool = False
    """Whether a body is kept."""
    asks: bool = True
    """Whether it matters who asks; where it does not, nobody may bring a body."""


class RequestHandler(tornado.httputil.HTTPMessageDelegate):
    """One request and its answer: who asks is decided on the headers, before a byte of a body is kept."""

    def __init__(self, application: Application, connection: Any) -> None:
        self.connection: tornado.http1connection.HTTP1Connection = connection
        self.application, self.life, self.stream, self.body = (
            application,
            application.life,
            connection.stream,
            bytearray(),
        )

    async def headers_received(self, start_line: Any, headers: tornado.httputil.HTTPHeaders) -> None:
        """Decide who asks and what, or refuse it at once."""
        self._method, self.path, self.headers = start_line.method, start_line.path.partition("?")[0], headers
        await self._or_refused(self._enter())

    async def _enter(self) -> None:
        address = self.application.addresses.get(self.path)
        if address is None or address.asks:
            await self._admit()
        if address is None:
            raise Refused(404)
        if self._method != address.method:
            raise Refused(405)
        # a chunk may be one byte, which takes as long as a page of a body does
        if "Transfer-Encoding" in self.headers:
            raise Refused(411)
        if self.headers.get("Content-Length", "0") != "0" and not address.asks:
            raise Refused(413)
        self._address = address
        self._late = asyncio.get_running_loop().call_later(WHOLE_BODY, self.life.hang_up, self.stream)

    async def _admit(self) -> None:
        self.who = await self.application.listener.admit(self)
        if self.stream.closed():  # whoever asked went while somebody looked who it was
            raise Refused(400)
        if self.headers.get("Origin"):  # a page in a browser
            raise Refused(403)
        _OWNERS[self.stream] = self.application.listener.owner(self.who, self.stream)
        self.life.known.add(self.stream)
        self.life.rest(self.stream)
        if self.life.ending:
            raise Refused(503)

    def data_received(self, chunk: bytes) -> None:
        """Keep a body where one may be; its length is limited by the server."""
        if self._address.keeps:
            self.body += chunk
            self.life.arrived(self.stream, len(chunk))

    def finish(self) -> None:
        """Answer what has arrived whole."""
        self._late.cancel()
        self._task = asyncio.ensure_future(self._or_refused(self._address.answer(self)))

    def on_connection_close(self) -> None:
        """Forget a connection, and a body that never became whole; this object may live on until somebody collects it."""
        self.life.leave(self.stream)
        self.body = bytearray()

    async def _or_refused(self, work: Awaitable[None]) -> None:
        """Do it, or send the refusal, and nothing of any other fault: the service keeps the owner's log."""
        try:
            await work
        except Refused as fault:
            self.send(fault.reply, status=fault.status)
        except Exception:  # noqa: BLE001 - whatever it is, nothing of it may leave
            self.send(b"", status=500)

    def send(self, body: bytes, kind: str = "application/json", status: int = 200) -> Awaitable[None]:
        """Send an answer, which says nothing of the software; return what ends when it is sent."""
        facts = {"Date": _date(int(time.time())), "Content-Length": str(len(body))}
        sent = self.begin({"Content-Type": kind, **facts} if body else facts, body, status)
        self.connection.finish()
        return sent

    def begin(self, headers: Mapping[str, str], body: bytes = b"", status: int = 200) -> Awaitable[None]:
        """Send the head of an answer, and this much of it."""
        start = tornado.httputil.ResponseStartLine("", status, responses[status])
        chunk = None if self._method == "HEAD" else body
        return self.connection.write_headers(start, tornado.httputil.HTTPHeaders(headers), chunk)


class Application(tornado.httputil.HTTPServerConnectionDelegate):
    """What all requests share: what is served, to whom, where, and the threads that do it."""

    def __init__(self, service: Answering, life: Life, listener: Listener, workers: _Workers) -> None:
        self.service, self.life, self.listener, self.workers = service, life, listener, workers
        ours = {MESSAGES: Address(_messages, keeps=True), HOLD: Address(_hold)}
        self.addresses = {
            f"{listener.prefix}{path}": one for path, one in {**ours, **listener.addresses()}.items()
        }

    def start_request(self, server_conn: object, request_conn: Any) -> RequestHandler:  # noqa: ARG002 - tornado's
        """Take a request."""
        return RequestHandler(self, request_conn)


_UNREAD = encode(
    Failure(
        **to_wire(PlanError("Earlier answers of yours are not read yet. Nothing was spent. Read them first."))
    )
)


async def _messages(asked: RequestHandler) -> None:
    asked.life.change(busy=1)
    asked.life.leave(asked.stream)
    try:
        reply = await _reply(asked)
        with (
            contextlib.suppress(tornado.iostream.StreamClosedError),
            asked.life.sending(asked.stream, len(reply)),
        ):
            await asked.send(reply)
    finally:
        asked.life.change(busy=-1)
        asked.life.rest(asked.stream)


async def _reply(asked: RequestHandler) -> bytes:
    application, body = asked.application, bytes(asked.body)
    read, short = application.service.read, len(body) <= _SHORT
    asks = read(body) if short else await application.workers.run("rest", read, body)
    if isinstance(asks, bytes):
        return asks
    if application.life.ending:
        raise Refused(503)
    if application.life.unsent_of(_owner(asked.stream)) > MOST_UNSENT_EACH:
        return _UNREAD
    kind = _KINDS.get(type(asks), "rest")
    kind = "long" if kind == "price" and len(body) > _LONG else kind
    return cast("bytes", await application.workers.run(kind, application.service.carry_out, asks, asked.who))


async def _hold(asked: RequestHandler) -> None:
    """Hold a life-line until it is closed."""
    life, line = asked.life, _Line(asked)
    life.leave(asked.stream)
    life.change(holders=1)
    try:
        asked.connection.set_close_callback(line.closed.set)
        await asked.begin({"Content-Type": "application/octet-stream"})
        line.join()
        await line.closed.wait()
    finally:
        life.lines.pop(line, None)
        life.change(holders=-1)


class _Line:
    """A life-line. One byte on it says that the ledger grew: ask, if you want to know more."""

    def __init__(self, asked: RequestHandler) -> None:
        self._asked, self.stream, self.closed = asked, asked.stream, asyncio.Event()

    def join(self) -> None:
        """Join the life-lines; where there are many, the oldest of whoever holds most of them is cut: a kernel opens another."""
        life = self._asked.life
        if len(life.lines) >= self._asked.application.listener.most // 2:
            cut = _of_the_greediest(line.stream for line in life.lines)[0]
            life.hang_up(cut)
            del life.lines[next(line for line in life.lines if line.stream is cut)]
        life.lines[self] = None

    def wake(self) -> None:
        """Tell this kernel; one that does not read is let alone, one that has gone is found out elsewhere, who may not ask hears no more."""
        if not self._asked.application.listener.knows(self._asked.who):
            self._asked.life.hang_up(self.stream)
        elif not self.stream.writing():
            self._asked.connection.write(b".")


_OWNERS: weakref.WeakKeyDictionary[tornado.iostream.IOStream, Any] = weakref.WeakKeyDictionary()


def _owner(stream: tornado.iostream.IOStream) -> Any:
    """Return to whom a connection counts: its process, until it is known who asks on it."""
    if stream not in _OWNERS:
        _OWNERS[stream] = None if stream.closed() else system.peer_process(stream.socket)
    return _OWNERS[stream]


def _of_the_greediest(streams: Iterable[tornado.iostream.IOStream]) -> list[tornado.iostream.IOStream]:
    """Return the connections of whoever has most of them, the oldest first."""
    owned = [(_owner(stream), stream) for stream in streams]
    most = Counter(owner for owner, _ in owned).most_common(1)
    return [stream for owner, stream in owned if owner == most[0][0]]


_date = lru_cache(maxsize=1)(tornado.httputil.format_timestamp)


class _Server(tornado.httpserver.HTTPServer):
    """Tornado's server, with a limit on connections and on how long a stranger may be silent."""

    def watch(self, life: Life, most: int) -> None:
        """Ask this life who is known, and take so many connections."""
        self._life, self._most = life, most
        self._strangers: dict[tornado.iostream.IOStream, None] = {}
        self._open: dict[tornado.iostream.IOStream, None] = {}

    def handle_stream(self, stream: tornado.iostream.IOStream, address: Any) -> None:
        """Take a connection, where there are many in the place of the oldest stranger, or of the one that has rested the longest."""
        for gone in [one for one in self._open if one.closed()]:
            del self._open[gone]
        for other in [one for one in self._strangers if one.closed() or one in self._life.known]:
            del self._strangers[other]
        while len(self._strangers) >= MOST_STRANGERS:
            self._hang_up(next(iter(self._strangers)))
        for gone in [one for one in self._life.resting if one.closed()]:
            self._life.leave(gone)
        if len(self._connections) >= self._most and not self._room_for(stream):
            stream.close()
            return
        self._strangers[stream] = self._open[stream] = None
        asyncio.get_running_loop().call_later(FIRST_WORD, self._hang_up, stream)
        super().handle_stream(stream, address)

    def _room_for(self, stream: tornado.iostream.IOStream) -> bool:
        """Hang up on a connection that rests, or on the newest of whoever has most of them, unless that is who comes; say whether."""
        if self._life.make_room():
            return True
        taken = _of_the_greediest(one for one in self._open if not one.closed())
        if not taken or _owner(taken[0]) == _owner(stream):
            return not taken
        self._life.hang_up(taken[-1])
        return True

    def _hang_up(self, stream: tornado.iostream.IOStream) -> None:
        self._strangers.pop(stream, None)
        if stream not in self._life.known:
            stream.close()


def serve(service: Answering, config: Config, listener: Listener | None = None) -> bool:
    """Listen until the last kernel has gone or a signal asks to end; say whether nothing is under way any more."""
    return asyncio.run(_serve(service, config, listener or Listener(config)))


async def _serve(service: Answering, config: Config, listener: Listener) -> bool:
    # nobody looks for cycles in what is here for good, nor often: a release leaves few
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    life, workers = Life(config.linger), _Workers(listener.releases)
    server = _Server(
        Application(service, life, listener, workers),
        max_header_size=MOST_HEADERS,
        max_body_size=MAX_REQUEST,
        max_buffer_size=2 * MAX_REQUEST,
        ssl_options=listener.ssl,
    )
    server.conn_params.header_timeout = None  # who rests is hung up on when room is needed
    server.watch(life, listener.most)
    bound = listener.listen()
    server.add_socket(bound)
    loop = asyncio.get_running_loop()

    news = _News(life)

    def told() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: what was charged is stored all the same
            if not news.due:
                loop.call_soon_threadsafe(news.grew)

    service.listen(told)
    ended = _asked_to_end()
    listener.announce(bound)
    await _until_over(life, ended)
    life.ending = True
    server.stop()
    listener.withdraw()
    service.refuse_charges()
    # what was charged is stored and sent, what was not is refused
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(life.still.wait(), GRACE)
    workers.leave()
    return not life.busy


class _News:
    """Tells every life-line that the ledger grew: at once, and what follows soon together."""

    def __init__(self, life: Life) -> None:
        self.due = False
        self._life, self._again = life, 0.0

    def grew(self) -> None:
        """Tell them, now or when enough time has passed since they were told last."""
        if not self.due:
            self.due = True
            asyncio.get_running_loop().call_later(self._again - time.monotonic(), self._tell)

    def _tell(self) -> None:
        self.due, self._again = False, time.monotonic() + _NEWS_EACH * len(self._life.lines)
        for line in tuple(self._life.lines):
            line.wake()


def _asked_to_end() -> asyncio.Event:
    """Return what is set once a signal asks to end."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):
        for asked in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(asked, ended.set)
    return ended


async def _until_over(life: Life, ended: asyncio.Event) -> None:
    while not (life.over or ended.is_set()):
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(ended.wait(), min(_TICK, max(life.linger / 4, 0.01)))


def say(message: Record) -> None:
    """Tell the kernel that started us, once, and let go of its pipe."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.buffer.write(canonical(message).encode() + b"\n")
        sys.stdout.buffer.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(config: Config, opening: Callable[[Config], Curator] | None = None) -> int:
    """Run a curator for a home, unless one is running; return the process's exit status."""
    os.umask(0o077)
    try:
        config.home.make()
        lock = FileLock(config.home.lock)
        if not lock.acquire():
            say({"taken": True})
            return TAKEN
        service = (opening or _opened)(config)
        service.refuse_to_start()
    except Exception as error:  # noqa: BLE001 - whatever it is, the kernel that waits must hear of it
        if type(error) is CuratorError or not isinstance(error, DpnbError):
            config.home.note(timestamp(), "start", error)
        say({"failure": _start_failure(error, config)})
        return 1
    try:
        quiet = serve(service, config)
    except Exception as error:  # noqa: BLE001
        service.note(error)
        say({"failure": _start_failure(error, config)})
        os._exit(1)
    end(service, lock, quiet=quiet)
    return 0


def _opened(config: Config) -> Curator:
    from dpnb.trusted.curator.service import Curator

    return Curator.opened(config)


def end(service: Answering, lock: FileLock, *, quiet: bool) -> None:
    """Close what was served and free its home; where something is under way still, end the process at once."""
    if not quiet:
        sys.stdout.flush()
        os._exit(0)  # no thread can be ended; the charges are on disk, and the system frees the home's lock
    service.close()
    lock.free()


def _start_failure(error: Exception, config: Config) -> Record:
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        error = OwnerError(
            f"The curator could not start in {config.home.root}: {reason}. Check the folder, or set DPNB_HOME."
        )
    elif type(error) is CuratorError:
        error = OwnerError(str(error))
    return to_wire(error)
