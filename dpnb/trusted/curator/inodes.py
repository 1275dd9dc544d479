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
        self._known = {os.fspath(path): _found(os.fspath(path)) for path in paths}

    def moved(self) -> str | None:
        """Return the name of the first that is no longer at its path, or None."""
        for path, known in self._known.items():
            if _found(path) != known:
                return Path(path).name
        return None

    def replaced(self) -> bool:
        """Say whether another file lies at one of the paths."""
        return any(_found(path) not in {known, None} for path, known in self._known.items())


def _found(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - fifteen of these are made for each release
    except OSError:
        return None
    return found.st_dev, found.st_ino
