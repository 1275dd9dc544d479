"""The reader of a curator's HTTP: replies of a stated length and in chunks are read whole, whatever else comes ends the connection."""

import socket
import threading

import pytest

from dpnb.client.http_connection import HttpConnection
from dpnb.client.transport import ServiceTransport, UnixTransport
from dpnb.errors import OptionError
from dpnb.trusted.errors import CuratorGone

OK = b"HTTP/1.1 200 OK\r\n"


def answered(*pieces):
    """What a connection makes of bytes that arrive so cut, and then end."""
    ours, theirs = socket.socketpair()
    connection = HttpConnection(ours, "curator")

    def send():
        for piece in pieces:
            theirs.sendall(piece)
        theirs.close()

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return connection.reply(), connection.last
    finally:
        sender.join()
        connection.close()


@pytest.mark.parametrize(
    "reply",
    [
        OK + b"Content-Length: 5\r\n\r\nhello",
        OK + b"content-length:5\r\nX-Other: a: b\r\n\r\nhello and what comes after",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-After: 1\r\n\r\n",
        b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    ],
)
def test_a_whole_reply_is_read_however_it_is_cut(reply):
    """At once, byte by byte, and in chunks as a proxy sends it."""
    assert answered(reply) == ((200, b"hello"), False)
    assert answered(*(reply[at : at + 1] for at in range(len(reply)))) == ((200, b"hello"), False)


def test_a_reply_says_that_it_is_the_last():
    """As a proxy does before it closes; so is every reply of HTTP/1.0."""
    assert answered(OK + b"Connection: Close\r\nContent-Length: 0\r\n\r\n") == ((200, b""), True)
    assert answered(b"HTTP/1.0 403 No\r\nContent-Length: 2\r\n\r\nno") == ((403, b"no"), True)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\r\n",
        b"hello\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"\r\nhello",
        OK + b"Content-Length: 6\r\n\r\nhello",
        OK + b"Content-Length: -5\r\n\r\nhello",
        OK + b"Content-Length: 1_0\r\n\r\nhellohello",
        OK + b"Content-Length: 5",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        OK + b"X: 1\r\n" * 101 + b"Content-Length: 0\r\n\r\n",
        OK + b"X: " + b"1" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_anything_else_is_no_reply(reply):
    """Cut off, without a length, or with one that is no number: an error of the connection."""
    with pytest.raises(OSError, match="reply was incomplete"):
        answered(reply)


def test_a_request_leaves_in_one_piece():
    """Head and body wake the other end once."""
    ours, theirs = socket.socketpair()
    HttpConnection(ours, "curator").request("/v1/messages", {"X-Token": "a"}, b"{}")
    head, _, body = theirs.recv(4096).partition(b"\r\n\r\n")
    assert body == b"{}"
    assert head.split(b"\r\n") == [
        b"POST /v1/messages HTTP/1.1",
        b"Host: curator",
        b"Accept-Encoding: identity",
        b"Content-Length: 2",
        b"X-Token: a",
    ]
    ours.close()
    theirs.close()


def test_a_reply_that_is_the_last_is_given_and_the_next_request_opens_another_connection(tmp_path):
    """No request is lost where whoever listens closes after each reply."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "s"))
    listener.listen()

    def serve():
        for _ in range(2):
            peer, _ = listener.accept()
            peer.recv(4096)
            peer.sendall(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok")
            peer.close()
        peer, _ = listener.accept()
        peer.recv(4096)
        peer.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
        peer.close()

    server = threading.Thread(target=serve)
    server.start()
    transport = UnixTransport(str(tmp_path / "s"))
    assert [transport.send(b"{}"), transport.send(b"{}")] == [b"ok", b"ok"]
    with pytest.raises(CuratorGone):
        transport.send(b"{}")
    server.join()
    transport.close()
    listener.close()


@pytest.mark.parametrize("token", ["a\nX-Other: b", "a\r", "tökén"])
def test_a_token_is_one_line_of_a_request(token):
    """What would be another header, or has no letters there, is refused before anything is sent."""
    with pytest.raises(OptionError, match="token"):
        ServiceTransport("https", "host.example", None, "", token)
