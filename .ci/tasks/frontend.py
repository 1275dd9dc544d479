"""The front end, built in place where Node.js is there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess

from tasks import project
from tasks.environments import STAMP
from tasks.project import Failure, step


def find_npm() -> str | None:
    """Return npm where there is a Node.js that can build the front end."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    with contextlib.suppress(ValueError):
        major, minor = map(int, said.strip().lstrip("v").split(".")[:2])
        if (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22:
            return npm
    return None


def npm(*arguments: str) -> None:
    """Run npm in the front end's folder."""
    command = [str(find_npm()), *arguments]
    if subprocess.run(command, cwd=project.ROOT / "labextension", check=False).returncode:
        raise Failure("npm " + " ".join(arguments) + " failed in labextension/: see its message above.")


def front_end() -> bool:
    """Build the front end in place where Node.js is there; say so where it is not. CI needs it."""
    if find_npm() is None:
        missing = "No Node.js 20.19 or newer: the front end is not built, and its tests are left out."
        if os.environ.get("CI") == "true":
            raise Failure(missing)
        print("-- " + missing, flush=True)
        return False
    lock = project.ROOT / "labextension" / "package-lock.json"
    stamp, key = lock.parent / "node_modules" / STAMP, hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != key:
        with step("install: the front end's tools (a download of about 90 MB)"):
            npm("ci", "--no-audit", "--no-fund")
            stamp.write_text(key)
    with step("build: the front end"):
        npm("run", "-s", "build")
    return True
