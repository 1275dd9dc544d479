"""What stands between a service and its analysts fails, or is meant to: proxies that die, and callers who never come to the point."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading

import pytest

from dpnb.client.service import Service, served
from dpnb.client.session import Session
from dpnb.errors import CuratorGone
from dpnb.planner.request import Ask
from tests.serving.test_service import line_to

FIRST_OF_TLS = bytes.fromhex("16030100c8010000c40303")


class Proxy:
    """Passes bytes on between kernels and a service; it dies, with all its connections and its port, where it is told to."""

    def __init__(self, port):
        self._to, self._dies, self._lines = port, None, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.begin()

    def begin(self):
        """Listen."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def dies_after(self, count):
        """Die once so many bytes more of what the service says were passed on."""
        self._dies = count

    def die(self):
        """End as a process that is killed."""
        self._dies = None
        for one in (self._listener, *self._lines):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._lines = []

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                kernel, service = listener.accept()[0], socket.create_connection(("127.0.0.1", self._to))
                self._lines += [kernel, service]
                for pair in ((kernel, service, False), (service, kernel, True)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, come, go, said):
        with contextlib.suppress(OSError):
            while piece := come.recv(65_536):
                if said and self._dies is not None:
                    self._dies, rest = self._dies - len(piece), piece[: self._dies]
                    if self._dies <= 0:
                        go.sendall(rest)
                        self.die()
                        return
                go.sendall(piece)
        with contextlib.suppress(OSError):
            go.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def behind(running, monkeypatch):
    """A service, a proxy before it, and a session that knows the proxy alone."""
    service = running()
    at = served(f"{service.url}x")[0]
    proxy = Proxy(at.port)
    monkeypatch.setenv("DPNB_CA", str(service.folder / "ca.pem"))
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    session = Session(Service("https", "127.0.0.1", proxy.port, "").connect, service=at)
    yield service, proxy, session
    session.close()
    proxy.die()


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 200])
def test_a_proxy_that_dies_in_mid_answer_costs_nothing_more(behind, count):
    """Killed when nothing, a byte or half of what the service says was passed on: once it is back the same cell is the same charge."""
    _, proxy, session = behind
    people = session.open_served("people")
    question = people.age.mean()
    proxy.dies_after(count)
    with pytest.raises(CuratorGone):
        session.release([question], Ask.make(epsilon="0.5"))
    with pytest.raises(CuratorGone):
        session.release([question], Ask.make(epsilon="0.5"))
    proxy.begin()
    session.release([question], Ask.make(epsilon="0.5"))
    charges = [row for row in session.ledger(people) if row["kind"] == "charge"]
    assert [row["loss"]["amount"] for row in charges] == ["0.5"]
    assert 45 < float(question) < 55
    assert str(people.budget.spent.amount) == "1/2"


@pytest.mark.slow
def test_two_hundred_half_open_connections_keep_nobody_out(running, monkeypatch):
    """Two hundred that say nothing, and as many that never end their handshake or their headers: who is in stays in, who comes is let in."""
    service = running()
    at = served(f"{service.url}x")[0]
    ada = service.session(service.token("ada"), monkeypatch)
    people = ada.open_served("people")
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))
    with contextlib.ExitStack() as open_:
        for place in range(400):
            line = open_.enter_context(socket.create_connection((at.host, at.port), timeout=10))
            if place % 2:
                line.sendall(FIRST_OF_TLS)
        for _ in range(40):
            line = open_.enter_context(line_to(at, context))
            line.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthoriz")
        ada.release([people.count()], Ask.make(epsilon="0.25"))
        bob = service.session(service.token("bob"), monkeypatch)
        bob.release([bob.open_served("people").count()], Ask.make(epsilon="0.25"))
    assert people.budget.spent.amount == 0.25
