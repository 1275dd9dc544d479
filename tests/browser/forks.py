"""Kernels that are forked from a process that has imported what each of them needs: a new one is a fifth of the work.

Each is a process of its own, with the environment, the folder, the output and the end that Jupyter gives it. What Jupyter starts,
and sends signals to, is a small process that stands for it: this file as a program with ``stand-in``. The servers of other
environments (`test_installed`, `hub`) start their kernels as they come.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def receive(connection: socket.socket) -> tuple[dict, list[int]]:
    """Return what a stand-in asks for, and its standard input, output and error."""
    size = array.array("i", [0, 0, 0])
    data, besides, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(size.itemsize * 3))
    size.frombytes(besides[0][2])
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 20)
    return json.loads(data), list(size[3:])


def become_kernel(asked: dict, streams: list[int]) -> None:
    """Run a kernel in this process, to its end."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.setsid()
    os.environ.clear()
    os.environ.update(asked["environment"], JPY_PARENT_PID=str(os.getppid()))
    os.chdir(asked["folder"])
    sys.argv = ["ipykernel_launcher.py", *asked["arguments"]]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(argv=asked["arguments"])


class Nursery:
    """Forks a kernel whenever a stand-in asks, tells it how the kernel ended, and ends the kernel when the stand-in has gone."""

    def __init__(self, place: str) -> None:
        self.kernels: dict[int, socket.socket] = {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(place)
        self.listener.listen(16)
        self.woken, self.waker = socket.socketpair()
        for one in (self.woken, self.waker):
            one.setblocking(False)
        signal.set_wakeup_fd(self.waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.waiting = selectors.DefaultSelector()
        for one in (self.listener, self.woken, sys.stdin):
            self.waiting.register(one, selectors.EVENT_READ)

    def serve(self) -> None:
        """Fork kernels until standard input ends; then end them."""
        while True:
            for key, _ in self.waiting.select():
                if key.fileobj is sys.stdin:
                    for pid in self.kernels:
                        os.kill(pid, signal.SIGKILL)
                    return
                if key.fileobj is self.woken:
                    self.tell_ends()
                elif key.fileobj is self.listener:
                    self.fork()
                else:
                    self.end(key.fileobj)

    def fork(self) -> None:
        """Fork a kernel for the stand-in that asks."""
        connection, _ = self.listener.accept()
        asked, streams = receive(connection)
        pid = os.fork()
        if pid == 0:
            self.waiting.close()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (self.listener, self.woken, self.waker, connection, *self.kernels.values()):
                one.close()
            become_kernel(asked, streams)
            sys.exit()
        for stream in streams:
            os.close(stream)
        self.kernels[pid] = connection
        connection.sendall(b"%d\n" % pid)
        self.waiting.register(connection, selectors.EVENT_READ)

    def tell_ends(self) -> None:
        """Tell the stand-ins of kernels that have ended how they did."""
        with contextlib.suppress(BlockingIOError):
            self.woken.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                connection = self.kernels.pop(ended[0])
                with contextlib.suppress(KeyError):
                    self.waiting.unregister(connection)
                with contextlib.suppress(OSError):
                    connection.sendall(b"%d\n" % ended[1])
                connection.close()

    def end(self, connection: object) -> None:
        """End the kernel of a stand-in that was killed."""
        self.waiting.unregister(connection)
        for pid, one in self.kernels.items():
            if one is connection:
                os.kill(pid, signal.SIGKILL)


def serve(place: str) -> None:
    """Import what a kernel needs, and fork kernels."""
    for name in ("ipykernel.kernelapp", "ipykernel.zmqshell", "dpnb.notebook.install", "dpnb.widgets"):
        importlib.import_module(name)
    import dpnb

    assert dpnb.open  # a name that is loaded when asked for
    gc.freeze()
    Nursery(place).serve()


def stand_in(place: str, arguments: list[str]) -> int:
    """Ask for a kernel, pass signals on to it, and end as it ends."""
    asked = {"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        streams = array.array("i", [0, 1, 2])
        text = json.dumps(asked).encode() + b"\n"
        sent = connection.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        connection.sendall(text[sent:])
        answers = connection.makefile()
        pid = int(answers.readline())
        for number in SIGNALS:
            signal.signal(number, lambda given, _frame: os.kill(pid, given))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return os.waitstatus_to_exitcode(int(answers.readline() or 9))


if __name__ == "__main__":
    if sys.argv[1] == "stand-in":
        sys.exit(stand_in(sys.argv[2], sys.argv[3:]))
    del sys.path[0]  # this folder, which no kernel has there
    serve(sys.argv[2])
