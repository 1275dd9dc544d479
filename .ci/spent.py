"""Run a command to its end, and note the processor time of everything that it started, also of what outlived its parent.

A curator outlives its kernel by a moment, and a kernel its server: the system counts what a process waited for, and nobody
waits for these. On Linux this process adopts them; elsewhere they are left out.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <sys/prctl.h>: orphans below this process become its children
LINGER = 10  # what still runs so many seconds after the command has ended is not waited for


def exit_status(status: int) -> int:
    """Return what a shell would say of a process that was waited for."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def ended(process: int) -> int:
    """Wait for a process, taking the end of every adopted one meanwhile: a test may look whether it has gone."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == process:
            return exit_status(status)


def take_the_last() -> None:
    """Wait a moment for adopted processes that are just ending."""
    end = time.monotonic() + LINGER
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)


def main(note: str, *command: str) -> int:
    """Run the command, write the seconds of processor into a file, and give the command's exit status."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command hears it too, and ends in its own way
    status = process.returncode = ended(process.pid)
    take_the_last()
    used = os.times()
    Path(note).write_text(str(used.children_user + used.children_system))
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
