"""Who does not read answers takes no memory for it."""

from __future__ import annotations

import contextlib
import socket
import ssl

import pytest

from dpnb.client.priced_batch import batch_of
from dpnb.planner.request import Ask
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Submit
from tests.serving.test_memory import MIB, resident

WIDE = """[dataset]
name = "people"
source = "people.csv"
adjacency = "add-remove"
[budget]
epsilon = 3
"""
COLUMNS, CONNECTIONS = "abc", 24


@pytest.fixture
def wide(running):
    """A service of a dataset whose counts for each group are ten megabytes."""
    service = running(begin=False, more="work = 60")
    columns = "".join(f'[columns.{name}]\ntype = "integer"\nlower = 0\nupper = 57\n' for name in COLUMNS)
    (service.folder / "people.dpnb.toml").write_text(WIDE + columns)
    (service.folder / "people.csv").write_text("a,b,c\n" + "1,2,3\n" * 50)
    return service.start()


@contextlib.contextmanager
def unread(service, session):
    """A connection on which little fits that is not read."""
    at, context = session.service, ssl.create_default_context(cafile=str(service.folder / "ca.pem"))
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(60)
        plain.connect((at.host, at.port))
        with context.wrap_socket(plain, server_hostname=at.host) as line:
            yield line


def posted(body, token):
    """A message as a kernel sends it."""
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.slow
def test_answers_that_nobody_reads_do_not_fill_memory(wide, monkeypatch):
    """Seen: 60 connections asked for an answer of 19 MB again, free, and read nothing: 2.2 GB, for good."""
    wide.ada = wide.token("ada")
    ada = wide.session(wide.ada, monkeypatch)
    people = ada.open_served("people")
    counts = [people[people.a > place].groupby(list(COLUMNS)).count() for place in range(10)]
    batch = batch_of(counts, Ask.make(epsilon="0.0001"))
    submit = encode(Submit(handle=people.handle, request="a" * 32, digest=batch.digest, plan=batch.body))
    assert len(ada.line._transport.send(submit)) > 10 * MIB
    quiet = resident(wide.process.pid)
    refused = 0
    with contextlib.ExitStack() as lines:
        for _ in range(CONNECTIONS):
            line = lines.enter_context(unread(wide, ada))
            line.sendall(posted(submit, wide.ada))
            refused += b"are not read yet" in line.recv(400)
        grown = resident(wide.process.pid) - quiet
        bob = wide.session(wide.token("bob"), monkeypatch)
        bob.release([bob.open_served("people").a.mean()], Ask.make(epsilon="0.1"))
    assert refused >= CONNECTIONS - 5
    assert grown < 150 * MIB
