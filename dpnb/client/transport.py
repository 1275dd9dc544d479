"""How a message gets to a curator: one method, ``send(body) -> body``.

:class:`UnixTransport` speaks HTTP over a 0600 socket, :class:`TcpTransport` over loopback with a token, and
:class:`InMemory` hands the same bytes to a function, so that a whole client is tested without a socket.
A transport never retries by itself: whether a request may be sent again is the session's decision.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, cast

import msgspec

from dpnb.client.http_connection import HttpConnection
from dpnb.errors import OptionError
from dpnb.trusted import system
from dpnb.trusted.errors import CuratorGone, PlanError
from dpnb.trusted.wire.codec import MAX_REPLY, decoded
from dpnb.trusted.wire.messages import Reply
from dpnb.trusted.wire.transport import HOLD, MESSAGES, TOKEN

_REPLIES: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Reply)
_OTHER_NAMES, _OUT_OF_DATE = {62, 64}, {9, 10}
_LATER = {502, 503, 504}
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_GONE = "The curator process has ended or cannot be reached. Run the line again: it starts again, with the budget intact."


class _OtherServer(ConnectionError):
    """What answers is no curator."""


class _NotNow(ConnectionError):
    """A service, or the proxy before it, says that it cannot answer now."""


class Transport(Protocol):
    """Carries bodies to a curator and back."""

    def send(self, body: bytes) -> bytes:
        """Send one request body and return the reply body; raise :class:`CuratorGone` when nobody answers."""

    def hold(self) -> None:
        """Open the life-line: the curator stays as long as one of them is open."""

    def wait(self) -> bool:
        """Wait on the life-line: ``True`` when the ledger has grown, ``False`` when the line has ended, from either side."""

    def close(self) -> None:
        """Close every connection, the life-line included."""


class InMemory:
    """A transport that calls a function in this process.

    Parameters
    ----------
    answer : callable
        Takes a request body, returns a reply body.
    """

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._closed = threading.Event()

    def send(self, body: bytes) -> bytes:
        """Hand the body over."""
        return self._answer(body)

    def hold(self) -> None:
        """Nothing to hold."""

    def wait(self) -> bool:
        """Wait until it is closed: no ledger grows by itself here."""
        self._closed.wait()
        return False

    def close(self) -> None:
        """End whoever waits."""
        self._closed.set()


class _Http:
    """HTTP to one address, on one connection that is kept open between requests."""

    gone: ClassVar[str] = _GONE
    told: ClassVar[frozenset[int]] = frozenset({200})
    """The states of replies whose body says what happened."""

    def __init__(self, headers: dict[str, str], prefix: str = "") -> None:
        self._headers = {"Content-Type": "application/json", **headers}
        self._prefix = prefix
        self._connection: HttpConnection | None = None
        self._line: HttpConnection | None = None
        self._process = os.getpid()

    def _connect(self, timeout: float | None = None) -> HttpConnection:
        raise NotImplementedError

    def _reason(self, error: OSError) -> str:  # noqa: ARG002 - a service's, whose address may be wrong
        """Say why nobody answers, and what to do."""
        return self.gone

    def send(self, body: bytes) -> bytes:
        """Send one request; an interrupted or failed connection is never used again."""
        self._leave_parent()
        try:
            return self._send(body)
        except OSError as error:
            self._drop()
            raise CuratorGone(self._reason(error)) from error
        except BaseException:
            self._drop()
            raise

    def hold(self) -> None:
        """Open the life-line (again, after a fork or a restart)."""
        self._leave_parent()
        try:
            line = self._connect(timeout=10.0)
        except OSError as error:
            raise CuratorGone(self._reason(error)) from error
        try:
            line.request(self._prefix + HOLD, self._headers, b"")
            # The curator answers with headers at once and leaves the body open for as long as we live.
            self._expect_head(line)
        except OSError as error:
            line.close()
            raise CuratorGone(self.gone) from error
        self._line = line

    def wait(self) -> bool:
        """Wait on the life-line, on a thread of its own; whatever comes means the same."""
        line = self._line
        try:
            return line is not None and bool(line.sock.recv(4096))
        except OSError:
            return False

    def close(self) -> None:
        """Close every connection of this process; a forked child lets its parent's be."""
        self._leave_parent()
        self._drop()
        if self._line is not None:
            self._line.close()
            self._line = None

    def _send(self, body: bytes) -> bytes:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request(self._prefix + MESSAGES, self._headers, body)
        status, content = self._connection.reply()
        if status not in self.told:
            raise (_NotNow if status in _LATER else _OtherServer)(f"status {status}")
        if self._connection.last:
            self._drop()
        return content

    @staticmethod
    def _expect_head(line: HttpConnection) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = line.sock.recv(4096)
            if not piece:
                raise ConnectionError("the life-line was refused")
            head += piece
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError("the life-line was refused")
        line.sock.settimeout(None)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _leave_parent(self) -> None:
        """After a fork, forget the parent's connections without closing them for the parent."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._connection = None
            self._line = None


class UnixTransport(_Http):
    """HTTP over a Unix socket.

    Parameters
    ----------
    path : str
        The socket.
    """

    def __init__(self, path: str) -> None:
        super().__init__({})
        self._path = path

    def _connect(self, timeout: float | None = None) -> HttpConnection:
        sock = system.unix_socket()
        sock.settimeout(timeout)
        try:
            sock.connect(self._path)
            _expect_own(sock)
        except OSError:
            sock.close()
            raise
        return HttpConnection(sock, "curator")


class TcpTransport(_Http):
    """HTTP over loopback, for platforms without Unix sockets; a token stands in for the socket's file mode.

    Parameters
    ----------
    port : int
    token : str
    """

    def __init__(self, port: int, token: str) -> None:
        super().__init__({TOKEN: token})
        self._port = port

    def _connect(self, timeout: float | None = None) -> HttpConnection:
        return HttpConnection(_reached("127.0.0.1", self._port, timeout), "127.0.0.1")


class ServiceTransport(_Http):
    """HTTPS to a service, with the token of whoever asks; plain HTTP on this machine alone.

    Parameters
    ----------
    scheme : {"https", "http"}
    host : str
    port : int or None
    prefix : str
        The path at which the service lies.
    token : str
    authority : str, optional
        A file with the certificate that vouches for the service, where the system knows none.

    Raises
    ------
    OptionError
        For HTTP to another machine: a token never travels in the clear.
    """

    gone: ClassVar[str] = (
        "The service cannot be reached. Run the line again: what was charged already is answered from the store, free."
    )
    told: ClassVar[frozenset[int]] = frozenset({200, 401, 403})

    def __init__(
        self, scheme: str, host: str, port: int | None, prefix: str, token: str, authority: str | None = None
    ) -> None:
        if scheme != "https" and host not in _LOOPBACK:
            raise OptionError(f"A token is never sent unencrypted: open https://{host}/…")
        if not (token.isascii() and token.isprintable()):
            raise OptionError("A token is printable ASCII text, without line ends.")
        super().__init__({"Authorization": f"Bearer {token}"} if token else {}, prefix)
        self._scheme, self._host, self._authority = scheme, host, authority
        self._port = port or (443 if scheme == "https" else 80)
        name = host if host.isascii() else host.encode("idna").decode()
        self._called = (f"[{name}]" if ":" in name else name) + ("" if port is None else f":{port}")

    def _connect(self, timeout: float | None = None) -> HttpConnection:
        context = self._context() if self._scheme == "https" else None
        sock = _reached(self._host, self._port, timeout)
        if context is not None:
            try:
                sock = context.wrap_socket(sock, server_hostname=self._host)
            except OSError:
                sock.close()
                raise
        return HttpConnection(sock, self._called)

    def _context(self) -> ssl.SSLContext:
        """Return what the service's certificate is checked with: the file of DPNB_CA, or else the system's authorities."""
        try:
            return ssl.create_default_context(cafile=self._authority)
        except OSError as error:
            said = (
                "does not exist"
                if isinstance(error, FileNotFoundError)
                else "holds no certificate that can be read"
            )
            raise OptionError(
                f"The file that DPNB_CA names {said}. Set it to the file that the service's owner gave you."
            ) from None

    def _reason(self, error: OSError) -> str:
        """Say which part of the address, or which certificate, is wrong."""
        if isinstance(error, ssl.SSLCertVerificationError):
            return self._distrust(error.verify_code)
        if isinstance(error, ssl.SSLError):
            return f"Port {self._port} of {self._host} does not speak https. Check the port: https://host:port/dataset."
        if isinstance(error, ConnectionRefusedError):
            return f"Nothing listens on port {self._port} of {self._host}. Check the address, or try again when the service runs: what was charged is answered from the store, free."
        if isinstance(error, socket.gaierror):
            return f"No machine is called {self._host}. Check the address."
        if isinstance(error, _NotNow):
            return (
                "The service cannot answer now: its owner can see why in its log. Run this again later: what was charged already"
                " is answered from the store, free."
            )
        if isinstance(error, _OtherServer):
            return f"What answers on port {self._port} of {self._host} is no dpnb service. Check the address, and its path."
        if self._scheme == "http" and isinstance(error, ConnectionError):
            return f"{self.gone} If the service has a certificate, open https://{self._called}/…"
        return self.gone

    def _distrust(self, code: int) -> str:
        """Say why a certificate is not trusted; codes are those of OpenSSL's ``X509_V_ERR``."""
        if code in _OTHER_NAMES:
            return f"The certificate of the service is not for {self._host}. Open the address that its owner gave you."
        if code in _OUT_OF_DATE:
            return "The certificate of the service has expired or is not valid yet. Tell its owner, and check this machine's clock."
        if self._authority is None:
            return (
                "No authority that this machine knows vouches for the service's certificate. Ask its owner for the authority's"
                " file, and set DPNB_CA to its path before Jupyter starts."
            )
        return "The file that DPNB_CA names does not vouch for the service's certificate. Ask the service's owner for the right one."


def _reached(host: str, port: int, timeout: float | None) -> socket.socket:
    """Return a socket to a port of a machine, on which nothing waits for more to be sent."""
    sock = socket.create_connection((host, port), timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _expect_own(peer: socket.socket) -> None:
    """Refuse a socket that somebody else listens on, whatever put it there."""
    if system.peer_user(peer) != system.user_id():
        raise PermissionError("another program listens on the curator's socket")


def decode_reply(body: bytes) -> Reply:
    """Read a reply, or refuse it with :class:`PlanError`."""
    if len(body) > MAX_REPLY:
        raise PlanError(f"A reply of {len(body):,} bytes is longer than {MAX_REPLY:,}: ask for fewer groups.")
    return cast("Reply", decoded(_REPLIES, body))
