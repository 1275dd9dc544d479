"""Whether files are still the ones at their paths. An open file outlives its name: what is written to it then is forgotten."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


class Inodes:
    """The files and folders at some paths, as they are now.

    Parameters
    ----------
    paths : iterable of Path
        Each must exist.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = {os.fspath(path): _identity(os.fspath(path)) for path in paths}

    def moved(self) -> str | None:
        """Return the name of the first that is no longer at its path, or None."""
        return next((Path(path).name for path, known in self._known.items() if _found(path) != known), None)

    def replaced(self) -> bool:
        """Say whether another file lies at one of the paths."""
        return any(_found(path) not in {known, None} for path, known in self._known.items())


def _found(path: str) -> tuple[int, int] | None:
    try:
        return _identity(path)
    except OSError:
        return None


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - six of these are made for each charge
    return found.st_dev, found.st_ino
