"""The line to the curator: what is told when one ends, cannot be started or comes back, and what a fork may not disturb."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from dpnb.client.connection import Line
from dpnb.client.transport import InMemory, UnixTransport
from dpnb.errors import CuratorGone, OwnerError
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import PROTOCOL, Hello, Welcome

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def ended(body):
    raise CuratorGone("It ended.")


def welcomed(body):
    return encode(Welcome(protocol=PROTOCOL, pid=1))


class Curators:
    """Hands out one transport after another; where an error stands instead, a curator cannot be started."""

    def __init__(self, *made):
        self.made = list(made)
        self.told = []
        self.line = Line(self.next, list, lambda: self.told.append(self.line.gone))

    def next(self):
        one = self.made.pop(0)
        if isinstance(one, Exception):
            raise one
        return InMemory(one)


def test_a_curator_that_ended_and_cannot_be_started_is_said_to_be_gone():
    """A failed start hides nothing: the last reading stays on screen, as that of a curator that has ended."""
    curators = Curators(ended, OwnerError("The disk is full."), welcomed)
    with pytest.raises(OwnerError):
        curators.line.ask(Hello(), Welcome)
    assert curators.line.gone
    with curators.line.looking(), pytest.raises(CuratorGone, match="%dp budget"):
        curators.line.ask(Hello(), Welcome)
    assert curators.line.gone
    assert curators.line.ask(Hello(), Welcome).pid == 1
    assert not curators.line.gone


def test_a_curator_that_comes_back_is_told_of():
    """Whoever started it, and not only a cell: otherwise its end would stay on screen."""
    curators = Curators(ended, welcomed)
    curators.line.watch()
    curators.line.ask(Hello(), Welcome)
    assert curators.told[-1] is False


def test_a_first_curator_is_no_news():
    """Nothing had ended, and whoever asked is told by the answer."""
    curators = Curators(welcomed)
    curators.line.watch()
    curators.line.ask(Hello(), Welcome)
    assert not curators.told


def in_child(work):
    """Run `work` in a forked process that ends after 20 s at the latest; return its exit status."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_while_another_thread_asks_leaves_the_child_a_free_line():
    """The thread that held the lock is not there in the child, and would never release it."""
    line, held, over = Curators(welcomed).line, threading.Event(), threading.Event()

    def asks():
        with line.lock:
            held.set()
            over.wait()

    thread = threading.Thread(target=asks)
    thread.start()
    held.wait()
    try:
        assert in_child(lambda: line.ask(Hello(), Welcome)) == 0
    finally:
        over.set()
        thread.join()


def test_a_forked_child_that_closes_leaves_its_parent_the_life_line(tmp_path):
    """The child's copy of the socket is let go of, not shut: the curator would end under its parent."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    server.listen()
    transport, ends = UnixTransport(str(tmp_path / "s")), []

    def accept():
        ends.append(server.accept()[0])
        ends[0].recv(4096)
        ends[0].sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    accepting = threading.Thread(target=accept)
    accepting.start()
    transport.hold()
    accepting.join()
    assert in_child(transport.close) == 0
    ends[0].sendall(b".")
    assert transport.wait()
    transport.close()
    ends[0].settimeout(20)
    assert ends[0].recv(1) == b""
    ends[0].close()
    server.close()


def test_a_script_that_opens_a_dataset_and_ends_leaves_no_socket_open(dpnb_home):
    """Seen: two ResourceWarning, "unclosed socket", at the end of a plain script."""
    script = "import dpnb; dpnb.release([dpnb.open('hiv', quiet=True).age.mean()], epsilon=1); print('done')"
    done = subprocess.run(
        [sys.executable, "-W", "default::ResourceWarning", "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
