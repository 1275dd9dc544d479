"""Python as it is on Windows, as far as that can be played here: what only Unix has is gone, and locks are mandatory.

It is on the path of a process that a test starts, and of the curator that this process starts.
"""

import fcntl
import os
import socket
import subprocess
import sys
from types import ModuleType, SimpleNamespace

LOCK, UNLOCK = 2, 0


def _locking(descriptor: int, mode: int, _length: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN if mode == UNLOCK else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        raise PermissionError(refused.errno, refused.strerror) from None


msvcrt = ModuleType("msvcrt")
msvcrt.LK_NBLCK, msvcrt.LK_UNLCK, msvcrt.locking = LOCK, UNLOCK, _locking
sys.modules["msvcrt"] = msvcrt
subprocess.CREATE_NEW_PROCESS_GROUP = subprocess.CREATE_NO_WINDOW = 0

_name, sys.platform = sys.platform, "win32"
os.getlogin = lambda: "ada"
_pair, _family = socket.socketpair, socket.AF_UNIX
socket.socketpair = lambda *_: _pair(_family)  # asyncio's own; Windows makes it of two ports
del socket.AF_UNIX
from dpnb.trusted import system  # noqa: E402

sys.platform = _name
system.sys = SimpleNamespace(platform="win32")
for gone in ("getuid", "geteuid", "getgid", "pread", "pwrite", "fork", "statvfs", "fdatasync"):
    delattr(os, gone)
for gone in ("pwd", "grp", "resource"):
    sys.modules[gone] = None
