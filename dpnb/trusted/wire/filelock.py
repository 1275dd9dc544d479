"""A lock held by a process through an open file: the operating system frees it when the process ends, however it ends."""

from __future__ import annotations

import os
import time
from pathlib import Path

from dpnb.trusted import system


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
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | system.BINARY, 0o600)
        while not system.lock(self._descriptor, wait=False):
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
