"""The curator's door: who may ask is decided before a body is read, nobody is kept waiting by others, and it ends when asked."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest
from msgspec import Raw

import dpnb
from dpnb.client import api
from dpnb.client.launch import connect, reach
from dpnb.client.session import Session
from dpnb.client.transport import TcpTransport, UnixTransport, decode_reply
from dpnb.errors import CuratorGone, OwnerError
from dpnb.planner.request import Ask
from dpnb.trusted import system
from dpnb.trusted.curator import server
from dpnb.trusted.wire.codec import MAX_REQUEST, encode
from dpnb.trusted.wire.messages import Hello, Peek, Receipt, Welcome
from dpnb.trusted.wire.places import Home
from dpnb.trusted.wire.transport import MESSAGES, TOKEN
from tests.curator.test_process import ends, faulty, people, pid_of, wait_until, with_curator

__all__ = ["people", "with_curator"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

PATIENCE = 20.0


@pytest.fixture
def home(dpnb_home):
    return Home(Path(dpnb_home))


@pytest.fixture
def door(home, monkeypatch):
    """A curator on loopback: its port and its token."""
    monkeypatch.setenv("DPNB_TCP", "1")
    held = connect(home)
    yield json.loads(home.address.read_bytes())
    held.close()


def said(where, *lines, body=b"", path=MESSAGES, method="POST", version="HTTP/1.1"):
    """Send raw bytes to the door and read until it hangs up or the head of a reply is there."""
    head = "\r\n".join([f"{method} {path} {version}", "Host: x", *lines, "", ""])
    with socket.create_connection(("127.0.0.1", where["port"]), timeout=PATIENCE) as line:
        with contextlib.suppress(OSError):
            line.sendall(head.encode("latin-1") + body)
        return heard(line)


def heard(line):
    """Everything until the other end hangs up, or the first reply is whole."""
    text = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(65_536):
            text += piece
            if b"\r\n\r\n" in text and b"Content-Length: 0" in text:
                break
    return text


def status(reply):
    return int(reply.split(b" ", 2)[1]) if reply else 0


MUCH = f"Content-Length: {MAX_REQUEST}"
WRONG = ["", "0" * 64, "\xe4" * 64, "\xff", "a" * 10_000]


def test_the_token_is_asked_before_a_body_is_read(door):
    """None, a wrong one, one that is not ASCII, one of another length: 401 while the body has not been sent at all."""
    for token, path in itertools.product(WRONG, [MESSAGES, "/v1/hold", "/elsewhere", "/"]):
        assert status(said(door, f"{TOKEN}: {token}", MUCH, path=path)) == 401
    assert status(said(door, MUCH)) == 401
    assert (
        status(said(door, f"{TOKEN}: {door['token']}", f"{TOKEN}: {door['token']}", MUCH, path=path)) == 401
    )


def test_a_good_token_opens_one_door_only(door):
    """Another address, another method, a page in a browser, a long head, a body that is too long or in chunks: refused in a word."""
    good = f"{TOKEN}: {door['token']}"
    assert status(said(door, good, MUCH, path="/elsewhere")) == 404
    assert status(said(door, good, "Content-Length: 0", method="GET")) == 405
    assert status(said(door, good, "Content-Length: 0", "Origin: http://page")) == 403
    assert status(said(door, good, f"Content-Length: {MAX_REQUEST + 1}")) == 400
    assert status(said(door, good, "Content-Length: -1")) == 400
    assert status(said(door, good, "Content-Length: 1", "Transfer-Encoding: chunked")) == 411
    assert status(said(door, good, "Transfer-Encoding: chunked")) == 411
    assert status(said(door, good, f"X: {'x' * 2 * server.MOST_HEADERS}")) in {0, 400, 431}
    assert decode_reply(TcpTransport(door["port"], door["token"]).send(encode(Hello()))).pid == door["pid"]


NOT_HTTP = [
    b"\r\n\r\n",
    b"\0" * 100,
    b"GET\r\n\r\n",
    b"POST / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01",
    b"PRI * HTTP/2.0\r\n\r\n",
]


def test_what_is_not_http_is_hung_up_on(door):
    """No reply quotes it, names a program or shows a trace; the next caller is answered."""
    for bytes_ in NOT_HTTP:
        with socket.create_connection(("127.0.0.1", door["port"]), timeout=PATIENCE) as line:
            line.sendall(bytes_)
            line.shutdown(socket.SHUT_WR)
            reply = heard(line)
        for word in (b"Traceback", b"tornado", b"Tornado", b"Python"):
            assert word not in reply
        assert status(said(door, "Content-Length: 0")) == 401


def test_silent_strangers_keep_nobody_out(door):
    """Whoever connects and says nothing is hung up on when others come; kernels are answered all the while."""
    with contextlib.ExitStack() as open_:
        silent = [
            open_.enter_context(socket.create_connection(("127.0.0.1", door["port"]), timeout=PATIENCE))
            for _ in range(3 * server.MOST_STRANGERS)
        ]
        held = [TcpTransport(door["port"], door["token"]) for _ in range(3)]
        for line in held:
            assert isinstance(decode_reply(line.send(encode(Hello()))), Welcome)
        assert silent[0].recv(1) == b""  # the oldest is gone
        for line in held:
            assert isinstance(decode_reply(line.send(encode(Hello()))), Welcome)
            line.close()


def resident(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024


def begun(door, length, body):
    return b"\r\n".join(
        [
            f"POST {MESSAGES} HTTP/1.1".encode(),
            b"Host: x",
            f"{TOKEN}: {door['token']}".encode(),
            f"Content-Length: {length}".encode(),
            b"",
            body,
        ]
    )


def test_those_who_have_asked_and_stay_keep_nobody_out(door):
    """Hundreds of connections that are kept open after an answer: those that have rested the longest make room."""
    with contextlib.ExitStack() as open_:
        for _ in range(server.MOST_CONNECTIONS + 50):
            line = open_.enter_context(
                socket.create_connection(("127.0.0.1", door["port"]), timeout=PATIENCE)
            )
            line.sendall(begun(door, len(encode(Hello())), encode(Hello())))
            assert status(line.recv(65_536)) == 200
        asked = TcpTransport(door["port"], door["token"])
        assert decode_reply(asked.send(encode(Hello()))).pid == door["pid"]
        asked.close()


def test_life_lines_fill_no_door(door):
    """Hundreds of life-lines: the oldest are cut, a question is answered, and who holds on again is heard."""
    with contextlib.ExitStack() as open_:
        held = [TcpTransport(door["port"], door["token"]) for _ in range(server.MOST_CONNECTIONS + 20)]
        for line in held:
            open_.callback(line.close)
            line.hold()
        assert held[0].wait() is False
        asked = TcpTransport(door["port"], door["token"])
        open_.callback(asked.close)
        asked.hold()
        assert decode_reply(asked.send(encode(Hello()))).pid == door["pid"]


GREEDY = """
import socket, sys, time
lines = []
for _ in range(400):
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(sys.argv[1])
        line.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
        line.settimeout(0.01)
        line.recv(100)
    except OSError:
        pass
    lines.append(line)
print("full", flush=True)
time.sleep(600)
"""
LINE = "POST /v1/hold HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n"
HALF = "POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 9\\r\\n\\r\\nx"


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the system does not say which process asks")
@pytest.mark.parametrize("words", [LINE, HALF], ids=["life-lines", "halves"])
def test_one_kernel_cannot_shut_others_out(home, people, words):
    """Four hundred connections of one process: another kernel's life-line stays, and one that comes later is let in."""
    data = dpnb.open(people, quiet=True)
    mine = reach(home)
    ended = threading.Event()
    threading.Thread(target=lambda: (mine.wait(), ended.set()), daemon=True).start()
    greedy = subprocess.Popen(
        [sys.executable, "-c", GREEDY, str(home.socket), words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert greedy.stdout.readline() == "full\n"
        later = reach(home)
        assert isinstance(decode_reply(later.send(encode(Hello()))), Welcome)
        later.close()
        assert not ended.is_set()
        assert data.budget.spent.amount == 0
    finally:
        greedy.kill()
        greedy.wait()
        greedy.stdout.close()
        mine.close()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_bodies_that_never_become_whole_fill_no_memory(door):
    """Hundreds of requests that lack one byte: whoever has been sending the longest is hung up on, and a kernel is answered."""
    with contextlib.ExitStack() as open_:
        for _ in range(server.MOST_CONNECTIONS + 50):
            line = open_.enter_context(
                socket.create_connection(("127.0.0.1", door["port"]), timeout=PATIENCE)
            )
            with contextlib.suppress(OSError):
                line.sendall(begun(door, MAX_REQUEST, bytes(MAX_REQUEST - 1)))
        asked = TcpTransport(door["port"], door["token"])
        assert decode_reply(asked.send(encode(Hello()))).pid == door["pid"]
        asked.close()
        assert resident(door["pid"]) < 2**29


def test_a_socket_on_which_somebody_else_listens_is_not_spoken_to(home, monkeypatch):
    """Whatever put it there: the kernel asks the system who listens, before it says a word."""
    home.make()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home.socket))
    listener.listen()
    monkeypatch.setattr(system, "peer_user", lambda _: os.getuid() + 1)
    with pytest.raises(CuratorGone):
        UnixTransport(str(home.socket)).send(b"secret")
    listener.setblocking(False)
    peer, _ = listener.accept()
    assert peer.recv(100) == b""
    peer.close()
    listener.close()


BLOCKS = """
import os, sys, time
from dpnb.trusted.curator import failpoints
def hook(step):
    while step == "checked" and not os.path.exists({until!r}):
        time.sleep(0.01)
failpoints.install(hook)
import runpy
runpy.run_module("dpnb.trusted.curator", run_name="__main__", alter_sys=True)
"""


def test_many_slow_requests_keep_no_quick_one_waiting(home, people, tmp_path, with_curator):
    """Twice as many releases as there are threads for them are stuck: hello, describe, peek, cancel are answered at once."""
    script, until = tmp_path / "blocks.py", tmp_path / "until"
    script.write_text(BLOCKS.format(until=str(until)))
    here = with_curator([sys.executable, str(script)])
    data = dpnb.open(people, quiet=True)
    source = here._sources[data.handle].source
    others = [Session(lambda: reach(home)) for _ in range(2 * server._THREADS["release"])]
    stuck = [threading.Thread(target=_release, args=(other, source)) for other in others]
    for thread in stuck:
        thread.start()
    try:
        for _ in range(3):
            assert data.budget.spent.amount == 0
            assert isinstance(decode_reply(here.line.transport.send(encode(Hello()))), Welcome)
            assert dpnb.plan([data.x.mean()], epsilon=1)
    finally:
        until.touch()
        for thread in stuck:
            thread.join(60)
        for other in others:
            other.close()
    assert data.budget.spent.amount == 1  # all asked the same: one paid, the others got its answer


def test_nobody_waits_for_long_prices_and_receipts_but_others_of_them():
    """Seen: five analysts who priced three plans of 100 kB each, all the time, made a price of 0.3 kB wait for 1.7 s."""

    def kind(asks):
        workers = SimpleNamespace(run=AsyncMock())
        service = SimpleNamespace(read=lambda _: asks, carry_out=None)
        life = SimpleNamespace(ending=False, unsent_of=lambda _: 0)
        told = SimpleNamespace(service=service, life=life, workers=workers)
        stream = Mock(closed=lambda: True)
        asyncio.run(
            server._reply(SimpleNamespace(application=told, body=encode(asks), stream=stream, who=""))
        )
        return workers.run.await_args.args[0]

    handle = "c" * 32
    short, long = (Peek(handle=handle, plan=Raw(b"1" * letters)) for letters in (400, 20_000))
    assert [kind(short), kind(long), kind(Receipt(handle=handle, entry=1))] == ["price", "long", "long"]


def _release(other, source):
    mine = other.attach(source)
    other.release([mine.x.mean()], Ask.make(epsilon=1))


def test_a_curator_at_rest_ends_when_asked(home, people):
    """SIGTERM and SIGINT, with kernels connected: it ends, its socket and address go, and the next line starts another."""
    for asked in (signal.SIGTERM, signal.SIGINT):
        data = dpnb.open(people, quiet=True)
        pid = pid_of(home.root)
        os.kill(pid, asked)
        assert ends(pid)
        assert not home.socket.exists()
        assert not home.address.exists()
        assert data.budget.spent.amount == 0
        assert pid_of(home.root) != pid


def asked_to_end(step, people, tmp_path, with_curator, act):
    """Release one mean with a curator that does something long at one step, and ask it to end there."""
    here = with_curator(faulty(tmp_path, step, act))
    data = dpnb.open(people, quiet=True)
    pid, reports = pid_of(Home.current().root), []
    asking = threading.Thread(target=lambda: reports.append(dpnb.release([data.x.mean()], epsilon=1)))
    asking.start()
    wait_until((tmp_path / "done").exists)
    os.kill(pid, signal.SIGTERM)
    return here, data, pid, asking, reports


@pytest.mark.parametrize("step", ["checked", "charged", "before-send"])
def test_a_curator_asked_to_end_does_not_wait_for_a_long_scan(people, tmp_path, with_curator, step):
    """What takes a minute is left where it is: before the charge nothing was spent, after it the retry completes it."""
    here, data, pid, asking, reports = asked_to_end(step, people, tmp_path, with_curator, "time.sleep(60)")
    assert ends(pid, within=15)  # a second on a machine of one's own
    asking.join(60)
    assert [row["kind"] for row in here.ledger(data)].count("charge") == 1
    assert data.budget.spent.amount == 1
    assert reports[0][0].value is not None


def test_what_was_charged_is_stored_and_sent_before_the_end(people, tmp_path, with_curator):
    """A scan of a moment is finished: the same curator stores the answer, and the kernel hears it from this one."""
    go = tmp_path / "go"
    patient = (
        "import dpnb.trusted.curator.server as server; server.GRACE = 60\n"
        f"        while not os.path.exists({str(go)!r}): time.sleep(0.01)"
    )
    here, data, pid, asking, reports = asked_to_end("charged", people, tmp_path, with_curator, patient)
    start, here.line.connect = here.line.connect, None
    wait_until(lambda: not Home.current().address.exists())  # it has begun to end
    go.touch()
    asking.join(60)
    assert reports[0][0].value is not None
    assert ends(pid, within=15)
    here.line.connect = start
    assert data.budget.spent.amount == 1


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[]",
        "3",
        '"x"',
        "{}",
        "{",
        "\xff",
        '{"port": 1}',
        '{"socket": 3}',
        '{"socket": ""}',
        '{"port": "1", "token": []}',
        '{"socket": "/a\\u0000b"}',
        '{"port": 99999999999999999999, "token": "x"}',
        '{"port": 70000, "token": "x"}',
        "[" * 100_000,
        "{}" + " " * 10**6,
    ],
    ids=range(17),
)
def test_a_damaged_address_is_no_address(home, content):
    """Whatever stands in curator.json: a curator that runs is found where it would be, and else one is started."""
    home.make().address.write_bytes(content.encode("latin-1"))
    assert reach(home) is None


def test_a_damaged_address_of_a_living_curator_costs_nothing(home, people):
    """Its socket has one place: another kernel finds it there."""
    data = dpnb.open(people, quiet=True)
    pid = pid_of(home.root)
    home.address.write_text("[]")
    other = Session()
    try:
        assert other.attach(api.session()._sources[data.handle].source).budget.spent.amount == 0
        assert decode_reply(other.line.transport.send(encode(Hello()))).pid == pid
    finally:
        other.close()


@pytest.mark.parametrize("name", ["start.lock", "curator.lock", "curator.json", "key"])
def test_a_home_whose_files_cannot_be_written_is_named(home, people, name):
    """A folder where a file should be stands for a disk that cannot be written: dpnb's own words, with what to set."""
    (home.make().root / name).mkdir()
    with pytest.raises(OwnerError, match=r"DPNB_HOME|folder"):
        dpnb.open(people, quiet=True)


def test_a_read_only_home_is_named(home, people, monkeypatch):
    """No lock can be taken on a read-only disk."""
    import errno

    home.make()
    real = os.open

    def read_only(path, flags, *more, **named):
        if str(path).startswith(str(home.root)) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(
        OwnerError, match=r"start.lock cannot be written \(Read-only file system\).*DPNB_HOME"
    ):
        dpnb.open(people, quiet=True)
