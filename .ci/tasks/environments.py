"""Environments: made once, stamped with what was installed into them, and only then removed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from tasks import project
from tasks.interpreters import VERSIONS, Python
from tasks.project import Failure, step

STAMP = "dpnb-stamp.json"
BESIDE = ".anywidget"
# an extra installed earlier also serves the ones listed after it
SERVES = {"test": ("core-test", "demo", "lab,studies"), "core-test": ("demo",)}
SIZES = {
    "demo": "a download of about 120 MB, one to three minutes",
    "lab,studies": "a download of about 170 MB, one to three minutes",
    "class": "a download of about 200 MB, one to three minutes",
    "docs": "a download of about 180 MB, one to three minutes",
    "core-test": "a download of about 300 MB, one to four minutes",
    "test": "a download of about 880 MB, two to ten minutes",
}


def environment_key() -> str:
    """Digest of what decides the installed packages."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((project.ROOT / name).read_bytes())
    return digest.hexdigest()


def read_stamp(folder: Path) -> dict[str, object]:
    """Return what an earlier run noted in the environment; empty if it noted nothing."""
    with contextlib.suppress(OSError, ValueError):
        return dict(json.loads((folder / STAMP).read_text()))
    return {}


def interpreter_of(folder: Path) -> str:
    """Return the path of the environment's Python."""
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def version_of(folder: Path) -> str | None:
    """Return the version of the environment's Python if it starts, is a supported one and has pip."""
    program = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [interpreter_of(folder), "-c", program], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    said = done.stdout.strip()
    return said if done.returncode == 0 and said in VERSIONS else None


def make_environment(folder: Path, python: Python) -> None:
    """Create the environment, or keep the one that is there: one that we made only if it has this Python."""
    found, ours = version_of(folder), bool(read_stamp(folder))
    if found == python.version or (found and not ours):
        return
    if folder.exists() and not ours:
        raise Failure(
            "{0} was not made by this Makefile and has no working Python 3.11-3.13 with pip: "
            "move it away (mv {0} {0}.old) and run this again.".format(folder.name)
        )
    with step("environment: {} with Python {}".format(folder.name, python.version)):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python.path, "-m", "venv", str(folder)], check=True)


def install(folder: Path, extra: str) -> None:
    """Install dpnb and an extra, unless the stamp says that this was done for these very files."""
    stamp, key = read_stamp(folder), environment_key()
    done = list(stamp.get("extras", ())) if stamp.get("key") == key else []
    if extra in done or any(extra in SERVES.get(other, ()) for other in done):
        return
    with step("install: dpnb[{}] into {} ({})".format(extra, folder.name, SIZES[extra])):
        command = [interpreter_of(folder), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        command += ["--retries", "2", "--constraint", "constraints.txt", "--editable", ".[{}]".format(extra)]
        # the front end is built by its own step, in place, so that `make demo` needs no Node.js
        environment = {**os.environ, "DPNB_FRONTEND": "none"}
        if subprocess.run(command, cwd=project.ROOT, env=environment, check=False).returncode:
            raise Failure(
                "pip could not install dpnb[{}]: see its message above. If the network was lost, run the same "
                "command again: what was downloaded is kept.".format(extra)
            )
        (folder / STAMP).write_text(json.dumps({"key": key, "extras": sorted({*done, extra})}))


def install_beside(python: str) -> None:
    """Put anywidget into a folder of its own, for the tests of that extra: no environment of ours serves its extension."""
    folder = project.ROOT / BESIDE
    if folder.is_dir():
        return
    with step("install: anywidget into " + BESIDE):
        command = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        command += ["--constraint", "constraints.txt", "--target", str(folder), "anywidget", "psygnal"]
        if subprocess.run(command, cwd=project.ROOT, check=False).returncode:
            raise Failure("pip could not install anywidget: see its message above.")


def ready(name: str, python: Python, extra: str) -> str:
    """Return the Python of an environment that holds dpnb and this extra."""
    folder = project.ROOT / name
    make_environment(folder, python)
    install(folder, extra)
    return interpreter_of(folder)
