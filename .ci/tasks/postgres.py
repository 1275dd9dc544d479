"""The PostgreSQL server of the tests: found, or installed from the distribution."""

from __future__ import annotations

import shutil
from pathlib import Path

from tasks.packages import APT_INSTALL, add_packages, may_add

PACKAGE = "postgresql"
PLACES = Path("/usr/lib/postgresql")


def find_server() -> bool:
    """Tell whether a server can be made on this machine; distributions keep its programs out of the path."""
    return shutil.which("initdb") is not None or any(PLACES.glob("*/bin/initdb"))


def ensure_server() -> None:
    """Install a server from the distribution where this user may; otherwise say what to type."""
    if find_server():
        return
    if may_add():
        add_packages(PACKAGE)
    if not find_server():
        hint = " ".join(("sudo", *APT_INSTALL, PACKAGE))
        print("-- No PostgreSQL server: its tests are left out. To have them: " + hint, flush=True)
