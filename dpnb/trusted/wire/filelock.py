"""A lock held by a process through an open file: the operating system frees it when the process ends, however it ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


class FileLock:
    """An exclusive lock on a file.

    Parameters
    ----------
    path : Path
        The file to lock; created with mode 0600.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, timeout: float = 0.0) -> bool:
        """Take the lock, waiting at most ``timeout`` seconds; say whether it was taken."""
        end = time.monotonic() + timeout
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        while not _try_lock(self._descriptor):
            if time.monotonic() >= end:
                self.free()
                return False
            time.sleep(0.01)
        return True

    def free(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


if sys.platform == "win32":  # pragma: no cover - not tested here

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
