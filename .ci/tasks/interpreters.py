"""The Pythons of this machine: which are installed, which answer, and which is the first."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from typing import Iterator, NamedTuple

from tasks.project import Failure

VERSIONS = ("3.11", "3.12", "3.13")
PROBE = "import sys, ssl, sqlite3, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


class Python(NamedTuple):
    """An interpreter that answered."""

    version: str
    path: str


def candidates(version: str) -> Iterator[str]:
    """Yield every place where this Python version may be, the running one first."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "python" + version)
        if os.access(path, os.X_OK):
            yield path
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for path in sorted(
        glob.glob(os.path.join(pyenv, "versions", version + ".*", "bin", "python")), reverse=True
    ):
        yield path


def answers(path: str, version: str) -> bool:
    """Tell whether this really is that Python and can make environments (a version manager's shim may not be)."""
    try:
        found = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and found.stdout.strip() == version


def interpreters() -> list[Python]:
    """Return one working interpreter for each supported version that is installed, the lowest first."""
    found = []
    for version in VERSIONS:
        path = next((path for path in candidates(version) if answers(path, version)), None)
        if path is not None:
            found.append(Python(version, path))
    return found


def first_interpreter() -> Python:
    """Return the interpreter for ``.venv``: the lowest, so that everything is tried under what is promised at least."""
    found = interpreters()
    if not found:
        raise Failure(
            "dpnb needs Python 3.11, 3.12 or 3.13 with venv. Found none that works. On Debian or Ubuntu: "
            "apt-get install python3 python3-venv; or say which one to use: make PYTHON=/path/to/python3.12 ..."
        )
    return found[0]
